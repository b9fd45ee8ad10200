# bench/tasks/parts/dask_processes.py - tilefold.dask on processes.
"""tilefold.dask, processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.dask_tools import chunked, two_processes
from bench.tasks.parts.task import CHUNK

import tilefold.dask

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("dask", "distributed", "tilefold")


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The graph is made in each run."""
    arguments = chunked(problem, CHUNK)
    client = two_processes()

    def run() -> Any:
        result = tilefold.dask.reduce(problem.text, arguments)
        return client.compute(result).result()

    return run
