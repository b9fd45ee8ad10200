# bench/tasks/accuracy/sequential.py - float32, one term after the other.
"""plain float32 sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Exact differences, and the sum of a simple loop."""
    x, y, b = problem.x, problem.y, problem.b
    scale = x.dtype.type(-problem.scale)

    def row(point: Any) -> Any:
        terms = np.exp(((point - y) ** 2).sum(1) * scale) * b
        return np.cumsum(terms, dtype=x.dtype)[-1]

    return lambda: np.array([row(point) for point in x])
