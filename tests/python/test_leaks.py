# tests/python/test_leaks.py - memory stays flat over many calls and formulas.
from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN

PAGE = 4096


def resident() -> int:
    """Bytes of memory in use."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def growth(work, times: int) -> int:
    """Bytes gained by `times` more calls, after as many to warm up."""
    for _ in range(times):
        work()
    before = resident()
    for _ in range(times):
        work()
    return resident() - before


def test_calls_keep_nothing(points):
    f = tilefold.compile(GAUSSIAN)
    arguments = points.arguments
    assert growth(lambda: f(arguments), 50_000) < 1 << 20


def test_references_are_given_back(points):
    f = tilefold.compile(GAUSSIAN)
    arguments = points.arguments
    counts = [sys.getrefcount(value) for value in arguments.values()]
    for _ in range(1000):
        f(arguments)
    assert counts == [sys.getrefcount(value) for value in arguments.values()]


def test_refused_calls_keep_nothing(points):
    f = tilefold.compile(GAUSSIAN)
    arguments = points.arguments | {"b": np.zeros(61)}

    def work():
        with pytest.raises(tilefold.ShapeError):
            f(arguments)

    assert growth(work, 5000) < 1 << 20


def test_formulas_are_freed_with_their_session():
    def work():
        session = tilefold.Session(
            tilefold.Options(cache_directory="", threads=1)
        )
        for number in range(10):
            text = f"{number} + sum_j exp(-|x_i - y_j|²)"
            tilefold.compile(text, session=session)

    assert growth(work, 100) < 2 << 20


def test_compiled_kernels_are_freed_with_their_session(points):
    def work():
        session = tilefold.Session(
            tilefold.Options(cache_directory="", threads=1)
        )
        for power in range(2, 12):
            text = f"sum_j |x_i - y_j|^{power}"
            tilefold.reduce(text, x=points.x, y=points.y, session=session)
        assert session.stats().compiles == 10

    assert growth(work, 10) < 2 << 20


def test_kernels_are_freed(points):
    def work():
        kernel = tilefold.kernel(
            "exp(-|x-y|²/2l²)", x=points.x, y=points.y, l=0.5
        )
        kernel @ points.b

    assert growth(work, 2000) < 1 << 20


def test_results_hold_no_argument_alive(points):
    x = points.x.copy()
    out = tilefold.reduce(GAUSSIAN, points.arguments | {"x": x})
    assert sys.getrefcount(x) == 2
    assert out.base is None
