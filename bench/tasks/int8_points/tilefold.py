# bench/tasks/int8_points/tilefold.py - what 8 bits stand beside.
"""tilefold, float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.formula_run import FormulaRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Compiles in a whole call."""
    return FormulaRun(problem.text, problem.arguments)
