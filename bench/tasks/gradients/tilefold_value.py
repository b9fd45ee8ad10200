# bench/tasks/gradients/tilefold_value.py - what the gradients stand beside.
"""tilefold, the value alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.gradients.task import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.gradients.task import GradientProblem

PACKAGES = ("tilefold",)


def prepare(problem: GradientProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    formula = tilefold.compile(TEXT)
    arrays = problem.arrays
    formula({**arrays, "x": arrays["x"][:8]}, l=problem.length)
    return lambda: formula(arrays, l=problem.length)
