# bench/tasks/call_overhead/tilefold_reduce.py - the formula as text, called.
"""tilefold, reduce(text, x=x, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.points import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The text is looked up each time."""
    x, y, b, length = problem.x, problem.y, problem.b, problem.length
    return lambda: tilefold.reduce(TEXT, x=x, y=y, b=b, l=length)
