# bench/tasks/growth/tilefold_100k.py - a hundred times the pairs.
"""tilefold, 10⁵ × 10⁵ points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.tasks.growth.task import repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.tasks.growth.task import GrowthProblem

PACKAGES = ("tilefold",)
NAME = "tilefold_100k"


def prepare(problem: GrowthProblem) -> Callable[[], Measured]:
    """One size of the task's."""
    return repeated(problem, NAME)
