# bench/tasks/wide/task.py - the Gaussian sum of many columns at once.
"""The Gaussian sum in three dimensions with E right-hand sides, 10,000
points on either axis, float32: one exponential for E products."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import share_of_roofline, times_faster
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Many right-hand sides"
TABLE = "rates"
CONTENDERS_OF = "gaussian"
COLUMNS = (1, 4, 16, 64, 256)
GOALS = {64: (share_of_roofline(0.85), times_faster("torch_addmm", 4))}


def _make(columns: int, quick: bool) -> GaussianProblem:
    size = 500 if quick else 10_000
    return GaussianProblem(
        GaussianSizes(size, size, 3, "float32", columns=columns)
    )


CASES = [
    Case(
        name=f"wide_e{columns}",
        title=f"E = {columns}",
        goals=GOALS.get(columns, ()),
        problem=partial(_make, columns),
        rated=True,
        tolerance=1e-5,
        contenders=("tilefold", "roofline", "pykeops", "torch_addmm"),
    )
    for columns in COLUMNS
]
