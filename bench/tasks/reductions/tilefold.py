# bench/tasks/reductions/tilefold.py - a formula for each.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.neighbors import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.reductions.task import ReductionProblem

PACKAGES = tilefold.PACKAGES


def prepare(problem: ReductionProblem) -> Callable[[], Any]:
    """The same call with another text."""
    return tilefold.prepare(problem)
