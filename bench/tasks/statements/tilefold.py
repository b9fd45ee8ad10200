# bench/tasks/statements/tilefold.py - one formula for all sizes.
"""tilefold, from Python."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench.case import Measured, Wrong
from bench.statements import calls_in_turn

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.statements import StatementProblem

PACKAGES = ("tilefold",)


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """A session that keeps nothing on disk, so that compiles are counted."""
    options = tilefold.Options(cache_directory="")
    session = tilefold.Session(options)
    formula = tilefold.compile(problem.text, session=session)
    timed = calls_in_turn([partial(formula, x=x) for x in problem.arrays])

    def run() -> Measured:
        measured = timed()
        if (compiles := session.stats().compiles) != 1:
            raise Wrong(f"{compiles} compiles for {len(problem.arrays)} sizes")
        return measured

    return run
