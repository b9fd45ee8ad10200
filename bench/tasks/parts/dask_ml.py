# bench/tasks/parts/dask_ml.py - the matrix, block by block.
"""dask_ml, rbf_kernel @ b."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
from dask_ml.metrics.pairwise import rbf_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("dask", "dask-ml")
SAMPLES = 5


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Blocks of 2000 × 5000, on threads."""
    y = da.from_array(problem.y, chunks=(5000, -1))
    b = da.from_array(problem.b, chunks=5000)

    def run() -> Any:
        matrix = rbf_kernel(y, problem.x, gamma=problem.scale)
        return (matrix.T @ b).compute(scheduler="threads")

    return run
