# tests/python/test_processes.py - forked, spawned and forkserver children.
from __future__ import annotations

import multiprocessing
import subprocess
import sys

import numpy as np
import pytest

import tilefold

METHODS = ["fork", "spawn", "forkserver"]
TEXT = "sum_j exp(-|x_i - x_j|²)"


def compute(size: int) -> bytes:
    """A run large enough for several threads; its bits."""
    x = np.random.default_rng(0).random((size, 3), np.float32)
    return tilefold.reduce(TEXT, x=x).tobytes()


# fork() with threads alive is what is tested.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
@pytest.mark.parametrize("method", METHODS)
def test_children_compute_what_the_parent_does(method, warm):
    if warm:
        compute(4000)
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        results = pool.map_async(compute, [4000] * 4).get(timeout=120)
    assert set(results) == {compute(4000)}


FORKED = """
import os, sys, time
import numpy as np, tilefold
session = tilefold.Session(tilefold.Options(threads=4))
x = np.random.default_rng(0).random((20_000, 3), np.float32)
run = lambda: tilefold.reduce("sum_j exp(-|x_i - x_j|²)", x=x, session=session)
run()
if os.fork() == 0:
    run()
    os._exit(0 if len(os.listdir("/proc/self/task")) >= 4 else 7)
_, status = os.wait()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_forked_child_has_as_many_threads_as_asked():
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=120
    )


def test_a_formula_is_sent_to_a_worker():
    f = tilefold.compile("sum_j x_j")
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(f, ({"x": np.ones(5)},)) == 5


def test_the_default_session_is_made_at_the_first_use():
    program = (
        "import os, tilefold, numpy as np;"
        "before = len(os.listdir('/proc/self/task'));"
        "tilefold.compile('sum_j x_j');"
        "assert len(os.listdir('/proc/self/task')) == before;"
        "assert tilefold.reduce('sum_j x_j', x=np.ones(3)) == 3"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
