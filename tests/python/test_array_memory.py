# tests/python/test_array_memory.py - memory of large results.
"""It is handed on from result to result, of the same size only, and never
while an array still has it.
"""

from __future__ import annotations

import gc
import multiprocessing
import threading
from pathlib import Path

import numpy as np
import pytest

import tilefold

MANY = 9_000_000  # 36 MB of float32
PAGE = 2 << 20


def doubled(count: int = MANY, start: float = 1) -> np.ndarray:
    x = np.full(count, start, "float32")
    return tilefold.reduce("2*x_i", x=x)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def resident_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if "VmRSS" in line)
    return int(line.split()[1]) * 1024


def test_memory_of_a_result_that_is_gone_is_taken_again() -> None:
    first = doubled()
    place = address(first)
    del first
    second = doubled(start=2)
    assert address(second) == place
    np.testing.assert_array_equal(second, np.float32(4))


def test_memory_of_a_result_that_is_there_is_not() -> None:
    first = doubled()
    part = first[1000:1004]
    second = doubled(start=2)
    del first
    third = doubled(start=3)
    places = {address(array) // PAGE for array in (part, second, third)}
    assert len(places) == 3
    np.testing.assert_array_equal(part, 2)
    np.testing.assert_array_equal(second, 4)
    np.testing.assert_array_equal(third, 6)


def test_results_of_another_size_have_memory_of_their_own() -> None:
    del_me = doubled()
    place = address(del_me)
    del del_me
    assert address(doubled(2 * MANY)) != place


def test_a_result_is_an_array_like_any_other() -> None:
    result = doubled()
    assert result.flags.owndata
    assert result.flags.writeable
    assert result.base is None
    result.resize(MANY + 1000, refcheck=False)
    np.testing.assert_array_equal(result[:MANY], 2)
    np.testing.assert_array_equal(result[MANY:], 0)
    result.resize(5, refcheck=False)
    np.testing.assert_array_equal(result, 2)
    copy = np.copy(doubled())
    np.testing.assert_array_equal(copy, 2)


def test_other_arrays_are_numpys_own() -> None:
    """Also those made after a large result."""
    result = doubled()
    get_handler_name = pytest.importorskip(
        "numpy._core.multiarray"
    ).get_handler_name
    assert get_handler_name(result) == "tilefold"
    assert get_handler_name(np.empty(MANY)) == "default_allocator"
    assert get_handler_name(doubled(100)) == "default_allocator"
    assert get_handler_name() == "default_allocator"


def test_little_is_kept() -> None:
    """Of 2 GB at once, 256 MiB at most."""
    for array in [doubled()]:
        del array
    gc.collect()
    before = resident_bytes()
    arrays = [doubled() for _ in range(56)]
    del arrays
    gc.collect()
    assert resident_bytes() < before + 300 * 2**20


def test_threads_do_not_share_it() -> None:
    wrong: list[float] = []

    def work(number: int) -> None:
        for _ in range(5):
            result = doubled(start=number)
            if not (result[:: 1 << 16] == 2 * number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def child(connection) -> None:
    connection.send(float(doubled(start=5).min()))


def test_a_forked_child_has_it_too() -> None:
    kept = doubled()
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=child, args=(there,)
    )
    process.start()
    assert here.poll(60)
    assert here.recv() == 10
    process.join()
    np.testing.assert_array_equal(kept, 2)
