# bench/tasks/growth/tilefold.py - where a call begins to be long.
"""tilefold, 10⁴ × 10⁴ points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.tasks.growth.task import repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.tasks.growth.task import GrowthProblem

PACKAGES = ("tilefold",)
NAME = "tilefold"


def prepare(problem: GrowthProblem) -> Callable[[], Measured]:
    """One size of the task's."""
    return repeated(problem, NAME)
