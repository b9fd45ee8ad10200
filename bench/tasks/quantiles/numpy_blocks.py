# bench/tasks/quantiles/numpy_blocks.py - SciPy's distances, NumPy's median.
"""scipy's cdist and numpy's median in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.quantiles.task import QuantileProblem

PACKAGES = ("numpy", "scipy")
ROWS = 256


def prepare(problem: QuantileProblem) -> Callable[[], Any]:
    """Selection by partition, a block of rows at a time."""
    x, y = problem.points

    def run() -> Any:
        starts = range(0, len(x), ROWS)
        return np.concatenate(
            [np.median(cdist(x[k : k + ROWS], y), axis=1) for k in starts]
        )

    return run
