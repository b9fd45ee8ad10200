# tests/python/test_rooflines.py - the hand-written kernels at awkward sizes.
"""Every kernel of bench/roofline around the sizes of its vectors, tiles and
panels, with limits, and with the same bits on any number of threads."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench import roofline_library
from bench.machine import describe
from bench.native import build_roofline
from bench.roofline_library import (
    SCORES_AS_FAST,
    SCORES_OF_FLOAT,
    SCORES_OF_PAIRS,
    call,
)

HAS_AVX512 = {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(
    describe()["isa"]
)
pytestmark = pytest.mark.skipif(
    not HAS_AVX512, reason="the kernels are for AVX-512"
)
SCORES = [SCORES_AS_FAST, SCORES_OF_FLOAT]
if "avx512_bf16" in describe()["isa"]:
    SCORES.append(SCORES_OF_PAIRS)
SIZES = [(1, 1), (15, 17), (16, 63), (17, 64), (47, 65), (49, 255), (65, 257)]
SIZES += [(128, 513), (300, 2049)]


@pytest.fixture(scope="module")
def library():
    assert build_roofline() == ""
    return roofline_library.load()


def clouds(n, m, d=3):
    random = np.random.default_rng(n + m + d)
    x = random.random((n, d), np.float32)
    return x, random.random((m, d), np.float32)


def squares(x, y):
    return ((x[:, None].astype(np.float64) - y) ** 2).sum(-1)


def outcome(library, name, out, *arguments, options=()):
    """The result; the same bits with 1, 2, 3 and 8 threads."""
    results = []
    for threads in (1, 2, 3, 8):
        call(library, name, *arguments, out, *options, ctypes.c_int(threads))
        results.append(out.copy())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    return results[0]


def wide(library, x, y, b, length=0.5):
    out = np.full((len(x), b.shape[1]), -1, np.float32)
    sizes = (len(x), len(y), b.shape[1])
    return outcome(library, "wide_f32", out, *sizes, x, y, b, length)


def attention(library, q, k, v):
    out = np.full((len(q), v.shape[1]), -1, np.float32)
    sizes = (len(q), len(k), q.shape[1], v.shape[1])
    return outcome(library, "attention_f32", out, *sizes, q, k, v)


def logsumexp(library, x, y):
    out = np.full(len(x), -1, np.float32)
    return outcome(library, "logsumexp_f32", out, len(x), len(y), x, y)


def extreme(library, name, x, y):
    kind = np.int64 if name == "argmin" else np.float32
    sizes = (len(x), len(y), x.shape[1])
    out = np.full(len(x), -1, kind)
    return outcome(library, f"{name}_f32", out, *sizes, x, y)


def nearest(library, x, y, count):
    out = np.full((len(x), count), -1, np.int64)
    sizes = (len(x), len(y), x.shape[1], count)
    return outcome(library, "nearest_f32", out, *sizes, x, y)


def batches(library, x, y, b):
    out = np.full(x.shape[:2], -1, np.float32)
    sizes = (len(x), x.shape[1], y.shape[1])
    return outcome(library, "batches_f32", out, *sizes, x, y, b, 0.5)


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("columns", [1, 8, 13])
def test_wide(library, n, m, columns):
    x, y = clouds(n, m)
    b = np.random.default_rng(1).random((m, columns), np.float32)
    exact = np.exp(-2 * squares(x, y)) @ b
    np.testing.assert_allclose(wide(library, x, y, b), exact, rtol=2e-6)


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize(("d", "e"), [(1, 1), (5, 9), (64, 64)])
@pytest.mark.parametrize("size", [1, 30])
def test_attention(library, n, m, d, e, size):
    random = np.random.default_rng(2)
    q, k, v = (
        random.standard_normal(shape, np.float32)
        for shape in ((n, d), (m, d), (m, e))
    )
    q *= size
    scores = q.astype(np.float64) @ k.T.astype(np.float64) / d**0.5
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    errors = np.abs(attention(library, q, k, v) - weights @ v)
    # A score of 30² is off by some 2^-24 of that.
    assert (errors / (weights @ np.abs(v))).max() < 2e-6 * max(1, size)


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("scores", SCORES)
def test_attention_of_bfloat16(library, n, m, scores):
    random = np.random.default_rng(2)
    q, k, v = (
        random.integers(-8, 8, (rows, 6)).astype(np.float32) / 4
        for rows in (n, m, m)
    )
    halves = map(roofline_library.bits_of_bfloat16, (q, k, v))
    arguments = (n, m, 6, 6, *halves)
    out = np.full(q.shape, -1, np.float32)
    name = "attention_bf16"
    result = outcome(library, name, out, *arguments, options=(scores,))
    scores = q.astype(np.float64) @ k.T.astype(np.float64) / 6**0.5
    weights = np.exp(scores)
    exact = weights @ v / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(result, exact, rtol=1e-6, atol=1e-6)


def test_attention_raises_its_reference_when_scores_grow(library):
    """Each panel of keys has scores far above those before it."""
    m = 1000
    k = np.linspace(-300, 300, m, dtype=np.float32)[:, None]
    v = np.arange(m, dtype=np.float32)[:, None]
    q = np.array([[1], [-1], [0], [20], [-20]], np.float32)
    scores = q.astype(np.float64) @ k.T.astype(np.float64)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    exact = weights @ v / weights.sum(1, keepdims=True)
    result = attention(library, q, k, v)
    np.testing.assert_allclose(result, exact, rtol=1e-4)


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("spread", [1, 40, 3000])
def test_logsumexp(library, n, m, spread):
    x, y = (cloud * np.float32(spread) for cloud in clouds(n, m))
    scores = -squares(x, y) / 2
    most = scores.max(1, keepdims=True)
    exact = np.log(np.exp(scores - most).sum(1)) + most[:, 0]
    result = logsumexp(library, x, y)
    np.testing.assert_allclose(result, exact, rtol=1e-6, atol=1e-6)


def test_logsumexp_raises_its_reference_when_points_come_near(library):
    y = np.zeros((5000, 3), np.float32)
    y[:, 0] = np.linspace(500, 0, 5000)
    x = np.zeros((3, 3), np.float32)
    exact = np.log(np.exp(-squares(x, y) / 2).sum(1))
    np.testing.assert_allclose(logsumexp(library, x, y), exact, rtol=1e-6)


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 17])
def test_argmin_max_and_nearest(library, n, m, d):
    x, y = clouds(n, m, d)
    exact = squares(x, y)
    np.testing.assert_allclose(
        extreme(library, "max", x, y), exact.max(1), rtol=1e-6
    )
    places = extreme(library, "argmin", x, y)[:, None]
    for count, found in [(1, places)] + [
        (k, nearest(library, x, y, k)) for k in (1, 10, 16) if k <= m
    ]:
        assert (np.sort(found)[:, 1:] != np.sort(found)[:, :-1]).all()
        least = np.sort(exact)[:, :count]
        there = np.take_along_axis(exact, found, 1)
        np.testing.assert_allclose(there, least, rtol=3e-6, atol=1e-9)


def test_ties_go_to_the_first(library):
    x, y = np.zeros((70, 3), np.float32), np.ones((500, 3), np.float32)
    assert (extreme(library, "argmin", x, y) == 0).all()
    assert (nearest(library, x, y, 12) == np.arange(12)).all()
    y[[3, 77, 400]] = 0
    assert (extreme(library, "argmin", x, y) == 3).all()
    assert (nearest(library, x, y, 5) == [3, 77, 400, 0, 1]).all()


@pytest.mark.parametrize("n", [1, 15, 16, 17, 30, 32, 33, 50])
@pytest.mark.parametrize("m", [1, 30, 31, 256, 257])
def test_batches(library, n, m):
    random = np.random.default_rng(3)
    x = random.random((5, n, 3), np.float32)
    y = random.random((5, m, 3), np.float32)
    b = random.random((5, m), np.float32)
    exact = [
        np.exp(-2 * squares(*xy)) @ c for *xy, c in zip(x, y, b, strict=True)
    ]
    np.testing.assert_allclose(batches(library, x, y, b), exact, rtol=2e-6)


def test_nan_and_infinity(library):
    x, y = clouds(40, 100)
    x[7, 1], x[9, 0] = np.nan, np.inf
    ones = np.ones((100, 3), np.float32)
    for result in (
        wide(library, x, y, ones)[:, 0],
        batches(library, x[None], y[None], ones[None, :, 0])[0],
    ):
        assert np.isnan(result[7])
        assert result[9] == 0
        assert np.isfinite(np.delete(result, 7)).all()
    result = logsumexp(library, x, y)
    assert np.isnan(result[7])
    assert result[9] == -np.inf
    assert np.isfinite(np.delete(result, [7, 9])).all()
    q = np.ones((50, 4), np.float32)
    q[7] = np.nan
    result = attention(library, q, q[10:], q[10:])
    assert np.isnan(result[7]).all()
    np.testing.assert_allclose(np.delete(result, 7, 0), 1)
    y[60, 2] = np.nan
    assert (extreme(library, "argmin", x[:5], y) == 60).all()
    assert np.isnan(extreme(library, "max", x[:5], y)).all()
    assert (nearest(library, x[:5], y, 16) != 60).all()
    assert nearest(library, x[:1], y[55:71], 16)[0, -1] == 5


def test_refusals(library):
    x, y = clouds(4, 5)
    with pytest.raises(RuntimeError, match="returned 1"):
        nearest(library, x, y, 6)
    with pytest.raises(RuntimeError, match="returned 1"):
        extreme(library, "max", x, y[:0])
