# bench/tasks/call_overhead/numpy.py - the dense matrix, as one writes it.
"""NumPy, dense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """All 3,000 elements in memory."""
    x, y, b = problem.x, problem.y, problem.b
    scale = x.dtype.type(-problem.scale)

    def run() -> Any:
        squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
        return np.exp(squares * scale) @ b

    return run
