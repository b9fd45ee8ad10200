# bench/tasks/quantiles/task.py - medians of distances.
"""The median over j of |x_i - y_j| for every i, 5,000 × 20,000 points in three
dimensions. Errors are relative, of 200 rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from bench.case import Case

TITLE = "Medians"
TABLE = "times"
TEXT = "median_j |x_i - y_j|"


@dataclass(frozen=True)
class QuantileProblem:
    """Points of the unit cube."""

    n: int
    m: int
    dtype: str

    @property
    def pairs(self) -> float:
        """Each once, however often they are swept."""
        return float(self.n) * self.m

    @property
    def sizes(self) -> dict[str, Any]:
        """N, M, D and the type."""
        return {"N": self.n, "M": self.m, "D": 3, "dtype": self.dtype}

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """x and y."""
        random = np.random.default_rng(30)
        shapes = [(self.n, 3), (self.m, 3)]
        x, y = (random.random(shape).astype(self.dtype) for shape in shapes)
        return x, y

    def error(self, result: Any) -> float:
        """Largest relative error of some rows against float64."""
        found = np.asarray(result).reshape(self.n)
        rows = np.random.default_rng(31).choice(self.n, min(200, self.n))
        x, y = (points.astype(np.float64) for points in self.points)
        exact = [np.median(np.linalg.norm(x[k] - y, axis=1)) for k in rows]
        errors = np.abs(found[rows] / exact - 1)
        return float(np.nan_to_num(errors, nan=np.inf).max())


def _make(dtype: str, quick: bool) -> QuantileProblem:
    sizes = (100, 400) if quick else (5_000, 20_000)
    return QuantileProblem(*sizes, dtype)


CASES = [
    Case(
        name=f"quantiles_{dtype}",
        title=f"median_j |x_i - y_j|, {dtype}",
        problem=partial(_make, dtype),
        tolerance=1e-5 if dtype == "float32" else 1e-13,
    )
    for dtype in ("float32", "float64")
]
