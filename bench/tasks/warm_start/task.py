# bench/tasks/warm_start/task.py - a new process, the kernel on disk.
"""Import and first call in a new process whose kernel is in the cache on
disk, beyond a process that only imports NumPy and loads the same arrays. A
sample starts the two kinds of process in turn, five times, and takes the
difference of their shortest whole lives, exit included; "inside" is the same
seen by the process itself, without its exit. All packages are found
on a plain path, as installed from a wheel; site hooks are off (python -S).
Beforehand one more process is asked whether it compiled nothing, read one
kernel from disk, and has no file of LLVM in its memory map."""

from __future__ import annotations

from bench.case import Case
from bench.goals import Goal, at_most
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Warm start"
TABLE = "times"


def make(_: bool) -> GaussianProblem:
    """Small enough for the run itself not to matter."""
    return GaussianProblem(GaussianSizes(100, 100, 3, "float32"))


def _goal(what: str, row: str) -> Goal:
    return at_most(what, f"{row}/seconds/median", 15, 1e3, " ms")


CASES = [
    Case(
        name="warm_start",
        title="import and first call beyond importing NumPy",
        problem=make,
        tolerance=1e-5,
        samples=11,
        goals=(
            _goal("new process, kernel on disk", "tilefold"),
            _goal("the same, LLVM unreadable", "tilefold_without_llvm"),
        ),
    )
]
