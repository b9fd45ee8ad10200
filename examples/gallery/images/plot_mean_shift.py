# examples/gallery/images/plot_mean_shift.py - a picture in few colours.
r"""A picture in few colours: hills of a density
============================================

Each pixel climbs the density of all pixels in colour and place, until it is on
top of a hill (Comaniciu and Meer 2002):

.. math::

   x_i \leftarrow \frac{\sum_j w_{ij} y_j}{\sum_j w_{ij}}, \qquad
   w_{ij} = \mathrm{e}^{-|x_i - y_j|^2/2}

Nobody says how many hills there are. A step is a softmax; of 15,000 pixels the
weights would be 900 MB in single precision, at each of 25 steps.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from skimage import color, data, transform

import tilefold

# %%
# A cat, of 100 × 150 pixels, in a space of colours in which distances are what
# people see; a bandwidth is 4 of those, or 8 pixels.

image = transform.resize(data.chelsea(), (100, 150), anti_aliasing=True)
places = np.indices(image.shape[:2]).transpose(1, 2, 0) / 8
y = np.concatenate([color.rgb2lab(image) / 4, places], -1).reshape(-1, 5)
y = y.astype(np.float32)

# %%
# One of the steps by NumPy, for one pixel.

step = tilefold.compile("softmax_j(-|x_i - y_j|²/2, y_j)")
w = np.exp(-((y[7] - y) ** 2).sum(1) / 2)
np.testing.assert_allclose(step(x=y, y=y)[7], w @ y / w.sum(), rtol=1e-4)

x = y
for _ in range(25):
    x = step(x=x, y=y)

# %%
# Tops that are near each other are of one hill: who is near whom is a sparse
# graph, and its components are the regions.

tops, top = np.unique(np.round(x, 1), axis=0, return_inverse=True)
near = tilefold.radius_neighbors(tops, tops, 0.5)
ones = np.ones(len(near.indices), bool)
graph = csr_array((ones, near.indices, near.indptr))
count, of_top = connected_components(graph, directed=False)
region = of_top[top.ravel()]
large = np.bincount(region) >= 20
print(f"{count} hills, {large.sum()} of at least 20 pixels")
assert 10 < large.sum() < 300

flat = image.reshape(-1, 3)
mean = np.stack([np.bincount(region, c) for c in flat.T], 1)
painted = (mean / np.bincount(region)[:, None])[region]
error = np.sqrt(np.mean((painted - flat) ** 2))
print(f"{count} colours are off by {error:.3f}, one by {flat.std():.3f}")
assert error < flat.std() / 2

figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.5), layout="constrained")
axes[0].imshow(image)
axes[0].set_title("15,000 pixels")
axes[1].imshow(painted.reshape(image.shape))
axes[1].set_title(f"{count} hills, in their mean colours")
for axis in axes:
    axis.axis("off")
plt.show()
