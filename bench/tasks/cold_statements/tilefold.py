# bench/tasks/cold_statements/tilefold.py - a formula in a running process.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.tasks.cold_compile import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.cold import ColdProblem

PACKAGES = tilefold.PACKAGES


def prepare(problem: ColdProblem) -> Callable[[], Measured]:
    """As for the Gaussian sum."""
    return tilefold.prepare(problem)
