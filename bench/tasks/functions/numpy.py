# bench/tasks/functions/numpy.py - NumPy and SciPy, row by row.
"""NumPy and SciPy, one core, a row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.functions import double

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.functions import FunctionProblem

PACKAGES = ("numpy", "scipy")
SAMPLES = 3


def prepare(problem: FunctionProblem) -> Callable[[], Any]:
    """Coordinates are made contiguous before."""
    tools, columns = double(), np.ascontiguousarray(problem.y.T)

    def row(point: Any) -> Any:
        squares = ((point[:, None] - columns) ** 2).sum(0)
        return problem.of(tools, squares).sum()

    return lambda: np.array([row(point) for point in problem.x])
