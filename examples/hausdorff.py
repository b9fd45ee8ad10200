# examples/hausdorff.py - a shape laid on another by their Hausdorff distance.
"""Moves a cloud of points until its Hausdorff distance to another is small.

    H(X, Y) = max( max_i min_j |x_i - y_j|, max_j min_i |x_i - y_j| )

is the distance from the worst point of either to the nearest of the other
(Hausdorff 1914; Huttenlocher, Klanderman and Rucklidge 1993). It is one formula
of reductions of reductions. Almost everywhere one pair alone decides, and the
gradient is that pair's: a subgradient, along which the steps have to shrink.

Usage: python examples/hausdorff.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

HAUSDORFF = tilefold.compile(
    "max(max_i min_j r, max_j min_i r) with r = |x_i - y_j|"
)
MOVED = tilefold.compile(
    """max(max_i min_j r, max_j min_i r) with
    c = cos(a), s = sin(a),
    r = |[c*x_i[0] - s*x_i[1], s*x_i[0] + c*x_i[1]] + t - y_j|"""
)
MOVED_GRADIENT = MOVED.grad(["a", "t"], value=True)


def distance(x: Array, y: Array) -> float:
    """Of x (N, D) and y (M, D)."""
    return float(HAUSDORFF(x=x, y=y))


def align(x: Array, y: Array, steps: int) -> tuple[float, Array, float]:
    """The angle and the shift (2,) that lay x on y, and the distance then."""
    a, t = 0.0, np.zeros(2)
    best = (a, t, np.inf)
    for step in range(steps):
        found, da, dt = MOVED_GRADIENT(x=x, y=y, a=a, t=t, grad=1)
        if found < best[2]:
            best = (a, t, float(found))
        size = 0.1 / np.sqrt(1 + step) / np.hypot(da, np.linalg.norm(dt))
        a, t = a - size * da, t - size * dt
    return best


def main() -> None:
    """A leaf, sampled twice, of which one was turned and shifted."""
    random = np.random.default_rng(0)

    def leaf(count: int) -> Array:
        angle = 2 * np.pi * random.random(count)
        radius = 1 + 0.3 * np.cos(3 * angle) + 0.2 * np.cos(angle)
        circle = np.stack([np.cos(angle), np.sin(angle)], 1)
        return radius[:, None] * circle

    c, s = np.cos(0.4), np.sin(0.4)
    x, y = leaf(600), leaf(600) @ [[c, s], [-s, c]] + [0.3, -0.2]
    print(f"distance {distance(x, y):.3f}")
    a, t, least = align(x, y, steps=300)
    print(f"turned by {a:.3f}, of 0.4; shifted by {t[0]:.3f}, {t[1]:.3f}")
    print(f"distance {least:.3f}")


if __name__ == "__main__":
    main()
