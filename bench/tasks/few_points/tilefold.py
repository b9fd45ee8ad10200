# bench/tasks/few_points/tilefold.py - the formula for any sizes.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.formula_run import FormulaRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Compiles in a whole call: shapes of one row may choose the kernel."""
    return FormulaRun(problem.text, problem.arguments)
