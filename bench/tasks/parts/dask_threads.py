# bench/tasks/parts/dask_threads.py - tilefold.dask on threads.
"""tilefold.dask, threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.dask_tools import chunked
from bench.tasks.parts.task import CHUNK

import tilefold.dask

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("dask", "tilefold")


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The graph is made in each run."""
    arguments = chunked(problem, CHUNK)

    def run() -> Any:
        result = tilefold.dask.reduce(problem.text, arguments)
        return result.compute(scheduler="threads")

    return run
