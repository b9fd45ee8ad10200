# bench/tasks/call_overhead/tilefold.py - a compiled formula, called.
"""tilefold, f(x=x, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.points import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """As in a loop of a user: keywords each time."""
    f = tilefold.compile(TEXT)
    x, y, b, length = problem.x, problem.y, problem.b, problem.length
    return lambda: f(x=x, y=y, b=b, l=length)
