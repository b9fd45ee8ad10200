# bench/tasks/parts/tilefold_parts.py - states of chunks, merged.
"""tilefold.Reduction, in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.parts.task import CHUNK

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """A state for each chunk, merged at the end."""
    reduction = tilefold.Reduction(problem.text)
    x, y, b, total = problem.x, problem.y, problem.b, len(problem.y)

    def run() -> Any:
        states = [
            reduction.partial(
                x=x,
                y=y[at : at + CHUNK],
                b=b[at : at + CHUNK],
                l=problem.length,
                j=(at, total),
            )
            for at in range(0, total, CHUNK)
        ]
        whole = reduction.merge(*states)
        return reduction.finalise(whole, x=x, l=problem.length)

    return run
