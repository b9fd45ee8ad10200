# bench/tasks/gradients/task.py - the Gaussian sum with all its gradients.
"""Value of Σ_j exp(-|x_i - y_j|²/2l²) b_j and its gradients by x, y, b and l,
where the cotangent of the result is given; 10,000 points on either axis. Of
PyTorch's graph: forward, then backward of the sum of all results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.case import Case
from bench.goals import Goal, number_at, times_faster

if TYPE_CHECKING:
    from bench.goals import Rows

TITLE = "Gradients"
TABLE = "times"
TEXT = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
NAMES = ["x", "y", "b", "l"]
BLOCK = 500  # rows of the oracle computed at once


@dataclass(frozen=True)
class GradientProblem:
    """Results are (value, dx, dy, db, dl), or the value alone."""

    n: int
    length: float = 0.5

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type."""
        return {"N": self.n, "M": self.n, "D": 3, "dtype": "float32"}

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """x, y and b."""
        random = np.random.default_rng(4)
        return {
            "x": random.random((self.n, 3), np.float32),
            "y": random.random((self.n, 3), np.float32),
            "b": random.random(self.n, np.float32),
        }

    @cached_property
    def exact(self) -> list[Any]:
        """All results in float64, for a cotangent of ones."""
        x, y, b = (a.astype(np.float64) for a in self.arrays.values())
        value, dx = np.empty(self.n), np.empty((self.n, 3))
        dy, db, dl = np.zeros((self.n, 3)), np.zeros(self.n), 0.0
        for start in range(0, self.n, BLOCK):
            rows = slice(start, start + BLOCK)
            difference = x[rows, None] - y
            squares = (difference**2).sum(-1)
            kernel = np.exp(-squares / (2 * self.length**2))
            pull = (kernel * b)[..., None] * difference / self.length**2
            value[rows], dx[rows] = kernel @ b, -pull.sum(1)
            dy += pull.sum(0)
            db += kernel.sum(0)
            dl += (kernel * b * squares).sum() / self.length**3
        return [value, dx, dy, db, dl]

    def error(self, result: Any) -> float:
        """The largest, each beside its largest number."""
        found = result if isinstance(result, tuple) else (result,)
        errors = [
            np.abs(np.asarray(f, np.float64) - e).max() / np.abs(e).max()
            for f, e in zip(found, self.exact, strict=False)
        ]
        return float(np.nan_to_num(max(errors), nan=np.inf))


def _make(quick: bool) -> GradientProblem:
    return GradientProblem(500 if quick else 10_000)


def _beside_value(rows: Rows, name: str) -> float | None:
    """A contender's time beside that of the value alone."""
    value = number_at(rows, "tilefold_value/seconds/median")
    whole = number_at(rows, f"{name}/seconds/median")
    return whole / value if whole and value else None


CASES = [
    Case(
        name="gradients_d3_f32",
        title="value and gradients by x, y, b, l; D = 3, float32, 10k",
        problem=_make,
        tolerance=1e-5,
        goals=(
            Goal(
                "time beside the value alone",
                lambda rows: _beside_value(rows, "tilefold"),
                3.2,
                at_least=False,
                unit="×",
            ),
            Goal(
                "PyTorch forward and backward beside the value alone",
                lambda rows: _beside_value(rows, "tilefold_torch"),
                4.2,
                at_least=False,
                unit="×",
            ),
            times_faster("pykeops", 20),
        ),
    )
]
