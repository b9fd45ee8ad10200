# tests/python/test_overhead.py - what one small call costs in all.
from __future__ import annotations

import time

import pytest

import tilefold
from conftest import GAUSSIAN

# The aim is 6 µs; the rest is room for a busy machine.
LIMIT = 12e-6


def cost(call, times: int = 2000) -> float:
    """Seconds a call, the best of 20 rounds."""
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - start) / times)
    return best


def test_a_small_call_takes_microseconds(points):
    f = tilefold.compile(GAUSSIAN)
    x, y, b = points.x, points.y, points.b
    assert cost(lambda: f(x=x, y=y, b=b, l=0.5)) < LIMIT
    assert cost(lambda: tilefold.reduce(GAUSSIAN, x=x, y=y, b=b, l=0.5)) < LIMIT


def test_a_small_call_with_tensors_takes_microseconds(points):
    torch = pytest.importorskip("torch")
    f = tilefold.compile(GAUSSIAN)
    x, y, b = (torch.tensor(a) for a in (points.x, points.y, points.b))
    assert cost(lambda: f(x=x, y=y, b=b, l=0.5)) < LIMIT
