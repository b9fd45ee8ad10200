# tests/python/test_large_divisors.py - quotients of pairs by divisors whose
# reciprocals are flushed to 0.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

N, M = 37, 41
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])


def points(dtype):
    """Numbers near the largest one of the dtype."""
    rng = np.random.default_rng(3)
    largest = np.finfo(dtype).max
    x, b = (rng.uniform(0.3, 0.95, n).astype(dtype) for n in (N, M))
    return (x * largest).astype(dtype), (b * largest).astype(dtype)


def expect(found, wanted, dtype):
    wanted = np.asarray(wanted, np.float64)
    found = np.asarray(found, np.float64)
    tolerance = 2e-6 if dtype == "float32" else 1e-14
    assert np.all(np.abs(found - wanted) <= tolerance * np.abs(wanted))


def quotients(x, b):
    return x[:, None].astype(np.longdouble) / b.astype(np.longdouble)


FORMULAS = {
    "sum_j x_i/b_j": lambda q: q.sum(1),
    "max_i x_i/b_j": lambda q: q.max(0),
    "sum_j x_i/b_j*2": lambda q: 2 * q.sum(1),
    "sum_j exp(-x_i/b_j)": lambda q: np.exp(-q).sum(1),
    "sum_ij x_i/b_j": lambda q: q.sum(),
    "max_j x_i/b_j": lambda q: q.max(1),
    "var_j (x_i/b_j)": lambda q: q.var(1),
    "logsumexp_j x_i/b_j": lambda q: np.log(np.exp(q).sum(1)),
    "sum_j (x_i/b_j)^2": lambda q: (q**2).sum(1),
}


@DTYPES
@pytest.mark.parametrize("text", FORMULAS)
def test_they_are_right(text, dtype):
    x, b = points(dtype)
    wanted = FORMULAS[text](quotients(x, b))
    expect(tilefold.reduce(text, x=x, b=b), wanted, dtype)


@DTYPES
def test_a_number_of_the_call_divides(dtype):
    _, b = points(dtype)
    x = np.linspace(0.1, 1, N).astype(dtype)
    wanted = x * (b.astype(np.longdouble) / b.max()).sum()
    found = tilefold.reduce("sum_j x_i*b_j/s", x=x, b=b, s=b.max())
    expect(found, wanted, dtype)


@DTYPES
@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_added_once(dtype, threads):
    x, b = points(dtype)
    session = tilefold.Session(tilefold.Options(threads=threads))
    formula = tilefold.Formula("sum_j x_i/b_j", session=session)
    out = np.full(N, 3, dtype)
    formula(x=x, b=b, out=out, accumulate=True)
    expect(out, 3 + quotients(x, b).sum(1), dtype)


@DTYPES
def test_kernels_batches_ranges_and_gradients(dtype):
    x, b = points(dtype)
    q = quotients(x, b)
    kernel = tilefold.kernel("x_i/b_j", x=x, b=b)
    expect(kernel.dense(), q, dtype)
    v = np.linspace(-1, 1, M).astype(dtype)
    expect(kernel @ np.abs(v), q @ np.abs(v).astype(np.longdouble), dtype)
    formula = tilefold.Formula("sum_j x_i/b_j")
    several = np.stack([x, x / 2])[:, :, None]
    batched = formula(x=several, b=b)
    expect(batched[:, :, 0], np.stack([q.sum(1), q.sum(1) / 2]), dtype)
    summed = tilefold.reduce("sum_j x_i/b_j", x=several, b=b, sum_batch=0)
    summed = summed[:, 0]
    expect(summed, 1.5 * q.sum(1), dtype)
    # d/dx of sum_i g_i x_i/b_j, with g near the largest number too
    gradient = formula.grad("x")(x=x, b=b, grad=x)
    expect(gradient, q.sum(1), dtype)


@DTYPES
def test_only_such_calls_compile_a_second_kernel(dtype):
    x, b = points(dtype)
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    formula = tilefold.Formula("sum_j exp(-x_i/b_j)", session=session)
    formula(x=x / x.max(), b=b / b.max())
    assert session.stats().compiles == 1
    for _ in range(3):
        formula(x=x, b=b)
    assert session.stats().compiles == 2
