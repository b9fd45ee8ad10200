# examples/gallery/images/plot_vessels.py - the vessels of a retina.
r"""Vessels of a retina: local statistics by a reduction of one's own
=================================================================

A pixel belongs to a vessel if it is much darker than its surroundings, as
measured by how much these vary: its score is :math:`(v_i - m_i)/s_i` with the
weighted mean and deviation around it,

.. math::

   m_i = \frac{\sum_j w_{ij} v_j}{\sum_j w_{ij}}, \qquad
   s_i^2 = \frac{\sum_j w_{ij} (v_j - m_i)^2}{\sum_j w_{ij}}, \qquad
   w_{ij} = e^{-|x_i - x_j|^2/2r^2}

:math:`s_i` needs :math:`m_i` first, or a difference of large numbers. A fold
adds one pixel after the other to a state of three numbers (Welford 1962), and
joins states (Chan 1982): one pass, and exact. All pairs of these 124,609 pixels
would take 62 GB in single precision; only near tiles of them meet.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import tilefold

# %%
# The green channel of the middle, where vessels are darkest; every third pixel.

green = data.retina()[175:1234:3, 175:1234:3, 1].astype(np.float32)
x = np.indices(green.shape, np.float32).reshape(2, -1).T
r = 8.0

# %%
# A state is the weight, the mean, and the weighted squares around it.

statistics = tilefold.compile(
    """fold_j([exp(-|x_i - x_j|²/2r²), v_j], [0, 0, 0], add, join, end) with
    add(s, f) = [s[0] + f[0],
                 s[1] + (f[1] - s[1])*f[0]*pinv(s[0] + f[0]),
                 s[2] + (f[1] - s[1])²*f[0]*s[0]*pinv(s[0] + f[0])],
    join(s, t) = [s[0] + t[0],
                  (s[0]*s[1] + t[0]*t[1])*pinv(s[0] + t[0]),
                  s[2] + t[2] + (s[1] - t[1])²*s[0]*t[0]*pinv(s[0] + t[0])],
    end(s) = [s[1], sqrt(s[2]/s[0])]"""
)

# %%
# Weights beyond 3 r are left out, tile by tile.

tiles = tilefold.Clusters(x, size=16)
near = tiles.near(tiles, distance=3 * r)
found = statistics(
    x=tiles.points, v=tiles.sort(green.ravel()), r=r, ranges=near
)
mean, spread = tiles.unsort(found).T.reshape(2, *green.shape)
score = (green - mean) / spread
print(f"{near.pairs / 1e6:,.0f} of {green.size**2 / 1e6:,.0f} million pairs")

# %%
# One pixel of the middle in double precision, without leaving out any.

w = np.exp(-((x - x[60_000].astype(float)) ** 2).sum(1) / (2 * r**2))
m = w @ green.ravel() / w.sum()
s = np.sqrt(w @ (green.ravel() - m) ** 2 / w.sum())
np.testing.assert_allclose(
    [mean.ravel()[60_000], spread.ravel()[60_000]], [m, s], rtol=0.01
)

figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
axes[0].imshow(green, cmap="gray")
axes[0].set_title("a retina")
image = axes[1].imshow(score, cmap="cividis", vmin=-2.5, vmax=1.5)
axes[1].set_title("deviations from the mean around")
figure.colorbar(image, ax=axes[1], shrink=0.8)
for axis in axes:
    axis.set(xticks=[], yticks=[])
plt.show()
