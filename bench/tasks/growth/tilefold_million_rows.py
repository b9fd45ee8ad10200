# bench/tasks/growth/tilefold_million_rows.py - a long result.
"""tilefold, 10⁶ × 30,000 points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.tasks.growth.task import repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.tasks.growth.task import GrowthProblem

PACKAGES = ("tilefold",)
NAME = "tilefold_million_rows"


def prepare(problem: GrowthProblem) -> Callable[[], Measured]:
    """One size of the task's."""
    return repeated(problem, NAME)
