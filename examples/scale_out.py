# examples/scale_out.py - what a reduction costs on 1 to 10,000 workers:
# measured on one and two, simulated beyond.
"""Bytes moved and time against the number of workers.

A worker computes the state of its own points, which takes pairs / rate. States
of `rows × slots × 8` bytes then go up a tree of eight branches. That is all
that moves but the rows themselves, which go to each worker once.

The rate of pairs, and what a call and a merge take, are measured here; the
network is assumed: 10 Gbit/s and 0.5 ms a message.

Usage: python examples/scale_out.py
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

GAUSSIAN = tilefold.Reduction("sum_j exp(-|x_i - y_j|²) b_j")
BRANCHES = 8
BYTES_A_SECOND, SECONDS_A_MESSAGE = 10e9 / 8, 0.5e-3
WORKERS = [1, 2, 8, 32, 128, 512, 2048, 10_000]


@dataclass(frozen=True)
class Measured:
    """Of one worker with one thread."""

    pairs_a_second: float
    merge_seconds: float  # of two states
    state_bytes: int
    row_bytes: int


def points(count: int, rows: int) -> dict[str, np.ndarray]:
    """Random points and weights, float32."""
    random = np.random.default_rng(1)
    return {
        "x": random.random((rows, 3), np.float32),
        "y": random.random((count, 3), np.float32),
        "b": random.random(count, np.float32),
    }


def seconds(run: Callable[[], Any], repeats: int = 3) -> float:
    """The fastest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def measured(rows: int, count: int = 2**17) -> Measured:
    """The rate of pairs on one thread, and what a merge takes."""
    session = tilefold.Session(options=tilefold.Options(threads=1))
    formula = tilefold.compile(GAUSSIAN.formula.text, session=session)
    alone = tilefold.Reduction(formula)
    given = points(2 * count, rows)
    halves = [
        {"x": given["x"], "y": given["y"][part], "b": given["b"][part]}
        for part in (slice(0, count), slice(count, None))
    ]
    states = [
        alone.partial(half, j=(k * count, 2 * count))
        for k, half in enumerate(halves)
    ]
    run = seconds(lambda: alone.partial(halves[0], j=(0, 2 * count)))
    merge = seconds(lambda: alone.merge(*states))
    row_bytes = given["x"].nbytes
    return Measured(rows * count / run, merge, states[0].nbytes, row_bytes)


def simulated(worker: Measured, pairs: float, workers: int) -> float:
    """Seconds: to send the rows, to compute, and to merge up the tree."""
    levels = math.ceil(math.log(workers, BRANCHES) - 1e-9)
    message = SECONDS_A_MESSAGE + worker.state_bytes / BYTES_A_SECOND
    level = (BRANCHES - 1) * (message + worker.merge_seconds)
    rows = SECONDS_A_MESSAGE + worker.row_bytes / BYTES_A_SECOND
    send = levels * (BRANCHES - 1) * rows  # down a tree like it
    return send + pairs / worker.pairs_a_second / workers + levels * level


def moved(worker: Measured, workers: int) -> float:
    """Bytes that go over the network."""
    return (workers - 1) * float(worker.state_bytes + worker.row_bytes)


def on_processes(workers: int, rows: int, count: int) -> float:
    """Seconds on as many processes of Dask, of one thread each."""
    import dask.array as da
    from distributed import Client, LocalCluster

    import tilefold.dask

    random = da.random.default_rng(1)
    y = random.random((count, 3), chunks=(2**17, -1), dtype="f4")
    b = random.random(count, chunks=2**17, dtype="f4")
    x = points(0, rows)["x"]
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        y, b = client.persist([y, b])  # each worker makes its own points
        lazy = tilefold.dask.reduce(GAUSSIAN.formula, x=x, y=y, b=b)
        return seconds(lambda: client.compute(lazy).result())


def main(rows: int = 4000, count: int = 2**21, total: float = 1e9) -> None:
    """Prints both tables."""
    worker = measured(rows)
    print(f"one thread: {worker.pairs_a_second / 1e9:.2f} G pairs/s")
    print("workers   measured  simulated   (2²¹ points)")
    for workers in (1, 2):
        took = on_processes(workers, rows, count)
        model = simulated(worker, rows * float(count), workers)
        print(f"{workers:7} {took:9.2f} s {model:8.2f} s")
    print(f"workers      time  efficiency     moved   ({total:.0e} points)")
    alone = simulated(worker, rows * total, 1)
    for workers in WORKERS:
        took = simulated(worker, rows * total, workers)
        share = alone / took / workers
        size = moved(worker, workers) / 2**20
        print(f"{workers:7} {took:8.2f} s {share:10.0%} {size:8.1f} MiB")


if __name__ == "__main__":
    main()
