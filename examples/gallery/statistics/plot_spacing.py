# examples/gallery/statistics/plot_spacing.py - airports keep their distance.
r"""Airports keep their distance: pair correlation
==============================================

How many pairs of airports are r apart, beside how many there would be if they
lay anywhere (Ripley 1977; Baddeley et al. 2015)?

.. math::

   g(r) = \frac{1}{c} \sum_{i < j} [r \le |x_i - x_j| < r + w]

where c is the mean of that sum for random points. All bins are one histogram: a
sum of vectors that have a one where the pair belongs. 99 sets of random points
are a batch, and tell what is by chance; NumPy's distances of all would take
394 MB.
"""

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import data

import tilefold

# %%
# A part of the United States without mountains and coasts, in kilometres.

table = data.airports()
longitude, latitude = table.longitude.to_numpy(), table.latitude.to_numpy()
inside = (longitude > -98) & (longitude < -82)
inside &= (latitude > 33) & (latitude < 41)
degree = 111.2 * np.array([np.cos(np.deg2rad(37)), 1])
x = np.stack([longitude[inside] + 98, latitude[inside] - 33], 1) * degree
size = np.array([16, 8]) * degree
print(f"{len(x)} airports on {size[0]:.0f} × {size[1]:.0f} km")

# %%
# Pairs in each of 30 bins of 4 km, of a batch of the shape (100, 702, 2): the
# airports, and random sets.

counts = tilefold.compile("sum_ij [i < j] onehot(floor(|x_i - x_j|/w), 30)")
random = np.random.default_rng(0)
chance = random.random((99, len(x), 2)) * size
pairs = counts(x=np.concatenate([x[None], chance]), w=4.0)
g = pairs / pairs[1:].mean(0)
low, high = g[1:].min(0), g[1:].max(0)

# %%
# The histogram of NumPy, of all distances at once.

distances = np.linalg.norm(x[:, None] - x, axis=2)[np.triu_indices(len(x), 1)]
by_hand, edges = np.histogram(distances, 30, (0, 120))
np.testing.assert_array_equal(pairs[0], by_hand)

# %%
# Within 20 km there are fewer than in any of the random sets.

fewer = edges[1:][g[0] < low]
print(f"fewer than in all of 99 random sets up to {fewer.max():.0f} km")
assert np.all(g[0, :4] < low[:4])

figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained",
                            width_ratios=[1.5, 1])  # fmt: skip
axes[0].plot(*x.T, ".", color="#0072b2", ms=4)
axes[0].set(xlabel="east, km", ylabel="north, km", aspect=1)
axes[0].set(xlim=(0, size[0]), ylim=(0, size[1]))
axes[0].set_title(f"{len(x)} airports between Kansas and Ohio")
middle = (edges[1:] + edges[:-1]) / 2
axes[1].fill_between(middle, low, high, color="0.85", label="99 random sets")
axes[1].plot(middle, g[0], "o-", color="#0072b2", ms=3, label="airports")
axes[1].axhline(1, color="0.5", lw=0.8)
axes[1].set(xlabel="distance, km", ylabel="g", xlim=(0, 120), ylim=(0, 1.8))
axes[1].set_title("pairs, beside those by chance")
axes[1].legend()
plt.show()
