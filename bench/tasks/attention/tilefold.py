# bench/tasks/attention/tilefold.py - attention as a reduction.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.formula_run import FormulaRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.attention import AttentionProblem

    import tilefold

PACKAGES = ("tilefold",)


def prepare(
    problem: AttentionProblem, options: tilefold.Options | None = None
) -> Callable[[], Any]:
    """Compiles on the first 8 queries."""
    arguments = problem.arguments
    few = {**arguments, "q": arguments["q"][..., :8, :]}
    return FormulaRun(problem.text, arguments, few, options)
