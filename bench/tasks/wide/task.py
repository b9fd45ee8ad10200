# bench/tasks/wide/task.py - the Gaussian sum of 64 columns at once.
"""The Gaussian sum in three dimensions with 64 right-hand sides, 10,000
points on either axis, float32: one exponential for 64 products."""

from __future__ import annotations

from bench.case import Case
from bench.goals import share_of_ceiling, times_faster
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Many right-hand sides"
TABLE = "times"
CONTENDERS_OF = "gaussian"
COLUMNS = 64


def _make(quick: bool) -> GaussianProblem:
    size = 500 if quick else 10_000
    sizes = GaussianSizes(size, size, 3, "float32", columns=COLUMNS)
    return GaussianProblem(sizes)


CASES = [
    Case(
        name="wide_e64",
        goals=(share_of_ceiling(0.85), times_faster("torch_addmm", 4)),
        title=f"{COLUMNS} right-hand sides, N = M = 10,000, D = 3, float32",
        problem=_make,
        rated=True,
        tolerance=1e-5,
        contenders=("tilefold", "ceiling", "pykeops", "torch_addmm"),
    )
]
