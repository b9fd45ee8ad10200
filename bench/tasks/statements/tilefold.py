# bench/tasks/statements/tilefold.py - one formula for all sizes.
"""tilefold, from Python."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.case import Measured, Wrong
from bench.statements import calls_in_turn

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.statements import StatementProblem

PACKAGES = ("tilefold",)


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """f(x=x), as in a loop of a user."""
    return compiled_once(problem, lambda formula, x: partial(formula, x=x))


def compiled_once(
    problem: StatementProblem, call_of: Callable[[Any, Any], Callable[[], Any]]
) -> Callable[[], Measured]:
    """The calls that `call_of` makes of the formula and each array.

    In a session that keeps nothing on disk, so that compiles are counted.
    """
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    formula = tilefold.compile(problem.text, session=session)
    timed = calls_in_turn([call_of(formula, x) for x in problem.arrays])

    def run() -> Measured:
        measured = timed()
        if (compiles := session.stats().compiles) != 1:
            raise Wrong(f"{compiles} compiles for {len(problem.arrays)} sizes")
        return measured

    return run
