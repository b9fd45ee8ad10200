# bench/tasks/diag/tilefold.py - Kernel.diag().
"""tilefold, K.diag()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.diag.task import DiagonalProblem

PACKAGES = ("tilefold",)


def prepare(problem: DiagonalProblem) -> Callable[[], Any]:
    """Compiles on the first 100 points."""
    arrays = problem.arrays
    first = {name: array[:100] for name, array in arrays.items()}
    tilefold.kernel(problem.text, **first, l=problem.length).diag()
    return tilefold.kernel(problem.text, **arrays, l=problem.length).diag
