# bench/tasks/quantiles/tilefold.py - counted, sweep by sweep.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.quantiles.task import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.quantiles.task import QuantileProblem

PACKAGES = ("tilefold",)


def prepare(problem: QuantileProblem) -> Callable[[], Any]:
    """Compiles for the dtype."""
    x, y = problem.points
    formula = tilefold.compile(TEXT)
    return lambda: formula(x=x, y=y)
