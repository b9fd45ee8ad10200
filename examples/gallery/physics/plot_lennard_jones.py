# examples/gallery/physics/plot_lennard_jones.py - a gas that condenses.
r"""A gas that condenses: molecular dynamics with cells of neighbours
=================================================================

Atoms in a plane attract each other, and repel where they touch:

.. math::

   f_i = \sum_{r_{ij} < 2.5} 24 \left(\frac{2}{r_{ij}^{14}} -
         \frac{1}{r_{ij}^8}\right) (x_i - x_j)

A gas of them, kept cold by friction and random kicks, becomes drops of
crystals. Beyond 2.5 diameters the force is left out, and so are the pairs:
atoms are sorted into cells, and only cells that are near meet. All pairs of
2,500 atoms, as arrays of vectors, would be 100 MB at each of 4,000 steps.
"""

import matplotlib.pyplot as plt
import numpy as np

import tilefold

force = tilefold.compile(
    """sum_j where(i ≠ j and s < 6.25, 24(2/s⁷ - 1/s⁴)*(x_i - x_j), 0)
    with s = |x_i - x_j|²"""
)
touching = tilefold.compile("count_j(i ≠ j and |x_i - x_j| < 1.4)")

# %%
# A box with walls of length 90, in which atoms stand on a grid with random
# speeds.

side, count, warm = 90.0, 50, 0.4
random = np.random.default_rng(0)
grid = (np.arange(count) + 0.5) * side / count
x = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
x += random.uniform(-0.2, 0.2, x.shape)
v = np.sqrt(warm) * random.standard_normal(x.shape)


def near(x):
    """Atoms in the order of their cells, and which cells meet."""
    cells = tilefold.Clusters(x, size=4.0)
    return cells.order, cells.near(cells, distance=3.3)


order, pairs = near(x)
x, v = x[order], v[order]
print(f"{pairs.pairs / len(x):.0f} of {len(x):,} atoms are met by each")
d = x[9] - np.delete(x, 9, axis=0)
s = (d**2).sum(1)[:, None]
by_hand = np.where(s < 6.25, 24 * (2 / s**7 - 1 / s**4) * d, 0).sum(0)
np.testing.assert_allclose(force(x=x, ranges=pairs)[9], by_hand, rtol=1e-9)

# %%
# Langevin's dynamics; cells are made anew each 40 steps, within which no atom
# goes further than the 0.8 that cells see beyond the reach of the force.

dt, friction = 0.01, 0.5
keep = np.exp(-friction * dt)
kick = np.sqrt(warm * (1 - keep**2))
moments, bonds = [], []
for step in range(4001):
    if step % 40 == 0:
        order, pairs = near(x)
        x, v = x[order], v[order]
        f = force(x=x, ranges=pairs)
        bonds.append(touching(x=x, ranges=pairs).mean())
    if step in (0, 1000, 4000):
        moments.append((x, touching(x=x, ranges=pairs)))
    v = v + dt / 2 * f
    x = x + dt / 2 * v
    v = keep * v + kick * random.standard_normal(x.shape)
    x = x + dt / 2 * v
    outside = (x < 0) | (x > side)
    x, v = np.clip(x, 0, side), np.where(outside, -v, v)
    f = force(x=x, ranges=pairs)
    v = v + dt / 2 * f
print(f"neighbours: {bonds[0]:.2f} at first, {bonds[-1]:.2f} at last")
assert bonds[-1] > 3
assert moments[-1][1].max() == 6

figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
for axis, (places, degree), step in zip(
    axes, moments, (0, 1000, 4000), strict=True
):
    dots = axis.scatter(
        *places.T, c=degree, s=4, cmap="viridis_r", vmin=0, vmax=6
    )
    axis.set(xticks=[], yticks=[], aspect=1, xlim=(0, side), ylim=(0, side))
    axis.set_title(f"time {step * dt:.0f}")
figure.colorbar(dots, ax=axes, label="atoms that touch it", shrink=0.8)
plt.show()
