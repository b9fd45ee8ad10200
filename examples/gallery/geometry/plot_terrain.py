# examples/gallery/geometry/plot_terrain.py - land and sea from few soundings.
r"""Land and sea from 1,500 soundings: a thin plate by MINRES
=========================================================

A thin plate that is bent as little as possible, while it passes near measured
heights (Duchon 1977), has at x the height

.. math::

   f(x) = \sum_j w_j \varphi(|x - x_j|) + c \cdot (1, x), \qquad
   \varphi(r) = r^2 \log r, \qquad
   \begin{pmatrix} K + \lambda & P \\ P^T & 0 \end{pmatrix}
   \begin{pmatrix} w \\ c \end{pmatrix} = \begin{pmatrix} y \\ 0 \end{pmatrix}

:math:`K` is symmetric and has eigenvalues of both signs, which is what MINRES
is for. SciPy's ``RBFInterpolator`` stores and factors it: that is 18 MB here,
and 80 GB for 100,000 soundings.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cbook import get_sample_data
from matplotlib.colors import TwoSlopeNorm
from scipy.interpolate import RBFInterpolator

import tilefold

# %%
# Heights around Vancouver Island, of which a seventh is known. Lengths are in
# degrees of latitude.

given = get_sample_data("topobathy.npz")
height = given["topo"].astype(float)
east = (given["longitude"] - 236) * np.cos(np.deg2rad(49))
north = given["latitude"] - 49
grid = np.stack(np.meshgrid(east, north), -1).reshape(-1, 2)
random = np.random.default_rng(0)
known = random.choice(len(grid), 1500, replace=False)
x, y = grid[known], height.ravel()[known]

# %%
# One call solves for the heights and for the three columns of P together; the
# plane c is found from what comes back.

ridge = 0.01
plate = "where(s > 0, s*log(s)/2, 0) with s = |x_i - y_j|²"
K = tilefold.kernel(plate, x=x, y=x)
P = np.column_stack([np.ones(len(x)), x])
solved, info = K.solve(
    np.column_stack([y, P]), ridge=ridge, method="minres", info=True
)
u, V = solved[:, 0], solved[:, 1:]
c = np.linalg.solve(P.T @ V, P.T @ u)
w = u - V @ c
print(f"{info.iterations} steps of MINRES")

found = tilefold.kernel(plate, x=grid, y=x) @ w + c[0] + grid @ c[1:]

# %%
# SciPy's answer, from the matrix.

theirs = RBFInterpolator(x, y, smoothing=ridge)(grid[:500])
np.testing.assert_allclose(found[:500], theirs, atol=0.5)
rest = np.setdiff1d(np.arange(len(grid)), known)
error = np.sqrt(np.mean((found - height.ravel())[rest] ** 2))
print(f"off by {error:.0f} m, of {height.std():.0f} m")
assert error < height.std() / 2

figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.4), layout="constrained")
norm = TwoSlopeNorm(0, -1500, 1800)
for axis, values, title in (
    (axes[0], height, "all 10,920 heights"),
    (axes[1], found.reshape(height.shape), "from 1,500 of them"),
):
    image = axis.pcolormesh(
        given["longitude"] - 360,
        given["latitude"],
        values,
        cmap="BrBG_r",
        norm=norm,
        rasterized=True,
    )
    axis.contour(
        given["longitude"] - 360,
        given["latitude"],
        values,
        [0],
        colors="black",
        linewidths=0.8,
    )
    axis.set(aspect=1.5, xlabel="longitude, °")
    axis.set_title(title)
axes[1].plot(x[:, 0] / np.cos(np.deg2rad(49)) - 124, x[:, 1] + 49, "k.", ms=1)
axes[0].set_ylabel("latitude, °")
figure.colorbar(image, ax=axes, label="height, m", shrink=0.8)
plt.show()
