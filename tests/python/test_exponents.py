# tests/python/test_exponents.py - exponents that come with a call.
"""Where one is whole, or half of an odd number, a large call is computed by
products and roots: a kernel for each, and results that are those of pow.
"""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from conftest import stages_of
from instruction_sets import PORTABLE

N, M = 2048, 2049  # more pairs than a kernel of their own is worth
TEXT = "sum_j (1 + |x_i - y_j|²)^a b_j"
QUADRATIC = "sum_j (1 + |x_i - y_j|²/(2*a))^(-a) b_j"
DTYPES = pytest.mark.parametrize(
    ("dtype", "error"), [("float32", 3e-6), ("float64", 1e-13)]
)


def problem(dtype="float32", n=N, m=M):
    rng = np.random.default_rng(5)
    x, y = (rng.uniform(-1, 1, (k, 2)).astype(dtype) for k in (n, m))
    return {"x": x, "y": y, "b": rng.uniform(0.5, 1, m).astype(dtype)}


def squares(x, y):
    x, y = x.astype(np.float64), y.astype(np.float64)
    return ((x[:, None] - y) ** 2).sum(-1)


def close(found, wanted, error):
    np.testing.assert_allclose(found, wanted, rtol=error, atol=error)


@pytest.fixture
def session():
    return tilefold.Session(tilefold.Options(cache_directory=""))


@DTYPES
@pytest.mark.parametrize("isa", PORTABLE)
def test_powers_are_numpys(dtype, error, isa):
    p = problem(dtype)
    d = squares(p["x"], p["y"])
    formula = tilefold.compile(TEXT)
    options = tilefold.Options(isa=isa)
    for a in (-8, -2.5, -1, -0.5, 0, 0.5, 1, 1.3, 2, 3.5, 8):
        found = formula(**p, a=a, options=options)
        close(found / ((1 + d) ** a @ p["b"]), 1, error)


@DTYPES
def test_a_kernel_is_that_of_the_number(session, dtype, error):
    p = problem(dtype)
    formula = tilefold.compile(QUADRATIC, session=session)
    kernels = 1
    formula(**p, a=1.3)
    assert session.stats().compiles == kernels
    for a in (0.5, 1.0, 2, 2.5):
        kernels += 1
        found = formula(**p, a=a)
        assert session.stats().compiles == kernels
        assert np.array_equal(found, formula(**p, a=a))
        written = QUADRATIC.replace("a)", f"{a})")
        close(found, tilefold.reduce(written, **p), error)
    for a in (1.3, -0.3, 8.5, np.inf, np.nan):
        formula(**p, a=a)
    assert session.stats().compiles == kernels


def test_small_calls_share_a_kernel(session):
    p = problem(n=100, m=100)
    formula = tilefold.compile(TEXT, session=session)
    for a in (1, 1.5, 2, 1.3):
        found = formula(**p, a=float(a))
        close(found, (1 + squares(p["x"], p["y"])) ** a @ p["b"], 2e-5)
    assert session.stats().compiles == 1


@pytest.mark.parametrize("setting", ["segment", "plan"])
def test_settings_of_kernels_are_kept(session, setting):
    p = problem()
    formula = tilefold.compile(TEXT, session=session)
    plans = stages_of(formula, **p, a=2.0)["plan"]["value"]
    plan = plans["chosen"]["plan"]["text"]
    value = {"segment": 256, "plan": plan}[setting]
    formula(**p, a=2.0, options=tilefold.Options(**{setting: value}))
    assert session.stats().compiles == 1


SPELLINGS = {
    "(x_i·y_j)^n": (lambda t: t**3, {"n": 3}),
    "(x_i·y_j)^n  #0d": (lambda t: t**3, {"n": np.array(3)}),
    "(x_i·y_j)^n  #f4": (lambda t: t**3, {"n": np.float32(3)}),
    "(x_i·y_j)^(n - 1)": (lambda t: t**2, {"n": 3}),
    "(x_i·y_j)^(-n)": (lambda t: t**-1.0, {"n": 1}),
    "(x_i·y_j)^(2 p[1])": (lambda t: t**3, {"p": np.array([0.3, 1.5])}),
    "(x_i·y_j)^n + abs(x_i·y_j)^q": (
        lambda t: t**2 + np.abs(t) ** 1.7,
        {"n": 2.0, "q": 1.7},
    ),
    "(x_i·y_j)^A[1, 0]": (
        lambda t: t**2,
        {"A": np.array([[0.5, 3.0], [2.0, 4.0]])},
    ),
    "n*(x_i·y_j)^n": (lambda t: 2 * t**2, {"n": 2.0}),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling(spelling):
    power, parameters = SPELLINGS[spelling]
    p = problem("float64")
    text = f"sum_j ({spelling.partition('#')[0]}) b_j"
    found = tilefold.reduce(text, **p, **parameters)
    products = p["x"] @ p["y"].T
    terms = power(products) * p["b"]
    assert np.all(np.abs(found - terms.sum(1)) <= 1e-13 * np.abs(terms).sum(1))


def test_a_bound_call_reads_its_exponent_anew():
    p = problem("float64")
    a, d = np.array(2.0), squares(p["x"], p["y"])
    bound = tilefold.compile(TEXT).bind(**p, a=a)
    for exponent in (2.0, 1.3, -0.5, 2.0, -1.1):
        a[...] = exponent
        close(bound(), (1 + d) ** exponent @ p["b"], 1e-12)


def test_batches_of_different_exponents():
    p = problem("float64")
    a, d = np.array([2.0, 1.5, 0.7]), squares(p["x"], p["y"])
    found = tilefold.reduce(TEXT, **p, a=a.reshape(3, 1, 1))
    wanted = [(1 + d) ** exponent @ p["b"] for exponent in a]
    close(found, wanted, 1e-12)
    moved = np.stack([p["x"], p["x"] + 1])
    found = tilefold.reduce(TEXT, **p | {"x": moved}, a=2.0)
    wanted = [(1 + squares(x, p["y"])) ** 2 @ p["b"] for x in moved]
    close(found, wanted, 1e-11)


def test_batches_of_one_exponent():
    p = problem("float64")
    wanted = (1 + squares(p["x"], p["y"])) ** 2 @ p["b"]
    same = tilefold.reduce(TEXT, **p, a=np.broadcast_to(2.0, (3, 1, 1)))
    close(same, [wanted] * 3, 1e-12)


@pytest.mark.parametrize("a", [0.5, 1.0, 2.0, 3.0, 1.3])
def test_derivatives(a):
    p = problem("float64")
    formula = tilefold.compile(TEXT)
    d, seed = squares(p["x"], p["y"]), np.linspace(-1, 1, N)
    found = formula.grad("a")(**p, a=a, grad=seed)
    wanted = seed @ ((1 + d) ** a * np.log1p(d)) @ p["b"]
    close(found / wanted, 1, 1e-12)
    found = formula.grad("x")(**p, a=a, grad=seed)
    weights = 2 * a * np.outer(seed, p["b"]) * (1 + d) ** (a - 1)
    wanted = weights.sum(1)[:, None] * p["x"] - weights @ p["y"]
    close(found, wanted, 1e-10)


def test_other_loops():
    p = problem("float64")
    x, y = p["x"], p["y"]
    d = squares(x, y)
    kernel = tilefold.kernel("(1 + |x_i - y_j|²)^a", x=x, y=y, a=1.5)
    close(kernel.dense(), (1 + d) ** 1.5, 1e-13)
    close(kernel @ p["b"], (1 + d) ** 1.5 @ p["b"], 1e-12)
    found = tilefold.reduce("sum_ij |x_i - y_j|^a", x=x, y=y, a=3.0)
    close(found / (d**1.5).sum(), 1, 1e-12)
    found = tilefold.reduce(
        "argkmin_j(sum([pow(abs(x_i - y_j), p)])^(1/p), 5)", x=x, y=y, p=1.5
    )
    distances = (np.abs(x[:, None] - y) ** 1.5).sum(-1)
    chosen = np.take_along_axis(distances, found, 1)
    close(chosen, np.sort(distances, 1)[:, :5], 1e-12)
    out = np.ones(N)
    tilefold.reduce(TEXT, **p, a=2.0, out=out)
    close(out, (1 + d) ** 2 @ p["b"], 1e-12)


def test_large_divisors_are_divided_by():
    p = problem("float32")
    b = (p["b"] * 3e38).astype("float32")
    found = tilefold.reduce(
        "sum_j 1e36*(1 + |x_i - y_j|²)^a/b_j", x=p["x"], y=p["y"], b=b, a=2.0
    )
    wanted = (1 + squares(p["x"], p["y"])) ** 2 @ (1e36 / b.astype(float))
    close(found / wanted, 1, 3e-6)


def test_parts_are_what_memory_is():
    p = problem("float64")
    whole = tilefold.reduce(
        TEXT, **p, a=2.0, options=tilefold.Options(segment=256)
    )
    reduction = tilefold.Reduction(TEXT, segment=256)
    parts = (slice(0, 1024), slice(1024, M))
    states = [
        reduction.partial(
            x=p["x"],
            y=p["y"][part],
            b=p["b"][part],
            a=2.0,
            j=(part.start, M),
        )
        for part in parts
    ]
    found = reduction.finalise(reduction.merge(*states), x=p["x"], a=2.0)
    assert np.array_equal(found, whole)
