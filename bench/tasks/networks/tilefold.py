# bench/tasks/networks/tilefold.py - the formula as one writes it.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.formula_run import FormulaRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.networks import NetworkProblem

PACKAGES = ("tilefold",)


def prepare(problem: NetworkProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    few = {**problem.arrays, "x": problem.arrays["x"][:8]}
    return FormulaRun(problem.text, problem.arrays, few)
