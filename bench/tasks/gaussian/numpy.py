# bench/tasks/gaussian/numpy.py - what one writes without any tool.
"""NumPy, blocks of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

BLOCK = 1 << 16  # elements of a block; more is slower


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Exact differences, one coordinate after the other."""
    x, y, b = problem.x, np.ascontiguousarray(problem.y.T), problem.b
    scale = x.dtype.type(-problem.scale)
    rows = max(1, BLOCK // len(b))

    def run() -> Any:
        out = np.empty(len(x), x.dtype)
        for start in range(0, len(x), rows):
            part = x[start : start + rows]
            squares = np.zeros((len(part), len(b)), x.dtype)
            for d in range(x.shape[1]):
                squares += (part[:, d, None] - y[d]) ** 2
            np.exp(np.multiply(squares, scale, out=squares), out=squares)
            out[start : start + rows] = squares @ b
        return out

    return run
