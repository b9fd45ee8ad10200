# bench/tasks/batches/tilefold.py - a leading dimension of every array.
"""tilefold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.points import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.batches.task import BatchProblem

PACKAGES = ("tilefold",)


def prepare(problem: BatchProblem) -> Callable[[], Any]:
    """Compiles on the first 8 batches; b has one component."""
    formula = tilefold.compile(TEXT)
    arrays = {**problem.arrays, "b": problem.arrays["b"][..., None]}
    few = {name: array[:8] for name, array in arrays.items()}
    formula(few, l=problem.length)
    return partial(formula, **arrays, l=problem.length)
