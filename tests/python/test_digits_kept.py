# tests/python/test_digits_kept.py - numbers that float32 does not hold.
"""Beside float32, bool and numbers of 16 bits: what counts in float64 stays so.

In one pass and from one pass to the next, where values are ordered, and behind
a reduction over all points. And reductions of terms that are on no axis.
"""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

A, B = np.array([1.0, 2.0]), np.arange(5.0)
SHORT, FACTORS = (
    np.array([30001, 5, 7], np.int16),
    np.array([30001, 1], np.int16),
)
PRODUCTS = np.multiply.outer(SHORT.astype(float), FACTORS)
STEPS, TRUTHS = np.arange(5, dtype=np.int16), np.ones(5, bool)
FLAGS = np.array([0, 1, 0, 1], np.int8)
LARGE = np.array([30000], np.int16)
FLOATS = np.arange(5001, dtype=np.float32)
HALVES = np.array([True, False] * 5)
LONG = np.array([2**53, 2**53 + 1, 2**53])
WHOLE = np.int64(5001)

# Of terms on no axis: as many as there are points of the reduction's own.
OF_NO_AXIS = [
    ("sum_j (sum_j(p))*b_j*a_i", 15 * A * 10, {"p": 3.0}),
    ("sum_j((b_j*a_i)/(sum_j(1)))", 2 * A, {}),
    ("sum_j((b_j*a_i)/(count_j(p < 4)))", 2 * A, {"p": 3.0}),
    ("mean_j(a_i*b_j + (sum_j(p)))", 15 + 2 * A, {"p": 3.0}),
    ("sum_j (prod_j(p))*b_j*a_i", 32 * 10 * A, {"p": 2.0}),
    ("sum_i((b_j*a_i)/(sum_j(p)))", B / 5, {"p": 3.0}),
    ("sum_j (b_j - (sum_j(1)) + 0*(sum_i a_i))", -15.0, {}),
]


@pytest.mark.parametrize(("text", "wanted", "more"), OF_NO_AXIS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reductions_of_terms_on_no_axis(text, wanted, more, dtype):
    found = tilefold.reduce(text, a=A.astype(dtype), b=B.astype(dtype), **more)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_derivatives_of_a_softmax_with_equal_scores():
    formula = tilefold.compile("softmax_j(p, a_i*b_j)")
    gradient = formula.grad("b")(a=A, b=B, p=0.3, grad=np.ones(2))
    np.testing.assert_allclose(gradient, np.full(5, A.sum() / 5))
    moved = formula.jvp("b")(a=A, b=B, p=0.3, tangent=B)
    np.testing.assert_allclose(moved, B.mean() * A)
    alone = tilefold.compile("softmax_j(0, b_j)").grad("b")
    np.testing.assert_allclose(alone(b=B, grad=1.0), np.full(5, 0.2))


SHORTS = {"m": SHORT, "k": FACTORS}
BETWEEN = [
    ("max_j (sum_i m_j*k_i)", PRODUCTS.sum(1).max(), SHORTS),
    (
        "sum_j (m_j*k_i - (max_i (m_j*k_i)))",
        (PRODUCTS - PRODUCTS.max(1, keepdims=True)).sum(0),
        SHORTS,
    ),
    ("std_j (s_j*t_i + 100000000)", np.full(5, 2**0.5), {"s": STEPS}),
    ("nanvar_j (s_j*t_i + 100000000)", np.full(5, 2.0), {"s": STEPS}),
    ("max_j (mean_i (s_i*t_j + 100000000))", 100000002, {"s": STEPS}),
    ("quantile_j(s_j + 100000000, 0.25)", 100000001, {"s": STEPS}),
    ("median_j(s_j*t_i + 100000000)", np.full(5, 100000002), {"s": STEPS}),
]


@pytest.mark.parametrize(("text", "wanted", "arrays"), BETWEEN)
def test_from_one_pass_to_the_next(text, wanted, arrays):
    if "t_" in text:
        arrays = {**arrays, "t": TRUTHS}
    found = tilefold.reduce(text, arrays)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


ORDERED = [
    ("argmax_j (900000000 + n_j)", 1, {}),
    ("argmax_j (a_i*a_i + n_j)", [1], {"a": LARGE}),
    ("argmin_j (a_i*a_i - n_j)", [1], {"a": LARGE}),
    ("argkmin_j(a_i*a_i - n_j, 2)", [[1, 3]], {"a": LARGE}),
    ("kmin_j(a_i*a_i - n_j, 2)", [[9e8 - 1, 9e8 - 1]], {"a": LARGE}),
    ("argmax_j (900000000 + n_j + 0*(f_j < 1))", 1, {"f": FLOATS[:4]}),
]


@pytest.mark.parametrize(("text", "wanted", "more"), ORDERED)
def test_values_are_ordered_as_they_are(text, wanted, more):
    np.testing.assert_array_equal(
        tilefold.reduce(text, n=FLAGS, **more), wanted
    )


BEHIND = [
    ("q*q + (sum_i t_i)", 25010006, {"t": HALVES, "q": WHOLE}),
    ("q*q*(sum_i t_i)", 125050005, {"t": HALVES, "q": WHOLE}),
    (
        "where((sum_i t_i) + q*q == 25010006, 1, 0)",
        1,
        {"t": HALVES, "q": WHOLE},
    ),
    ("exp(-0.25)*(sum_i n_i)", 2 * np.exp(-0.25), {"n": FLAGS}),
    ("N*N - (count_ij(a_i <= a_j))", 12502500, {"a": FLOATS}),
    ("(argmax_j a_j) + 123456789", 123461789, {"a": FLOATS}),
    ("max((argmax_j a_j), 123456789)", 123456789, {"a": FLOATS}),
]


@pytest.mark.parametrize(("text", "wanted", "arrays"), BEHIND)
def test_behind_a_reduction_over_all_points(text, wanted, arrays):
    assert tilefold.reduce(text, arrays) == pytest.approx(wanted, rel=1e-15)


def test_arithmetic_with_extremes_of_64_bits():
    for text, wanted in (
        ("(max_j n_j) - (min_j n_j)", 1),
        ("ptp_j n_j", 1),
        ("(max_j n_j) + 1", 2**53 + 2),
        ("max((max_j n_j), (min_j n_j))", 2**53 + 1),
        ("(sum_j n_j) - (min_j n_j)", 2**54 + 1),
    ):
        assert int(tilefold.reduce(text, n=LONG)) == wanted, text


def test_float32_stays_where_nothing_is_lost():
    """What is common is not computed in float64 for these rules."""
    x = np.random.default_rng(0).random((20, 3), np.float32)
    for text in (
        "median_j |x_i - x_j|",
        "kmin_j(|x_i - x_j|, 3)",
        "var_j |x_i - x_j|",
        "softmax_j(-|x_i - x_j|, x_j)",
        "max_i (mean_j |x_i - x_j|)",
    ):
        assert tilefold.reduce(text, x=x).dtype == np.float32, text


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("start", [1.0, 1e3, 1e5])
@pytest.mark.parametrize(
    "text",
    [
        "exp(-(t_i - s_j)/l)",
        "exp(t_i - s_j)",
        "sigmoid(t_i - s_j)",
        "exp((t_i - s_j)*2 + 1)",
        "exp(-abs(t_i - s_j)/l)",
        "exp(a_i*(t_i - s_j))",
    ],
)
def test_differences_are_taken_before_they_are_scaled(text, start, dtype):
    """No factor, such as log2 e/l, is rounded into both sides."""
    random = np.random.default_rng(0)
    given = {
        "t": (start + random.random(20)).astype(dtype),
        "s": (start + random.random(30)).astype(dtype),
        "a": random.random(20).astype(dtype),
        "l": 0.5,
    }
    given = {
        n: v for n, v in given.items() if f"{n}_" in text or n in text[-3:]
    }
    exact = {n: np.asarray(v, np.longdouble) for n, v in given.items()}
    d = exact["t"][:, None] - exact["s"]
    wanted = {
        "exp(-(t_i - s_j)/l)": lambda: np.exp(-2 * d),
        "exp(t_i - s_j)": lambda: np.exp(d),
        "sigmoid(t_i - s_j)": lambda: 1 / (1 + np.exp(-d)),
        "exp((t_i - s_j)*2 + 1)": lambda: np.exp(2 * d + 1),
        "exp(-abs(t_i - s_j)/l)": lambda: np.exp(-2 * abs(d)),
        "exp(a_i*(t_i - s_j))": lambda: np.exp(exact["a"][:, None] * d),
    }[text]()
    found = tilefold.kernel(text, given).dense()
    errors = np.abs(found / wanted - 1).max()
    assert errors < 4 * np.finfo(dtype).eps
