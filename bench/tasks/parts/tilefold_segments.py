# bench/tasks/parts/tilefold_segments.py - one call, by segments.
"""tilefold, by segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The order of sums is that of all parts."""
    reduction = tilefold.Reduction(problem.text)
    reduction({**problem.arguments, "x": problem.x[:8]})

    def run() -> Any:
        return reduction(problem.arguments)

    return run
