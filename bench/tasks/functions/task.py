# bench/tasks/functions/task.py - every function, in a sum over pairs.
"""Σ_j f(|x_i - y_j|²) for 4,000 × 4,000 points in three dimensions, float32
and float64: how fast a formula is by each function in it. Errors are relative
to the sum of magnitudes; where terms jump, as those of floor do, a rounded
distance may be another term."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.functions import FUNCTIONS, FunctionProblem
from bench.goals import times_best_peer

TITLE = "Functions"
TABLE = "rates"
JUMPS = ("floor", "round", "remainder", "choice")
TOLERANCES = {"float32": 1e-5, "float64": 1e-12}


def tolerance(function: str, dtype: str) -> float:
    """Of a sum's error."""
    return 1e-2 if function in JUMPS else TOLERANCES[dtype]


def _make(function: str, dtype: str, quick: bool) -> FunctionProblem:
    return FunctionProblem(200 if quick else 4_000, function, dtype)


CASES = [
    Case(
        name=f"functions_{name.replace(' ', '_')}_{dtype.replace('loat', '')}",
        title=f"{name}, {dtype}",
        problem=partial(_make, name, dtype),
        rated=True,
        tolerance=tolerance(name, dtype),
        goals=(times_best_peer(2.0),),
    )
    for dtype in TOLERANCES
    for name in FUNCTIONS
]
