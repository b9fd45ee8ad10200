# bench/tasks/batches/tilefold.py - a leading dimension of every array.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.formula_run import FormulaRun
from bench.points import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.batches.task import BatchProblem

PACKAGES = ("tilefold",)


def prepare(problem: BatchProblem) -> Callable[[], Any]:
    """Compiles on the first 8 batches; b has one component."""
    few = {k: array[:8] for k, array in problem.arrays.items()}
    return FormulaRun(TEXT, problem.arguments, problem.arguments_of(few))
