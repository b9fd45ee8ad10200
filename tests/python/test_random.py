# tests/python/test_random.py - rand and randn against Philox4x32-10 written
# in NumPy, bit for bit, wherever a formula may ask for them.
from __future__ import annotations

import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE

MASK = np.uint64(0xFFFFFFFF)
# Random123's known answers: counter and key words, low first, and the result.
KNOWN = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    (
        [0xFFFFFFFF] * 4,
        [0xFFFFFFFF] * 2,
        [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
    ),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def philox(counter, key):
    """Four words; counters and keys are arrays of 32-bit words, low first."""
    x = [np.asarray(word, np.uint64) for word in counter]
    k = [np.asarray(word, np.uint64) for word in key]
    for _ in range(10):
        a = x[0] * np.uint64(0xD2511F53)
        b = x[2] * np.uint64(0xCD9E8D57)
        high = np.uint64(32)
        x = [
            (b >> high) ^ x[1] ^ k[0],
            b & MASK,
            (a >> high) ^ x[3] ^ k[1],
            a & MASK,
        ]
        k = [
            (k[0] + np.uint64(0x9E3779B9)) & MASK,
            (k[1] + np.uint64(0xBB67AE85)) & MASK,
        ]
    return x


def words(number):
    bits = np.asarray(number, np.int64).view(np.uint64)
    return [bits & MASK, bits >> np.uint64(32)]


def uniforms(seed, i, j):
    """The two numbers in [0, 1) that rand and randn are made of."""
    found = philox([*words(i), *words(j)], words(seed))
    return [(word >> np.uint64(8)) * 2.0**-24 for word in found[:2]]


def rand(seed, i, j):
    return uniforms(seed, i, j)[0]


def randn(seed, i, j):
    u, v = uniforms(seed, i, j)
    return np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)


def points(n, dtype=np.float64):
    return np.linspace(0, 1, n).astype(dtype)


def wide(words_low_first):
    low, high = words_low_first
    return np.array([high << 32 | low], np.uint64).view(np.int64)


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_known_answers(counter, key, result):
    assert [int(word) for word in philox(counter, key)] == result
    found = tilefold.reduce(
        "rand(s_i, a_i, b_i)",
        s=wide(key),
        a=wide(counter[:2]),
        b=wide(counter[2:]),
    )
    assert found[0] == (result[0] >> 8) * 2.0**-24


SHAPES = [(1, 1), (5, 3), (33, 70), (200, 300)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_every_entry_gives_these_bits(dtype, n, m):
    i, j = np.arange(n)[:, None], np.arange(m)[None, :]
    expected = rand(7, i, j)
    kernel = tilefold.kernel(
        "rand(7, i, j) + 0*(x_i*y_j)", x=points(n, dtype), y=points(m, dtype)
    )
    np.testing.assert_array_equal(kernel.dense(), expected)
    np.testing.assert_array_equal(kernel.T.dense(), expected.T)
    np.testing.assert_array_equal(kernel.max(1), expected.max(1))
    np.testing.assert_array_equal(kernel.argmin(0), expected.argmin(0))
    np.testing.assert_allclose(kernel.sum(1), expected.sum(1), rtol=1e-6)
    rows = np.arange(n)[::-2]
    np.testing.assert_array_equal(kernel[rows].dense(), expected[rows])
    np.testing.assert_array_equal(kernel[:, m - 1], expected[:, m - 1])
    if n == m:
        np.testing.assert_array_equal(kernel.diag(), np.diag(expected))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("isa", PORTABLE)
def test_threads_and_instruction_sets_change_nothing(threads, isa):
    session = tilefold.Session(tilefold.Options(isa=isa, threads=threads))
    found = tilefold.reduce(
        "0*x_i + max_j where(rand(s, i, j) < 0.9, rand(s, j, i) + 0*x_j, 0)",
        x=points(500),
        s=np.int64(-(2**62)),
        session=session,
    )
    i, j = np.arange(500)[:, None], np.arange(500)[None, :]
    seed = -(2**62)
    expected = np.where(rand(seed, i, j) < 0.9, rand(seed, j, i), 0).max(1)
    np.testing.assert_array_equal(found, expected)


def test_counters_are_any_whole_numbers():
    labels = np.array([3, -1, 2**62 + 1, 0], np.int64)
    kernel = tilefold.kernel(
        "rand(s, l_i, 1000*j + 3) + 0*y_j", l=labels, y=points(6), s=5
    )
    j = 1000 * np.arange(6)[None, :] + 3
    np.testing.assert_array_equal(kernel.dense(), rand(5, labels[:, None], j))
    floats = tilefold.reduce("rand(1, x_i, 0)", x=np.array([0.0, 4, -7]))
    np.testing.assert_array_equal(floats, rand(1, np.array([0, 4, -7]), 0))


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        (np.float64, [0.5, np.nan, np.inf, 2.0**53, -1e300]),
        (np.float32, [0.5, np.nan, -np.inf, 2.0**24]),
    ],
)
def test_what_is_no_whole_number_gives_nan(dtype, numbers):
    x = np.array(numbers, dtype)
    assert np.isnan(tilefold.reduce("rand(1, x_i, 0)", x=x)).all()
    assert np.isnan(tilefold.reduce("randn(x_i, 0, 1)", x=x)).all()


def test_seeds_of_float32_formulas_are_exact():
    x = points(4, np.float32)
    seeds = [2**24, 2**24 + 1, 2**52 + 1]
    for seed in seeds:
        found = tilefold.reduce("rand(s, i, 0) + 0*x_i", x=x, s=seed)
        np.testing.assert_array_equal(found, rand(seed, np.arange(4), 0))


def test_a_gradient_meets_the_same_numbers():
    x, y = points(9), points(8) + 1
    f = tilefold.compile("sum_j where(rand(7, i, j) < 0.6, x_i*y_j, 0)/0.6")
    kept = rand(7, np.arange(9)[:, None], np.arange(8)[None, :]) < 0.6
    np.testing.assert_allclose(
        f(x=x, y=y), (kept * np.outer(x, y)).sum(1) / 0.6
    )
    np.testing.assert_allclose(f.grad("x")(x=x, y=y, grad=1), kept @ y / 0.6)
    np.testing.assert_allclose(f.grad("y")(x=x, y=y, grad=1), kept.T @ x / 0.6)


def test_randn_is_box_and_muller_of_them():
    n, m = 60, 50
    i, j = np.arange(n)[:, None], np.arange(m)[None, :]
    text = "randn(11, i, j) + 0*(x_i*y_j)"
    kernel = tilefold.kernel(text, x=points(n), y=points(m))
    np.testing.assert_allclose(kernel.dense(), randn(11, i, j), atol=1e-14)
    single = [points(k, np.float32) for k in (n, m)]
    kernel = tilefold.kernel(text, x=single[0], y=single[1])
    np.testing.assert_allclose(kernel.dense(), randn(11, i, j), atol=1e-5)
    f = tilefold.compile(f"sum_j ({text})")
    assert f.check(x=points(n), y=points(m)) < 1e-14


def test_the_numbers_are_random():
    """Moments and correlations within 5 standard errors of 2 million pairs."""
    n, m = 2000, 1000
    x, y = points(n), points(m)
    u = tilefold.kernel("rand(1, i, j) + 0*(x_i*y_j)", x=x, y=y).dense()
    z = tilefold.kernel("randn(1, i, j) + 0*(x_i*y_j)", x=x, y=y).dense()
    error = 5 / np.sqrt(n * m)
    assert u.min() >= 0
    assert u.max() < 1
    assert abs(u.mean() - 0.5) < error * np.sqrt(1 / 12)
    assert abs(np.corrcoef(u[1:].ravel(), u[:-1].ravel())[0, 1]) < error
    assert abs(np.corrcoef(u[:, 1:].ravel(), u[:, :-1].ravel())[0, 1]) < error
    counts = np.bincount((u * 64).astype(int).ravel(), minlength=64)
    chi = ((counts - n * m / 64) ** 2).sum() / (n * m / 64)
    assert chi < 63 + 5 * np.sqrt(2 * 63)
    assert abs(z.mean()) < error
    assert abs(z.var() - 1) < error * np.sqrt(2)
    assert abs((z**4).mean() - 3) < error * np.sqrt(96)
