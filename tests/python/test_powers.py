# tests/python/test_powers.py - exponents that are whole or half of a number.
"""Those that are written out are products and roots, everywhere as pow is."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE

EXPONENTS = {
    "x_i^1.5": 1.5,
    "x_i^(3/2)": 1.5,
    "x_i^(-3/2)": -1.5,
    "x_i**-0.5": -0.5,
    "x_i^(1/2)": 0.5,
    "pow(x_i, 7/2)": 3.5,
    "pow(x_i, 3)": 3,
    "x_i^p with p = -5/2": -2.5,
    "x_i^4.5": 4.5,
}
EDGES = [0.0, 1e-25, 0.3, 1.0, 7.7, 1e20, np.inf, np.nan, -1.0]


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize(("dtype", "error"), [("f4", 5e-7), ("f8", 1e-15)])
@pytest.mark.parametrize("formula", EXPONENTS)
def test_a_power_is_numpys(formula, dtype, error, isa):
    x = np.concatenate([np.geomspace(1e-4, 1e4, 300), EDGES]).astype(dtype)
    options = tilefold.Options(isa=isa)
    found = tilefold.reduce(formula, x=x, options=options)
    with np.errstate(all="ignore"):
        wanted = (x.astype(np.float64) ** EXPONENTS[formula]).astype(dtype)
    np.testing.assert_allclose(found, wanted, rtol=error)


SPECIAL = [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 2.5, -2.5, 1e30, -1e30]
SPECIAL += [np.inf, -np.inf, np.nan, 1e-30, -1e-30, 0.999, 63, 64]


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("given", ["x_i^p", "sum_j (x_i - y_j)^p"])
def test_special_numbers_to_one_exponent(given, dtype, isa):
    options = tilefold.Options(isa=isa)
    x = np.array(SPECIAL * 4, dtype)  # whole vectors, and an edge
    y = {"y": np.zeros(1, dtype)} if "y_j" in given else {}
    for exponent in SPECIAL:
        p = np.full_like(x, exponent)  # of one number NumPy takes a root
        found = tilefold.reduce(given, x=x, **y, p=p[0], options=options)
        with np.errstate(all="ignore"):
            wanted = np.power(x, p)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("formula", EXPONENTS)
def test_a_power_has_its_derivatives(formula):
    x, p = np.geomspace(0.1, 10, 20), EXPONENTS[formula]
    first = tilefold.compile(formula).grad("x", cotangent="g")
    found = first(x=x, g=np.ones(20))
    np.testing.assert_allclose(found, p * x ** (p - 1), rtol=1e-12)
    second = first.grad("x", cotangent="h")
    found = second(x=x, g=np.ones(20), h=np.ones(20))
    wanted = p * (p - 1) * x ** (p - 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("power", ["(3/2)", "2.5", "(7/2)"])
def test_a_power_of_a_distance_is_smooth_where_points_coincide(power):
    x = np.random.default_rng(0).standard_normal((20, 3))
    formula = tilefold.compile(f"sum_j (|x_i - x_j|²)^{power}")
    found = formula.grad("x")(x=x, grad=1.0)
    d = x[:, None] - x
    p = eval(power)
    squares = (d**2).sum(-1)[..., None]
    wanted = 2 * (2 * p * squares ** (p - 1) * d).sum(1)  # i and j both move
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert np.isfinite(
        formula.grad("x").grad("x", cotangent="again")(x=x, grad=1, again=x)
    ).all()
