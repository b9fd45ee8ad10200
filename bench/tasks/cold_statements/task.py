# bench/tasks/cold_statements/task.py - the first call of thirty statements.
"""From the call to its result for the chain of thirty statements of the
sweep, an array (4, 16) and an empty cache, in a process that has compiled
another formula before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.case import Case
from bench.goals import at_most
from bench.statements import StatementProblem

TITLE = "Cold compile of thirty statements"
TABLE = "times"
COUNT = 30


@dataclass(frozen=True)
class ColdStatements(StatementProblem):
    """The first array of the sweep alone; a result is its sum."""

    @property
    def arguments(self) -> dict[str, Any]:
        """As tilefold takes them."""
        return {"x": self.arrays[0]}


def _make(_: bool) -> ColdStatements:
    return ColdStatements(COUNT)


CASES = [
    Case(
        name="cold_statements",
        title="first call of 30 statements, float32",
        problem=_make,
        tolerance=1e-6,
        goals=(
            at_most(
                "first call of a new formula",
                "tilefold/seconds/median",
                25,
                1e3,
                " ms",
            ),
        ),
    )
]
