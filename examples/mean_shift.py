# examples/mean_shift.py - clusters as the hills of a density.
"""Moves every point uphill to a mode of the density, and counts the modes.

    x_i ← Σ_j exp(-|x_i - y_j|²/2h²) y_j / Σ_j exp(-|x_i - y_j|²/2h²)

climbs the kernel density estimate of y (Fukunaga and Hostetler 1975; Cheng
1995; Comaniciu and Meer 2002). One step is one softmax reduction. Points that
end at the same place are a cluster; nobody said how many there are.

Usage: python examples/mean_shift.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int32]]

STEP = tilefold.compile("softmax_j(-|x_i - y_j|²/2h², y_j)")


def climb(y: Array, h: float, tolerance: float = 1e-4) -> tuple[Array, int]:
    """Where each point of y (M, D) ends, (M, D), and after how many steps."""
    x, steps, largest = y, 0, np.inf
    while largest > tolerance * h:
        moved = STEP(x=x, y=y, h=h)
        largest = np.abs(moved - x).max()
        x, steps = moved, steps + 1
    return x, steps


def clusters(ends: Array, h: float) -> tuple[int, Labels]:
    """How many groups of ends there are, and whose each is, (M,)."""
    near = tilefold.radius_neighbors(ends, ends, h / 2)
    ones = np.ones(len(near.indices), bool)
    graph = csr_array((ones, near.indices, near.indptr))
    return connected_components(graph, directed=False)


def main() -> None:
    """Six blobs of different size."""
    random = np.random.default_rng(0)
    centres = random.uniform(0, 10, (6, 2))
    truth = random.integers(0, 6, 3000)
    y = centres[truth] + random.normal(scale=0.5, size=(3000, 2))
    ends, steps = climb(y, h=0.6)
    count, labels = clusters(ends, h=0.6)
    print(f"{count} modes after {steps} steps:")
    for k in range(count):
        x, y = ends[labels == k].mean(0)
        print(f"  ({x:5.2f}, {y:5.2f})  {np.sum(labels == k):5d} points")


if __name__ == "__main__":
    main()
