# bench/tasks/reductions/task.py - reductions that are not sums.
"""log Σ_j exp(-|x_i - y_j|²/2), the place of the nearest y_j and the largest
|x_i - y_j|², of 10,000 × 10,000 points in three dimensions, float32. Errors
are relative; that of a place is the error of its squared distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bench.case import Case
from bench.goals import share_of_roofline
from bench.neighbors import TOLERANCE, NeighborProblem
from bench.points import GaussianSizes

TITLE = "Other reductions"
TABLE = "rates"
TEXTS = {
    "logsumexp": "logsumexp_j(-|x_i - y_j|²/2)",
    "argmin": "argmin_j |x_i - y_j|²",
    "max": "max_j |x_i - y_j|²",
}


@dataclass(frozen=True)
class ReductionProblem(NeighborProblem):
    """One of TEXTS over the same points."""

    count: int = 1
    operation: str = "argmin"

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        return TEXTS[self.operation]

    def error(self, result: Any) -> float:
        """Largest relative error over the sampled rows."""
        if self.operation == "argmin":
            return super().error(result)
        found = np.asarray(result).reshape(self.given.n)[self._rows]
        if self.operation == "max":
            exact = self._squares.max(1)
        else:
            exact = np.log(np.exp(-self._squares / 2).sum(1))
        errors = np.abs(found.astype(np.float64) / exact - 1)
        return float(np.nan_to_num(errors, nan=np.inf).max())


def _make(operation: str, quick: bool) -> ReductionProblem:
    size = 500 if quick else 10_000
    sizes = GaussianSizes(size, size, 3, "float32")
    return ReductionProblem(sizes, operation=operation)


CASES = [
    Case(
        name=f"reductions_{operation}",
        title=operation,
        problem=partial(_make, operation),
        rated=True,
        goals=(share_of_roofline(0.85),),
        tolerance=TOLERANCE if operation == "argmin" else 1e-5,
    )
    for operation in TEXTS
]
