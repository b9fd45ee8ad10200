# bench/tasks/batches/task.py - ten thousand small Gaussian sums.
"""The Gaussian sums of 10,000 pairs of clouds of 30 points each, in three
dimensions, float32, in one call: results of shape (10000, 30)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from bench.case import Case
from bench.goals import share_of_roofline
from bench.points import ROWS

TITLE = "Many small batches"
TABLE = "times"
POINTS = 30  # on either axis of a batch


@dataclass(frozen=True)
class BatchProblem:
    """x and y (B, N, 3), b (B, N); a result has the shape of b."""

    batches: int
    points: int = POINTS
    length: float = 0.5

    @property
    def pairs(self) -> float:
        """Pairs of points in all batches."""
        return float(self.batches) * self.points**2

    @property
    def sizes(self) -> dict[str, Any]:
        """The batches, N, M, D and the type."""
        sizes = {"B": self.batches, "N": self.points, "M": self.points, "D": 3}
        return {**sizes, "dtype": "float32"}

    @property
    def scale(self) -> float:
        """1/2l²."""
        return 1 / (2 * self.length**2)

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """x, y and b."""
        random = np.random.default_rng(20)
        shape = (self.batches, self.points)
        return {
            "x": random.random((*shape, 3), np.float32),
            "y": random.random((*shape, 3), np.float32),
            "b": random.standard_normal(shape, np.float32),
        }

    @property
    def arguments(self) -> dict[str, Any]:
        """As tilefold takes them."""
        return self.arguments_of(self.arrays)

    def arguments_of(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """These arrays: b has one component."""
        return {**arrays, "b": arrays["b"][..., None], "l": self.length}

    def error(self, result: Any) -> float:
        """Largest |r_i - o_i| / Σ_j |k_ij b_j| over the sampled rows."""
        found = np.asarray(result).reshape(self.batches, self.points)
        count = min(ROWS * 30, found.size)
        some = np.linspace(0, found.size - 1, count).astype(np.int64)
        return max(self._error(found, *divmod(k, self.points)) for k in some)

    def _error(self, found: Any, batch: int, row: int) -> float:
        x, y, b = (a[batch].astype(np.float64) for a in self.arrays.values())
        terms = np.exp(((x[row] - y) ** 2).sum(1) * -self.scale) * b
        error = abs(float(found[batch, row]) - terms.sum())
        return float(np.nan_to_num(error / np.abs(terms).sum(), nan=np.inf))


def _make(quick: bool) -> BatchProblem:
    return BatchProblem(200 if quick else 10_000)


CASES = [
    Case(
        name="batches_30",
        title="10,000 batches of 30 × 30 points, D = 3, float32",
        problem=_make,
        rated=True,
        goals=(share_of_roofline(0.8),),
        tolerance=1e-5,
    )
]
