# tests/python/test_accuracy.py - the table of accuracy in compiler/README.md is
# that of tests/numerics/ulp.csv, and functions keep their values where
# intermediate results are flushed to 0.
from __future__ import annotations

import csv

import mpmath
import numpy as np
import pytest
from scipy import special

import measured_tables
import tilefold
from instruction_sets import PORTABLE
from measured_tables import ROOT

ISAS = {"x86-64-v4": "AVX-512", "x86-64-v3": "AVX2", "aarch64": "AArch64"}
DOMAINS = {"10000": "within ±10⁴"}


def table() -> str:
    """A row for each function and domain, of the instruction sets that are
    measured there."""
    with (ROOT / "tests/numerics/ulp.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    heads = "".join(f" {name} | inputs |" for name in ISAS.values())
    lines = ["", f"| function | x |{heads}", "|---|---|" + "---|---|" * 3]
    found = {(r["function"], r["from"], r["to"], r["isa"]): r for r in rows}
    for function, low, high in dict.fromkeys(key[:3] for key in found):
        domain = "from 0" if low == "0" else DOMAINS.get(high, "any")
        cells = [f"`{function}`", domain]
        for isa in ISAS:
            row = found.get((function, low, high, isa))
            cells += [row["ulp"], row["inputs"]] if row else ["", ""]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", ""])


def test_the_table_is_the_one_measured():
    measured_tables.check("compiler/README.md", "ulp.csv", table())


# Each was wrong: NaN, infinite or 0 where the result is a normal number.
FLUSHED = {
    "log(x_i)": (np.log, [1e-40, 1e-45]),
    "log2(x_i)": (np.log2, [1e-40, 1e-45]),
    "log10(x_i)": (np.log10, [1e-40, 1e-45]),
    "log1p(x_i)": (np.log1p, [2.35e-38, -2e-38, 1.2e38, 3.4e38]),
    "sinh(x_i)": (np.sinh, [88.8, 89.4, -89.4]),
    "cosh(x_i)": (np.cosh, [88.8, 89.4, -89.4]),
    "erfc(x_i)": (special.erfc, [8.6, 9.1]),
    "lgamma(x_i)": (special.gammaln, [4e36]),
    "atan2(x_i, 5e37)": (lambda x: np.arctan2(x, 5e37), [-5e37, 1e38]),
    "x_i^1.5 + x_i^(-0.5)": (lambda x: x**1.5 + x**-0.5, [1e-39]),
}


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("formula", FLUSHED)
def test_functions_at_the_ends_of_float32(formula, isa):
    function, inputs = FLUSHED[formula]
    x = np.array(inputs, np.float32)
    options = tilefold.Options(isa=isa)
    found = tilefold.reduce(formula, x=x, options=options)
    wanted = function(x.astype(np.float64))
    np.testing.assert_allclose(found, wanted, rtol=5e-7)


def far_and_near(random, least: float, most: float, count: int) -> np.ndarray:
    """Uniform, and of every size; of both signs where both are asked for."""
    sizes = np.exp(random.uniform(-50, np.log(most), count))
    signs = random.choice([-1.0, 1.0] if least < 0 else [1.0], len(sizes))
    everywhere = random.uniform(least, most, count)
    return np.clip(np.concatenate([everywhere, signs * sizes]), least, most)


def quarters(random) -> np.ndarray:
    """Beside multiples of pi/2, where a sine has the fewest digits."""
    whole = random.integers(0, 600_000, 200_000) * (np.pi / 2)
    return whole * (1 + random.uniform(-4e-16, 4e-16, len(whole)))


def by_mpmath(function):
    """NumPy has none of 80 bits."""

    def value(x: float) -> np.longdouble:
        exact = function(mpmath.mpf(x))
        rest = exact - float(exact)
        return np.longdouble(float(exact)) + np.longdouble(float(rest))

    def values(x: np.ndarray) -> np.ndarray:
        with mpmath.workdps(30):
            return np.array([value(float(one)) for one in x])

    return values


ERRORS = {
    "erf": by_mpmath(mpmath.erf),
    "erfc": by_mpmath(mpmath.erfc),
    "lgamma": by_mpmath(mpmath.loggamma),
    "digamma": by_mpmath(mpmath.digamma),
    "erfinv": by_mpmath(mpmath.erfinv),
    "gamma": by_mpmath(mpmath.gamma),
}
GAMMA = [(1e-22, 3.0), (0.5, 2.5), (2.0, 9.0), (7.0, 1e300)]
LOGARITHM = [(1e-300, 1e300), (0.5, 2.0), (1e-3, 10.0)]
ROOT_OF = [(1e-300, 1e300), (1e-8, 1e-6), (0.5, 4.0)]
DOUBLES = {
    "sqrt": (np.sqrt, 0.501, ROOT_OF),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.51, ROOT_OF),
    "log": (np.log, 0.9, LOGARITHM),
    "log2": (np.log2, 0.8, LOGARITHM),
    "log10": (np.log10, 0.8, LOGARITHM),
    "log1p": (np.log1p, 0.9, [(-0.999, 1e300), (-0.7, 1.0), (-0.5, 5.0)]),
    "expm1": (np.expm1, 1.2, [(-60.0, 700.0), (-1.0, 1.0), (-50.0, 50.0)]),
    "tanh": (np.tanh, 1.0, [(-25.0, 25.0), (-1.0, 1.0)]),
    "sinh": (np.sinh, 1.1, [(-700.0, 700.0), (-1.0, 1.0), (-20.0, 20.0)]),
    "cosh": (np.cosh, 0.9, [(-700.0, 700.0), (-1.0, 1.0), (-20.0, 20.0)]),
    "erf": (ERRORS["erf"], 1.2, [(-6.0, 6.0), (-1.0, 1.0)]),
    "erfc": (ERRORS["erfc"], 2.0, [(-6.0, 26.0), (-0.1, 0.1), (-1.0, 2.0)]),
    "lgamma": (ERRORS["lgamma"], 2.2, GAMMA),
    "digamma": (ERRORS["digamma"], 2.6, [*GAMMA, (1.46, 1.463)]),
    "gamma": (ERRORS["gamma"], 4.5, [(1e-22, 3.0), (0.5, 2.5), (2.0, 170.0)]),
    "erfinv": (ERRORS["erfinv"], 2.5, [(-1.0, 1.0), (1e-300, 0.5), (0.99, 1)]),
    "asinh": (np.arcsinh, 2.0, [(-1e300, 1e300), (-1.0, 1.0), (-20.0, 20.0)]),
    "acosh": (np.arccosh, 3.0, [(1.0, 1e300), (1.0, 2.0), (1.0, 1.001)]),
    "atanh": (np.arctanh, 2.4, [(-1.0, 1.0), (-0.1, 0.1), (0.99, 1.0)]),
    "cbrt": (np.cbrt, 1.5, [(-1e300, 1e300), (-1.0, 1.0), (-20.0, 20.0)]),
    "sin": (np.sin, 0.9, [(-1e6, 1e6), (-10.0, 10.0), (-1e9, 1e9)]),
    "cos": (np.cos, 0.9, [(-1e6, 1e6), (-10.0, 10.0), (-1e9, 1e9)]),
    "tan": (np.tan, 0.9, [(-1e6, 1e6), (-10.0, 10.0), (-1e9, 1e9)]),
    "atan": (np.arctan, 1.05, [(-1e300, 1e300), (-1.0, 1.0), (-10.0, 10.0)]),
    "asin": (np.arcsin, 0.7, [(-1.0, 1.0), (-0.6, 0.6), (0.99, 1.0)]),
    "acos": (np.arccos, 0.8, [(-1.0, 1.0), (0.5, 1.0), (-1.0, 0.5)]),
}
#: Of logarithms by tables, which AVX-512 has.
BY_TABLE = {"log": 1.02, "log2": 1.0, "log10": 1.1, "log1p": 1.0}


LONGER = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="no longer numbers here"
)


@LONGER
@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("name", DOUBLES)
def test_functions_of_float64(name, isa):
    """Within so many units in the last place, against 80-bit numbers."""
    function, allowed, domains = DOUBLES[name]
    if isa == "x86-64-v4":
        allowed = BY_TABLE.get(name, allowed)
    random = np.random.default_rng(7)
    count = 2_000 if name in ERRORS else 200_000
    samples = [far_and_near(random, *domain, count) for domain in domains]
    if name in ("sqrt", "rsqrt"):
        samples.append(
            random.uniform(1, 4, count) * 4.0 ** -random.integers(1, 511, count)
        )
    if name in ("sin", "cos", "tan"):
        samples.append(quarters(random))
    x = np.concatenate(samples)
    found = tilefold.reduce(
        f"{name}(x_i)", x=x, options=tilefold.Options(isa=isa)
    )
    wanted = function(x.astype(np.longdouble))
    unit = np.spacing(np.abs(wanted.astype(np.float64)))
    errors = np.abs(found - wanted) / unit
    worst = int(np.argmax(errors))
    assert errors[worst] <= allowed, (name, x[worst], errors[worst])


@LONGER
@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_angles(dtype, isa):
    """atan2 of numbers of like size, and of any two."""
    random = np.random.default_rng(9)
    most = np.log10(np.finfo(dtype).max) - 1
    exponents = np.concatenate(
        [
            random.uniform(-1, 1, (2, 200_000)),
            random.uniform(-most, most, (2, 100_000)),
        ],
        axis=1,
    )
    y, x = (random.choice([-1, 1], exponents.shape) * 10**exponents).astype(
        dtype
    )
    found = tilefold.reduce(
        "atan2(y_i, x_i)", y=y, x=x, options=tilefold.Options(isa=isa)
    )
    wanted = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    size = np.abs(wanted)
    errors = np.abs(found - wanted) / np.spacing(size.astype(dtype))
    assert np.max(errors[size >= np.finfo(dtype).tiny]) <= 1.05


@LONGER
@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_erfc_of_what_is_known_not_to_be_positive(dtype, isa):
    """As in gelu of a distance: 1 and more, by the error function."""
    random = np.random.default_rng(8)
    x = far_and_near(random, 0.0, 7.0, 2_000).astype(dtype)
    x = np.append(x, np.array([0, np.inf], dtype))
    options = tilefold.Options(isa=isa)
    found = tilefold.reduce("erfc(-abs(x_i))", x=x, options=options)
    wanted = ERRORS["erfc"](-x.astype(np.longdouble))
    unit = np.spacing(wanted.astype(dtype))
    assert np.max(np.abs(found - wanted) / unit) <= 1.0
    nan = np.array([np.nan], dtype)
    assert np.isnan(tilefold.reduce("erfc(-abs(x_i))", x=nan, options=options))


@LONGER
@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log1p_of_what_is_known_to_be_at_most_one(dtype, isa):
    """As in softplus, by a polynomial of its own."""
    random = np.random.default_rng(8)
    x = far_and_near(random, -1.0, 80.0, 200_000).astype(dtype)
    options = tilefold.Options(isa=isa)
    power = tilefold.reduce("exp2(-|x_i|)", x=x, options=options)
    found = tilefold.reduce("log1p(exp2(-|x_i|))", x=x, options=options)
    wanted = np.log1p(power.astype(np.longdouble))
    unit = np.spacing(wanted.astype(dtype))
    assert power.max() == 1
    assert np.max(np.abs(found - wanted) / unit) <= 1.2


@pytest.mark.parametrize("isa", PORTABLE)
def test_log1p_at_the_end_of_float64(isa):
    x = np.array([1.2e307, 1.7e308])
    options = tilefold.Options(isa=isa)
    found = tilefold.reduce("log1p(x_i)", x=x, options=options)
    np.testing.assert_allclose(found, np.log(x), rtol=1e-15)


def test_extremes_of_no_integers():
    """The ends of int64, as infinities are the ends of numbers."""
    none = np.zeros(0, np.int32)
    ends = np.iinfo(np.int64)
    assert tilefold.reduce("min_j a_j", a=none) == ends.max
    assert tilefold.reduce("max_j a_j", a=none) == ends.min
    assert tilefold.compile("min_j a_j").check(a=none) == 0


def test_a_quotient_that_is_zero_has_a_sign():
    """As NumPy's, in kernels and in the interpreter: atan2 tells."""
    a = np.array([0.1, -0.1, 0.1, -0.1, 0.0, -0.0, 3.0])
    c = np.array([0.5, -0.5, -0.5, 0.5, 0.5, 0.5, -5.0])
    formula = tilefold.compile("sum_j atan2(a_i // c_j, -1)")
    wanted = np.arctan2(a[:, None] // c, -1).sum(1)
    np.testing.assert_allclose(formula(a=a, c=c), wanted, atol=1e-13)
    assert formula.check(a=a, c=c, rows=10) < 1e-14


def test_an_argument_is_rounded_in_a_pair_as_the_readme_says():
    """Units of exp near -80: NumPy's float32, and a little more."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 9, (2, 400)).astype(np.float32)
    exact = np.exp(-np.outer(a.astype(np.float64), b))
    unit = np.spacing(exact.astype(np.float32)).astype(np.float64)
    found = tilefold.kernel("exp(-a_i*b_j)", a=a, b=b).dense()
    ours = np.abs(found - exact) / unit
    theirs = np.abs(np.exp(-np.outer(a, b)) - exact) / unit
    near_8 = np.outer(a, b) < 9
    assert ours.max() < 128 < 2.5 * theirs.max()
    assert ours[near_8].max() < 16


def test_sums_of_equal_terms_are_off_by_what_the_readme_says():
    """Their roundings are all alike; those of others are not."""
    rng = np.random.default_rng(1)
    count = 100_000
    for value in rng.uniform(0.5, 2, 40).astype(np.float32):
        b = np.full(count, value)
        found = tilefold.reduce("sum_j (b_j + 0*b_j)", b=b)
        assert abs(found / (count * float(value)) - 1) < 4.5e-6
    b = rng.uniform(0.5, 2, 1_000_000).astype(np.float32)
    found = tilefold.reduce("sum_j (b_j + 0*b_j)", b=b)
    assert abs(found / b.sum(dtype=np.float64) - 1) < 1.5e-7
