# bench/tasks/batches/task.py - ten thousand small Gaussian sums.
"""The Gaussian sums of 10,000 pairs of clouds of 30 points each, in three
dimensions, float32, in one call: results of shape (10000, 30)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from bench.case import Case
from bench.points import ROWS

TITLE = "Many small batches"
TABLE = "times"
POINTS = 30  # on either axis of a batch


@dataclass(frozen=True)
class BatchProblem:
    """x and y (B, 30, 3), b (B, 30); a result has the shape of b."""

    batches: int
    length: float = 0.5

    @property
    def pairs(self) -> float:
        """Pairs of points in all batches."""
        return float(self.batches) * POINTS**2

    @property
    def sizes(self) -> dict[str, Any]:
        """The batches, N, M, D and the type."""
        sizes = {"B": self.batches, "N": POINTS, "M": POINTS, "D": 3}
        return {**sizes, "dtype": "float32"}

    @property
    def scale(self) -> float:
        """1/2l²."""
        return 1 / (2 * self.length**2)

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """x, y and b."""
        random = np.random.default_rng(20)
        shape = (self.batches, POINTS)
        return {
            "x": random.random((*shape, 3), np.float32),
            "y": random.random((*shape, 3), np.float32),
            "b": random.standard_normal(shape, np.float32),
        }

    def error(self, result: Any) -> float:
        """Largest |r - o| / Σ_j |k_ij b_j| over the sampled batches."""
        found = np.asarray(result).reshape(self.batches, POINTS)
        some = np.linspace(0, self.batches - 1, ROWS).astype(np.int64)
        x, y, b = (a[some].astype(np.float64) for a in self.arrays.values())
        squares = ((x[:, :, None] - y[:, None]) ** 2).sum(-1)
        terms = np.exp(squares * -self.scale) * b[:, None]
        errors = np.abs(found[some].astype(np.float64) - terms.sum(-1))
        errors /= np.abs(terms).sum(-1)
        return float(np.nan_to_num(errors, nan=np.inf).max())


def _make(quick: bool) -> BatchProblem:
    return BatchProblem(200 if quick else 10_000)


CASES = [
    Case(
        name="batches_30",
        title="10,000 batches of 30 × 30 points, D = 3, float32",
        problem=_make,
        rated=True,
        tolerance=1e-5,
    )
]
