# bench/tasks/cold_compile/task.py - the first call of a formula nobody met.
"""From the call to its result, 1,000 × 1,000 points, with an empty cache, in
a process that is running: it has compiled another formula before, so that
threads and compiler are there, and the functions that all kernels share. "First
in its process" is the same without that other formula, and holds the loading of
LLVM."""

from __future__ import annotations

from bench.case import Case
from bench.goals import Goal, at_most
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Cold compile"
TABLE = "times"


def make(_: bool) -> GaussianProblem:
    """Small enough for the run itself not to matter."""
    return GaussianProblem(GaussianSizes(1_000, 1_000, 3, "float32"))


def _goal(what: str, row: str, limit: float) -> Goal:
    return at_most(what, f"{row}/seconds/median", limit, 1e3, " ms")


CASES = [
    Case(
        name="cold_compile",
        title="first call of a new Gaussian sum, D = 3, float32",
        problem=make,
        tolerance=1e-5,
        samples=15,
        goals=(
            _goal("first call of a new formula", "tilefold", 12),
            _goal("the first of its process", "tilefold_first", 35),
        ),
    )
]
