# bench/tasks/diag/task.py - the diagonal of a lazy kernel matrix.
"""K.diag() of a Gaussian kernel of 10⁶ points: N evaluations, never N².
Memory is the growth of the resident peak in the first full-size call, beyond
the inputs and the result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from bench.case import Case
from bench.goals import at_most

TITLE = "Diagonal"
TABLE = "times"

SAME = "exp(-|x_i - x_j|²/2l²)"
OTHER = "exp(-|x_i - y_j|²/2l²)"


@dataclass(frozen=True)
class DiagonalProblem:
    """K[k, k] for all k; `arrays` says what is on the two axes."""

    text: str
    n: int
    pairs: float = 0.0
    length: float = 0.5

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type."""
        return {"N": self.n, "D": 3, "dtype": "float32"}

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """x, and y where the text has it."""
        random = np.random.default_rng(20)
        names = ["x", "y"] if "y_j" in self.text else ["x"]
        return {k: random.random((self.n, 3), np.float32) for k in names}

    def error(self, result: Any) -> float:
        """Largest relative error against float64, all elements."""
        found = np.asarray(result)
        if found.shape != (self.n,):
            raise ValueError(f"shape {found.shape} for N = {self.n}")
        x = self.arrays["x"].astype(np.float64)
        y = self.arrays.get("y", x).astype(np.float64)
        exact = np.exp(-((x - y) ** 2).sum(1) / (2 * self.length**2))
        return float(np.nan_to_num(np.abs(found / exact - 1), nan=np.inf).max())


def _make_same(quick: bool) -> DiagonalProblem:
    return DiagonalProblem(SAME, 10_000 if quick else 1_000_000)


def _make_other(quick: bool) -> DiagonalProblem:
    return DiagonalProblem(OTHER, 10_000 if quick else 1_000_000)


CASES = [
    Case(
        name="diag_one_array",
        title="one array on both axes, N = 10⁶, D = 3, float32",
        problem=_make_same,
        tolerance=1e-6,
        goals=(
            at_most(
                "diagonal, N = 10⁶, D = 3",
                "tilefold/seconds/median",
                30,
                1e3,
                " ms",
            ),
            at_most(
                "its memory beyond inputs and result",
                "tilefold/peak_bytes",
                32,
                2**-20,
                " MiB",
            ),
        ),
    ),
    Case(
        name="diag_two_arrays",
        title="two arrays, N = 10⁶, D = 3, float32",
        problem=_make_other,
        tolerance=1e-6,
    ),
]
