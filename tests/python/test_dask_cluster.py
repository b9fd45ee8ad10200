# tests/python/test_dask_cluster.py - formulas over Dask's arrays on workers.
"""The bits of a call in memory, whoever was lost on the way."""

import gc
import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import tilefold

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import tilefold.dask  # noqa: E402
from test_dask import (  # noqa: E402
    GAUSSIAN,
    X,
    Y,
    arrays_of,
    chunked,
    in_memory,
    lazily,
)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    yield from clients_of(distributed)


@pytest.fixture
def doomed_cluster():
    """Of one test: a worker that dies as it starts is not replaced by Dask."""
    distributed = pytest.importorskip("distributed")
    yield from clients_of(distributed)


def clients_of(distributed):
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client
    with warnings.catch_warnings():
        # Sockets of workers that were killed are closed by the collector.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_a_cluster_gives_the_same_bits(cluster):
    arrays = arrays_of(GAUSSIAN)
    result = lazily(GAUSSIAN, chunked(arrays, j=512))
    got = cluster.compute(result).result()
    assert np.array_equal(got, in_memory(GAUSSIAN, arrays))


def test_a_cluster_goes_pass_by_pass(cluster):
    arrays = arrays_of("std_j |x_i - y_j|")
    lazy = chunked(arrays, j=512)
    lazy["y"] = lazy["y"].persist()
    result = lazily("std_j |x_i - y_j|", lazy)
    want = in_memory("std_j |x_i - y_j|", arrays)
    assert np.array_equal(cluster.compute(result).result(), want)
    x = da.from_array(X[:60], chunks=(25, -1))
    K = tilefold.dask.kernel("exp(-|x_i - x_j|²)", x=x)
    found = K.solve(X[:60, 0], ridge=20).compute()
    held = tilefold.kernel("exp(-|x_i - x_j|²)", x=X[:60])
    np.testing.assert_allclose(held @ found + 20 * found, X[:60, 0], atol=1e-5)


def _slowed(block, seconds, folder):
    """Says that it has begun, and takes its time."""
    Path(folder, f"{os.getpid()}-{time.time_ns()}").touch()
    time.sleep(seconds)
    return block


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_killed_worker_changes_no_bit(cluster, tmp_path):
    arrays = chunked(arrays_of(GAUSSIAN), j=512)
    for name in ("y", "b"):
        arrays[name] = arrays[name].map_blocks(
            _slowed,
            seconds=0.1,
            folder=str(tmp_path),
            meta=arrays[name]._meta,
        )
    future = cluster.compute(lazily(GAUSSIAN, arrays))
    deadline = time.monotonic() + 30
    while len(list(tmp_path.iterdir())) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    begun = {int(path.name.split("-")[0]) for path in tmp_path.iterdir()}
    victim = min(begun - {os.getpid()})
    os.kill(victim, signal.SIGKILL)
    got = future.result(timeout=60)
    assert np.array_equal(got, in_memory(GAUSSIAN, arrays_of(GAUSSIAN)))


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_workers_come_and_go(cluster, tmp_path):
    """One killed before; another taken away, and given back, on the way."""
    processes = list(cluster.run(os.getpid).values())
    os.kill(processes[0], signal.SIGKILL)
    arrays = chunked(arrays_of(GAUSSIAN), j=512)
    arrays["y"] = arrays["y"].map_blocks(
        _slowed, seconds=0.1, folder=str(tmp_path), meta=arrays["y"]._meta
    )
    future = cluster.compute(lazily(GAUSSIAN, arrays))
    deadline = time.monotonic() + 30
    while len(list(tmp_path.iterdir())) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    cluster.cluster.scale(1)
    got = future.result(timeout=60)
    cluster.cluster.scale(2)
    cluster.wait_for_workers(2, timeout=60)
    assert np.array_equal(got, in_memory(GAUSSIAN, arrays_of(GAUSSIAN)))


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_workers_killed_twice_change_no_bit(doomed_cluster, tmp_path):
    """The second is one that has taken over from the first."""
    arrays = chunked(arrays_of(GAUSSIAN), j=512)
    arrays["y"] = arrays["y"].map_blocks(
        _slowed, seconds=0.3, folder=str(tmp_path), meta=arrays["y"]._meta
    )
    future = doomed_cluster.compute(lazily(GAUSSIAN, arrays))
    victims = set()
    for _ in range(2):
        deadline = time.monotonic() + 30
        alive = set()
        while not alive and time.monotonic() < deadline:
            time.sleep(0.02)
            begun = {int(p.name.split("-")[0]) for p in tmp_path.iterdir()}
            alive = begun - {os.getpid()} - victims
        assert not future.done()
        victims.add(min(alive))
        os.kill(min(alive), signal.SIGKILL)
        for path in tmp_path.iterdir():
            path.unlink()
    assert len(victims) == 2
    got = future.result(timeout=60)
    assert np.array_equal(got, in_memory(GAUSSIAN, arrays_of(GAUSSIAN)))


def test_threads_are_shared_among_workers(cluster):
    """Nothing of a user's to set: all together take no more than the cores."""
    threads = cluster.run(tilefold.threads.get_num_threads)
    assert sum(threads.values()) <= max(len(os.sched_getaffinity(0)), 2)


def _received(dask_worker):
    """Bytes that a worker was sent by others."""
    return sum(sent["total"] for sent in dask_worker.transfer_incoming_log)


def test_states_are_merged_where_they_are(cluster):
    """Few are sent: those of a worker's chunks follow one another."""
    distributed = pytest.importorskip("distributed")
    x = np.linspace(0.0, 1.0, 20_000)[:, None]
    y = da.random.default_rng(0).standard_normal((32_000, 1), chunks=(1000, 1))
    y = y.persist()
    distributed.wait(y)
    before = sum(cluster.run(_received).values())
    lazy = tilefold.dask.reduce("sum_j x_i·y_j", x=x, y=y, segment=1000)
    got = cluster.compute(lazy).result()
    sent = sum(cluster.run(_received).values()) - before
    assert sent < 8 * 8 * len(x)  # of 32 states, 8 bytes a row
    options = tilefold.Options(segment=1000)
    held = y.compute()
    want = tilefold.reduce("sum_j x_i·y_j", x=x, y=held, options=options)
    assert np.array_equal(got, want)


def _kill(block):
    os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_task_that_kills_its_workers_is_an_error(doomed_cluster, monkeypatch):
    distributed = pytest.importorskip("distributed")
    y = da.from_array(Y, chunks=(2500, -1)).map_blocks(_kill, meta=Y[:0])
    # Each death more is one of a worker that has just been started.
    scheduler = doomed_cluster.cluster.scheduler
    monkeypatch.setattr(scheduler, "allowed_failures", 1)
    future = doomed_cluster.compute(lazily("sum_j x_i·y_j", {"x": X, "y": y}))
    with pytest.raises(distributed.KilledWorker):
        future.result(timeout=60)
