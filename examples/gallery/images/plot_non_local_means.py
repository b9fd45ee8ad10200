# examples/gallery/images/plot_non_local_means.py - a denoised photograph.
r"""Non-local means: noise averaged away where a picture repeats itself
===================================================================

Each pixel becomes the mean of the pixels around it, weighted by how much the
patches :math:`p` around the two look alike (Buades, Coll and Morel 2005):

.. math::

   u_i = \frac{\sum_j w_{ij} v_j}{\sum_j w_{ij}}, \qquad
   w_{ij} = e^{-|p_i - p_j|^2/h^2} \quad \text{where } |s_i - s_j| \le 10

Patches are vectors of 49 numbers, one for each of 262,144 pixels. All pairs
would be 69 billion, and their matrix 256 GiB. Pixels are sorted into square
tiles, and only tiles that come near each other meet.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from skimage import data

import tilefold

# %%
# The cameraman, with noise of a known size added.

clean = data.camera().astype(np.float32) / 255
noise = 0.1
random = np.random.default_rng(0)
noisy = clean + noise * random.standard_normal(clean.shape, np.float32)

# %%
# A patch is what a window of 7 × 7 shows; its places are those of its centre.

patches = sliding_window_view(np.pad(noisy, 3, "reflect"), (7, 7))
p = patches.reshape(-1, 49)
s = np.indices(clean.shape, np.float32).reshape(2, -1).T

# %%
# :class:`tilefold.Clusters` sorts the places into cells of 16 × 16 pixels, and
# ``near`` says which of them hold pixels at most 10 apart.

cells = tilefold.Clusters(s, size=16)
near = cells.near(cells, distance=10)
filtered = tilefold.reduce(
    """(sum_j w v_j)/(sum_j w) with
    w = where(|s_i - s_j| <= 10, exp(-|p_i - p_j|²/h²), 0)""",
    p=cells.sort(p),
    s=cells.points,
    v=cells.sort(noisy.ravel()),
    h=0.9 * noise * 7,
    ranges=near,
)
filtered = cells.unsort(filtered).reshape(clean.shape)
print(f"{near.pairs / 1e6:,.0f} million of {clean.size**2 / 1e6:,.0f} million")

# %%
# One pixel by hand, and the error before and after.

row, column = 200, 300
window = np.hypot(*(s - [row, column]).T) <= 10
apart = ((p[window] - patches[row, column].ravel()) ** 2).sum(1)
w = np.exp(-apart / (0.9 * noise * 7) ** 2)
by_hand = w @ noisy.ravel()[window] / w.sum()
np.testing.assert_allclose(filtered[row, column], by_hand, rtol=1e-4)


def error(picture):
    return np.sqrt(np.mean((picture - clean) ** 2))


assert error(filtered) < 0.45 * error(noisy)

# %%
# Edges stay, since a patch across an edge looks like those along it alone.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
part = np.s_[60:260, 160:360]
for axis, (name, picture) in zip(
    axes,
    {"noisy": noisy, "non-local means": filtered, "the truth": clean}.items(),
    strict=True,
):
    axis.imshow(picture[part], cmap="gray", vmin=0, vmax=1)
    axis.set_title(f"{name}, error {error(picture):.3f}", fontsize=10)
    axis.axis("off")
plt.show()
