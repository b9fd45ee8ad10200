# bench/tasks/parts/tilefold.py - one call.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.formula_run import FormulaRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    few = {**problem.arguments, "x": problem.x[:8]}
    return FormulaRun(problem.text, problem.arguments, few)
