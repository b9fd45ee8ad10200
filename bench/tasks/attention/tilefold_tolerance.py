# bench/tasks/attention/tilefold_tolerance.py - weights of a softmax rounded to
# bfloat16, as others do.
"""tilefold, tolerance 4e-3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.formula_run import FormulaRun

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.attention import AttentionProblem

PACKAGES = ("tilefold",)


def prepare(problem: AttentionProblem) -> Callable[[], Any]:
    """Compiles on the first 8 queries."""
    arguments = problem.arguments
    few = {**arguments, "q": arguments["q"][..., :8, :]}
    options = tilefold.Options(tolerance=4e-3)
    return FormulaRun(problem.text, arguments, few, options)
