# examples/diffusion_maps.py - the coordinate along which points lie.
"""Finds intrinsic coordinates of points by a random walk among them.

    K_ij = exp(-|x_i - x_j|²/4ε),   W = K/(q qᵀ),   d = W 1,   P = W/d

With q = K 1, the walk P forgets how densely the points lie, and its slowest
eigenvectors are those of the Laplacian of the curve or surface that they lie
on (Coifman and Lafon 2006, α = 1). SciPy's `eigsh` meets the symmetric
W/√(d dᵀ) through products with vectors only: it is a tilefold kernel, divided
by arrays as NumPy divides, and no matrix.

Usage: python examples/diffusion_maps.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]


def diffusion_map(x: Array, ε: float, count: int) -> tuple[Array, Array]:
    """The `count` largest eigenvalues of P but 1, and eigenvectors (N, count).

    Those of x (N, D); the vectors are of the length √N, so that they are
    functions of mean square 1.
    """
    K = tilefold.kernel("exp(-|x_i - x_j|²/4ε)", x=x, ε=ε)
    q = K.sum(1)
    W = K / q[:, None] / q
    root = np.sqrt(W.sum(1))
    start = np.ones(len(x))
    values, vectors = eigsh(W / root[:, None] / root, count + 1, v0=start)
    functions = vectors / vectors[:, -1:]  # the largest is √d: P's is constant
    return values[-2::-1], functions[:, -2::-1]


def trefoil(angle: Array) -> Array:
    """Points of a knot in space, (N, 3)."""
    radius = 2 + np.cos(3 * angle)
    return np.stack(
        [radius * np.cos(2 * angle), radius * np.sin(2 * angle),
         np.sin(3 * angle)], 1,
    )  # fmt: skip


def arc_length(angle: Array) -> Array:
    """Along the trefoil from 0 to the angle, (N,)."""
    fine = np.linspace(0, 2 * np.pi, 20_001)
    steps = np.linalg.norm(np.diff(trefoil(fine), axis=0), axis=1)
    return np.interp(angle, fine, np.append(0, np.cumsum(steps)))


def main() -> None:
    """A knot, on which points lie more densely here than there."""
    random = np.random.default_rng(0)
    turn = 2 * np.pi * np.sort(random.random(2000))
    angle, ε = turn + 0.6 * np.sin(turn), 0.03
    values, functions = diffusion_map(trefoil(angle), ε, count=2)
    found = np.unwrap(np.arctan2(*functions.T))
    length = arc_length(np.append(angle, 2 * np.pi))
    around = 2 * np.pi / length[-1]
    print(
        f"eigenvalues {values[0]:.5f} and {values[1]:.5f}; "
        f"those of a closed curve: {np.exp(-ε * around**2):.5f}"
    )
    slope, offset = np.polyfit(length[:-1] * around, found, 1)
    error = np.abs(found - slope * length[:-1] * around - offset).max()
    print(f"{abs(slope):.3f} turns for once around the knot")
    print(f"arc length is off by {np.degrees(error):.1f}° of 360°")


if __name__ == "__main__":
    main()
