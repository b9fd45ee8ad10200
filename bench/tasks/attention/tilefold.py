# bench/tasks/attention/tilefold.py - attention as a reduction.
"""tilefold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.tasks.attention.task import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.attention.task import AttentionProblem

PACKAGES = ("tilefold",)


def prepare(problem: AttentionProblem) -> Callable[[], Any]:
    """Compiles on the first 8 queries."""
    formula = tilefold.compile(TEXT)
    formula({**problem.arrays, "q": problem.arrays["q"][:8]})
    return partial(formula, **problem.arrays)
