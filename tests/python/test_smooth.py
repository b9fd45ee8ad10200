# tests/python/test_smooth.py - smooth functions have their derivatives
# everywhere: where their formulas have ties or quotients 0/0, and at infinity.
from __future__ import annotations

import mpmath
import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE

mp = mpmath.mp
HALF = mpmath.mpf("0.5")


def gelu(x):
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


# What a row of ops.def or sugar.def is, and where: 0 wherever it is defined.
NEAR_0 = [0.0, 1e-9, -1e-4, 0.03, 0.4, -0.99, 1.01, 2.5]
ABOVE_0 = [1e-3, 0.5, 1.0, 2.5]
ROWS = {
    "exp(a_i)": (mp.exp, NEAR_0),
    "exp2(a_i)": (lambda x: mp.power(2, x), NEAR_0),
    "expm1(a_i)": (mp.expm1, NEAR_0),
    "log(a_i)": (mp.log, ABOVE_0),
    "log2(a_i)": (lambda x: mp.log(x, 2), ABOVE_0),
    "log10(a_i)": (mp.log10, ABOVE_0),
    "log1p(a_i)": (mp.log1p, [0.0, 1e-9, -1e-4, 0.4, 3.0]),
    "sqrt(a_i)": (mp.sqrt, ABOVE_0),
    "rsqrt(a_i)": (lambda x: 1 / mp.sqrt(x), ABOVE_0),
    "inv(a_i)": (lambda x: 1 / x, ABOVE_0),
    "square(a_i)": (lambda x: x * x, NEAR_0),
    "a_i³": (lambda x: x**3, NEAR_0),
    "pow(a_i, 2.0)": (lambda x: x**2, NEAR_0),
    "sin(a_i)": (mp.sin, NEAR_0),
    "cos(a_i)": (mp.cos, NEAR_0),
    "tan(a_i)": (mp.tan, NEAR_0),
    "asin(a_i)": (mp.asin, [0.0, 1e-9, -1e-4, 0.4, -0.9]),
    "acos(a_i)": (mp.acos, [0.0, 1e-9, -1e-4, 0.4, -0.9]),
    "atan(a_i)": (mp.atan, NEAR_0),
    "sinh(a_i)": (mp.sinh, NEAR_0),
    "cosh(a_i)": (mp.cosh, NEAR_0),
    "tanh(a_i)": (mp.tanh, NEAR_0),
    "erf(a_i)": (mp.erf, NEAR_0),
    "erfc(a_i)": (mp.erfc, NEAR_0),
    "sigmoid(a_i)": (lambda x: 1 / (1 + mp.exp(-x)), [*NEAR_0, 40.0, -40.0]),
    "softplus(a_i)": (lambda x: mp.log1p(mp.exp(x)), [*NEAR_0, 40.0, -40.0]),
    "silu(a_i)": (lambda x: x / (1 + mp.exp(-x)), [*NEAR_0, 30.0, -30.0]),
    "gelu(a_i)": (gelu, [*NEAR_0, 5.0, -5.0]),
    "logaddexp(a_i, 0.4)": (
        lambda x: mp.log(mp.exp(x) + mp.exp(mpmath.mpf(0.4))),
        NEAR_0,
    ),
    "sinxdivx(a_i)": (mp.sinc, NEAR_0),
    "sinc(a_i)": (lambda x: mp.sinc(mp.pi * x), NEAR_0),
    "lgamma(a_i)": (mp.loggamma, [0.3, 1.0, 2.0, 2.5]),
    "digamma(a_i)": (mp.digamma, [0.3, 1.0, 2.0, 2.5]),
    "j0(a_i)": (lambda x: mp.besselj(0, x), NEAR_0),
    "j1(a_i)": (lambda x: mp.besselj(1, x), NEAR_0),
    "i0(a_i)": (lambda x: mp.besseli(0, x), NEAR_0),
    "i1(a_i)": (lambda x: mp.besseli(1, x), NEAR_0),
    "y0(a_i)": (lambda x: mp.bessely(0, x), ABOVE_0),
    "k1(a_i)": (lambda x: mp.besselk(1, x), ABOVE_0),
    "atan2(a_i, 1)": (mp.atan, NEAR_0),
    "logsumexp_j(a_i*[1, 1, 2][j] + 0*c_j)": (
        lambda x: mp.log(2 * mp.exp(x) + mp.exp(2 * x)),
        NEAR_0,
    ),
}


def derivatives_of(text: str, **options):
    """The function and its first two derivatives, of (N,) points."""
    f = tilefold.compile(text)
    first = f.grad("a", cotangent="g")
    second = first.grad("a", cotangent="h")

    def evaluate(a):
        given = {"a": a, "g": np.ones_like(a)}
        if "c_j" in text:
            given["c"] = np.zeros(3, a.dtype)
        value = {k: v for k, v in given.items() if k != "g"}
        return (
            f(value, **options),
            first(given, **options),
            second({**given, "h": np.ones_like(a)}, **options),
        )

    return evaluate


@pytest.mark.parametrize("text", ROWS)
def test_derivatives_of_every_row(text):
    function, points = ROWS[text]
    with mp.workdps(60):
        wanted = [
            [
                float(mp.re(mp.diff(function, mpmath.mpf(x), order)))
                for x in points
            ]
            for order in range(3)
        ]
    found = derivatives_of(text)(np.array(points))
    for numbers, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(numbers, expected, rtol=1e-12, atol=2e-14)


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_derivatives_at_ties(isa, dtype):
    options = {"options": tilefold.Options(isa=isa)}
    zero = np.zeros(40, dtype)
    for text, wanted in {
        "softplus(a_i)": (np.log(2), 0.5, 0.25),
        "sigmoid(a_i)": (0.5, 0.25, 0),
        "silu(a_i)": (0, 0.5, 0.5),
        "gelu(a_i)": (0, 0.5, np.sqrt(2 / np.pi)),
        "sinxdivx(a_i)": (1, 0, -1 / 3),
        "logaddexp(a_i, 0)": (np.log(2), 0.5, 0.25),
        "logaddexp(0, a_i)": (np.log(2), 0.5, 0.25),
        "logaddexp(a_i, a_i)": (np.log(2), 1, 0),
        "logaddexp(3 + a_i, 3)": (3 + np.log(2), 0.5, 0.25),
    }.items():
        found = derivatives_of(text, **options)(zero)
        for numbers, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(
                numbers, np.full(40, expected), rtol=1e-6, atol=1e-7
            )


def test_mixed_derivatives_of_logaddexp():
    a = np.array([0.0, 2.0, -1.0, 1e8])
    f = tilefold.compile("logaddexp(a_i, b_i)")
    by_a = f.grad("a", cotangent="g")
    one = np.ones(4)
    for name, sign in ("a", 1), ("b", -1):
        second = by_a.grad(name, cotangent="h")(a=a, b=a, g=one, h=one)
        np.testing.assert_allclose(second, sign * np.full(4, 0.25), rtol=1e-15)
    moved = f.jvp("a")(a=a, b=a, tangent=one)
    np.testing.assert_allclose(moved, np.full(4, 0.5), rtol=1e-15)


INF = np.inf
AT_INFINITY = {
    # value, first and second derivative at -inf, -2000, 2000 and inf
    "sigmoid(a_i)": ([0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]),
    "softplus(a_i)": ([0, 0, 2000, INF], [0, 0, 1, 1], [0, 0, 0, 0]),
    "silu(a_i)": ([0, 0, 2000, INF], [0, 0, 1, 1], [0, 0, 0, 0]),
    "gelu(a_i)": ([0, 0, 2000, INF], [0, 0, 1, 1], [0, 0, 0, 0]),
    "logaddexp(a_i, 1)": ([1, 1, 2000, INF], [0, 0, 1, 1], [0, 0, 0, 0]),
    "logaddexp(a_i, -inf)": ([-INF, -2000, 2000, INF], [0.5, 1, 1, 1], None),
    "logaddexp(a_i, inf)": ([INF, INF, INF, INF], [0, 0, 0, 0.5], None),
    "tanh(a_i)": ([-1, -1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]),
}


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("text", AT_INFINITY)
def test_derivatives_at_infinity(text, dtype, isa):
    a = np.array([-INF, -2000, 2000, INF], dtype)
    options = tilefold.Options(isa=isa)
    found = derivatives_of(text, options=options)(a)
    for numbers, expected in zip(found, AT_INFINITY[text], strict=True):
        if expected is not None:
            np.testing.assert_array_equal(numbers, np.array(expected, dtype))


@pytest.mark.parametrize("text", AT_INFINITY)
def test_the_check_knows_them_at_infinity(text):
    f = tilefold.compile(text)
    assert f.check(a=np.array([-INF, -2000.0, 2000.0, INF])) < 1e-12


def test_nan_stays_nan():
    a = np.array([np.nan])
    for text in AT_INFINITY:
        for numbers in derivatives_of(text)(a):
            assert np.isnan(numbers).all(), text


def test_they_stand_in_the_functions_of_a_fold():
    a = np.linspace(-2, 2, 300)
    found = tilefold.reduce(
        "fold_i(a_i, 0, add, join) with add(s, f) = s + softplus(silu(f)), "
        "join(s, t) = s + t",
        a=a,
    )
    wanted = np.logaddexp(0, a / (1 + np.exp(-a))).sum()
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0])
def test_powers_at_0(exponent):
    """An exponent of the call, which may be whole."""
    a, one = np.array([0.0, 0.0, 2.0]), np.ones(3)
    f = tilefold.compile("a_i^p").grad("a", cotangent="g")
    second = f.grad("a", cotangent="h")
    p = exponent
    wanted = [p * 0.0 ** max(p - 1, 0), p * 2.0 ** (p - 1)]
    found = f(a=a, p=p, g=one)
    np.testing.assert_allclose(found, [wanted[0], *wanted])
    curve = p * (p - 1)
    wanted = [curve * 0.0 ** max(p - 2, 0), curve * 2.0 ** (p - 2)]
    found = second(a=a, p=p, g=one, h=one)
    np.testing.assert_allclose(found, [wanted[0], *wanted])


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_second_derivative_of_a_product_with_zeros(zeros):
    f = np.array([2.0, 0.5, -3.0, 1.5, 4.0])
    f[[1, 3, 0][:zeros]] = 0
    gradient = tilefold.compile("prod_j f_j").grad("f")
    hessian = gradient.grad("f", cotangent="h")
    without = np.array([np.prod(np.delete(f, k)) for k in range(5)])
    np.testing.assert_allclose(gradient(f=f), without)
    wanted = np.array(
        [
            [0 if k == m else np.prod(np.delete(f, [k, m])) for m in range(5)]
            for k in range(5)
        ]
    )
    for k in range(5):
        found = hessian(f=f, h=np.eye(5)[k])
        np.testing.assert_allclose(found, wanted[k], atol=1e-14)
