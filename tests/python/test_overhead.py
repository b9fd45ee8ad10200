# tests/python/test_overhead.py - what one small call costs in all.
from __future__ import annotations

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN, additions, cost

# In additions of small NumPy arrays: 12 are the aim of 6 µs; the rest is room
# for a busy machine.
LIMIT = 22


@pytest.mark.timing
def test_a_small_call_takes_microseconds(points):
    f = tilefold.compile(GAUSSIAN)
    x, y, b = points.x, points.y, points.b
    bind = {"x": x, "y": y, "b": b, "l": 0.5}
    assert additions(lambda: f(**bind), LIMIT) <= LIMIT
    assert additions(lambda: tilefold.reduce(GAUSSIAN, **bind), LIMIT) <= LIMIT


@pytest.mark.timing
def test_a_small_call_with_tensors_takes_microseconds(points):
    torch = pytest.importorskip("torch")
    f = tilefold.compile(GAUSSIAN)
    x, y, b = (torch.tensor(a) for a in (points.x, points.y, points.b))
    assert additions(lambda: f(x=x, y=y, b=b, l=0.5), LIMIT) <= LIMIT


@pytest.mark.timing
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kernels_that_underflow_are_no_slower(dtype):
    """A narrow Gaussian of which most pairs are below the smallest number."""
    x = np.random.default_rng(0).random((4000, 3)).astype(dtype)
    f = tilefold.compile("sum_j exp(-|x_i - x_j|²/2l²)")
    assert cost(lambda: f(x=x, l=0.02), 1) < 3 * cost(lambda: f(x=x, l=1), 1)


def test_results_below_the_smallest_normal_number_are_0():
    x = np.array([1e-20, 1e-15], np.float32)
    product = tilefold.reduce("sum_j x_i*x_j", x=x[:1])
    assert product == 0
    assert tilefold.reduce("x_i*3", x=np.array([1e-38], np.float32))[0] > 0
