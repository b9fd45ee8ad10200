# bench/tasks/statements/tilefold_cpp.py - the C++ interface, bound calls.
"""tilefold, from C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.calls_library import BoundCalls
from bench.case import Measured, Wrong
from bench.statements import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.statements import StatementProblem


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """Each array is bound once; a call is Bound::run."""
    calls = BoundCalls(problem.text, problem.arrays)
    if calls.compiles != 1:
        raise Wrong(f"{calls.compiles} compiles for all sizes")

    def rounds(count: int) -> Any:
        return calls.run(count)

    return in_turn(rounds)
