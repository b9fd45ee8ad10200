# bench/tasks/call_overhead/task.py - what a call costs beside its work.
"""A Gaussian sum of 50 × 60 points, called again and again from Python: the
work itself takes well below a microsecond."""

from __future__ import annotations

from bench.case import Case
from bench.goals import at_most
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Call overhead"
TABLE = "times"


def make(_: bool) -> GaussianProblem:
    """50 × 60 points."""
    return GaussianProblem(GaussianSizes(50, 60, 3, "float32"))


CASES = [
    Case(
        name="call_overhead",
        title="repeated call, 50 × 60 points, D = 3, float32",
        problem=make,
        tolerance=1e-5,
        samples=15,
        goals=(
            at_most(
                "repeated call, 50 × 60 points",
                "tilefold/seconds/median",
                6,
                1e6,
                " µs",
            ),
        ),
    )
]
