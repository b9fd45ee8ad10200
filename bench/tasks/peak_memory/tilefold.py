# bench/tasks/peak_memory/tilefold.py - one long call, watched from outside.
"""tilefold, 8 threads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.case import Measured
from bench.points import TEXT
from bench.tasks.peak_memory.task import THREADS

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)
TICKS = 3  # of CPU time, of 10 ms each: the thread worked


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """Compiles on the first 100 points, in the session that is watched."""
    session = tilefold.Session(tilefold.Options(threads=THREADS))
    formula = tilefold.compile(TEXT, session=session)
    few = {name: getattr(problem, name)[:100] for name in "xyb"}
    formula(few, l=problem.length, session=session)

    def run() -> Measured:
        before = _ticks()
        start = time.perf_counter()
        result = formula(problem.arguments, session=session)
        seconds = time.perf_counter() - start
        used = {
            task: ticks - before.get(task, 0)
            for task, ticks in _ticks().items()
        }
        working = sum(ticks >= TICKS for ticks in used.values())
        return Measured(result, seconds, {"threads": working})

    return run


def _ticks() -> dict[str, int]:
    """User time of each thread of this process."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        words = (task / "stat").read_text().rpartition(")")[2].split()
        found[task.name] = int(words[11])
    return found
