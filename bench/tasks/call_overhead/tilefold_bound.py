# bench/tasks/call_overhead/tilefold_bound.py - bound once, called often.
"""tilefold, f.bind(x=x, …)()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.points import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """For arrays that are changed in place; so is the result."""
    bound: Callable[[], Any] = tilefold.compile(TEXT).bind(**problem.arguments)
    return bound
