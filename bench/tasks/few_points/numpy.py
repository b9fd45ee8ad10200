# bench/tasks/few_points/numpy.py - one row or one column of the matrix.
"""NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The one point is subtracted from all others."""
    x, y, b = problem.x, problem.y, problem.b
    scale = x.dtype.type(-problem.scale)

    def run() -> Any:
        difference = x - y
        kernel = np.einsum("kd,kd->k", difference, difference)
        np.exp(np.multiply(kernel, scale, out=kernel), out=kernel)
        return kernel @ b if len(x) == 1 else kernel * b

    return run
