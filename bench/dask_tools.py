# bench/dask_tools.py - what contenders on Dask share.
"""Chunks of points, and two worker processes."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

import dask.array as da

if TYPE_CHECKING:
    from bench.points import GaussianProblem


def chunked(problem: GaussianProblem, chunk: int) -> dict[str, Any]:
    """The problem's arguments, those of j in chunks."""
    return {
        **problem.arguments,
        "y": da.from_array(problem.y, chunks=(chunk, -1)),
        "b": da.from_array(problem.b, chunks=chunk),
    }


def two_processes() -> Any:
    """A client of two workers of a thread each; they end with the process."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    )
    atexit.register(cluster.close)
    client = Client(cluster)
    atexit.register(client.close)
    return client
