# examples/plate_modes.py - the standing waves of a shape, from points in it.
"""Draws the slowest standing waves in a body with a hole.

    K_ij = exp(-|x_i - x_j|²/4ε),   W = K/(q qᵀ),   d = W 1,   A = W/√(d dᵀ)

With q = K 1, the walk W/d among points forgets how densely they lie, and goes
as heat does in time ε: its eigenvalues are exp(-ε μ), where μ are those of the
Laplacian on the shape, without flow through its rim (Coifman and Lafon 2006).
They are the squares of the frequencies of waves in a flat vessel of the shape.
No mesh is made, and no matrix: SciPy's `eigsh` meets A as a
`tilefold.scipy.operator`.

Usage: python examples/plate_modes.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy.sparse.linalg import eigsh

import tilefold
import tilefold.scipy

mpl.use("Agg")
import matplotlib.pyplot as plt

Array = np.ndarray[Any, np.dtype[np.float64]]
STEP = 0.03  # between points


def modes(x: Array, ε: float, count: int) -> tuple[Array, Array, int]:
    """The `count` smallest eigenvalues μ > 0, waves (N, count), and passes.

    Those of points x (N, D); a pass is one over all pairs of points.
    """
    K = tilefold.kernel("exp(-|x_i - x_j|²/4ε)", x=x, ε=ε)
    q = K.sum(1)
    W = K / q[:, None] / q
    root = np.sqrt(W.sum(1))
    A = tilefold.scipy.operator(W / root[:, None] / root)
    start = np.random.default_rng(0).random(len(x))  # of no symmetry
    values, vectors = eigsh(A, count + 1, v0=start, tol=1e-8)
    order = np.argsort(-values)[1:]  # the largest is the constant's
    waves = vectors[:, order] / root[:, None]
    return -np.log(values[order]) / ε, waves, A.passes


def body(step: float) -> tuple[Array, Array]:
    """A grid over a guitar's body (H, W, 2), and which of it is inside."""
    x, y = np.meshgrid(np.arange(-1.1, 2.3, step), np.arange(-1.1, 1.1, step))
    lower = x**2 + y**2 < 1
    upper = (x - 1.35) ** 2 + y**2 < 0.75**2
    waist = (np.abs(x - 0.8) < 0.4) & (np.abs(y) < 0.6)
    hole = (x - 0.7) ** 2 + y**2 < 0.3**2
    return np.stack([x, y], -1), (lower | upper | waist) & ~hole


def show(waves: Array, inside: Array, values: Array, path: str) -> None:
    """The waves side by side, each with its frequency beside the first's."""
    figure, axes = plt.subplots(2, 3, figsize=(10, 4.6))
    for k, axis in enumerate(axes.flat):
        image = np.full(inside.shape, np.nan)
        image[inside] = waves[:, k] / np.abs(waves[:, k]).max()
        axis.contourf(image, np.linspace(-1, 1, 21), cmap="RdBu_r")
        axis.contour(image, [0], colors="k", linewidths=0.7)
        axis.contour(inside, [0.5], colors="0.3", linewidths=0.7)
        pitch = np.sqrt(values[k] / values[0])
        axis.set_title(f"{pitch:.2f} times the lowest", fontsize=9)
        axis.set_aspect("equal")
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(path: str) -> None:
    """Makes the picture."""
    grid, inside = body(STEP)
    points = grid[inside]
    values, waves, passes = modes(points, STEP**2, 6)
    show(waves, inside, values, path)
    size = len(points) ** 2 * 8 / 1e6
    print(f"{len(points)} points, {passes} passes, no matrix of {size:.0f} MB")
    print("μ =", ", ".join(f"{value:.2f}" for value in values))
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "plate_modes.png")
