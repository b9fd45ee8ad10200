# bench/tasks/gradients/tilefold.py - Formula.grad with the value.
"""tilefold, value and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.tasks.gradients.task import NAMES, TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.gradients.task import GradientProblem

PACKAGES = ("tilefold",)


def prepare(problem: GradientProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    formula = tilefold.compile(TEXT).grad(NAMES, value=True)
    ones = np.ones(problem.n, np.float32)
    arrays = problem.arrays

    def run(rows: int = problem.n) -> Any:
        x = arrays["x"][:rows]
        return formula(
            x=x,
            y=arrays["y"],
            b=arrays["b"],
            l=problem.length,
            grad=ones[:rows],
        )

    run(8)
    return run
