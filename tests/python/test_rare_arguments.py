# tests/python/test_rare_arguments.py - functions that leave few arguments to a
# library: sums where these come up, and rows beside them, whose bits do not
# depend on it.
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy import special

import tilefold
from instruction_sets import PORTABLE


class Rare(NamedTuple):
    """A function, ordinary arguments, and those that it seldom meets."""

    text: str
    of: Callable
    ordinary: tuple[float, float]
    rare: tuple[float, ...]


FUNCTIONS = {
    "sin": Rare("sin(u)", np.sin, (-9, 9), (3e13, -1e30)),
    "cos": Rare("cos(u)", np.cos, (-9, 9), (-3e13, 1e30)),
    "tan": Rare("tan(u)", np.tan, (-1.2, 1.2), (4e5, -1e30)),
    "mod": Rare("u mod 0.75", lambda u: u % 0.75, (-9, 9), (1e9, -3.1e19)),
    "gamma": Rare("gamma(u)", special.gamma, (0.5, 9), (-1.5, -7.25)),
    "lgamma": Rare("lgamma(u)", special.gammaln, (0.5, 9), (-1.5, -7.25)),
    "digamma": Rare("digamma(u)", special.digamma, (0.5, 9), (-1.5, -7.25)),
    "Bessel J1": Rare("besselj(1, u)", special.j1, (-9, 9), (3e6, -4e6)),
}
LIMITS = {"float32": 1e-5, "float64": 1e-10}


def reduce(formula, isa, **arguments):
    session = tilefold.Session(tilefold.Options(isa=isa))
    return tilefold.reduce(formula, session=session, **arguments)


def points(of: Rare, rows: int, columns: int, dtype: str):
    """Sums of them are ordinary arguments."""
    random = np.random.default_rng(rows)
    low, high = of.ordinary
    x = random.uniform(low / 2, high / 2, rows).astype(dtype)
    y = random.uniform(low / 2, high / 2, columns).astype(dtype)
    return x, y


def with_rare(of: Rare, x, places):
    changed = x.copy()
    changed[list(places)] = np.resize(of.rare, len(places))
    return changed


def check(found, of, x, y):
    """Within the sum of sizes; x and y are added in their own dtype."""
    terms = of.of((x[:, None] + y).astype(float))
    errors = np.abs(found - terms.sum(1)) / (1 + np.abs(terms).sum(1))
    assert errors.max() < LIMITS[x.dtype.name]


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_few_arguments_are_rare(name, dtype, isa):
    of = FUNCTIONS[name]
    x, y = points(of, 37, 700, dtype)
    formula = f"sum_j {of.text} with u = x_i + y_j"
    ordinary = reduce(formula, isa, x=x, y=y)
    check(ordinary, of, x, y)
    rows, columns = [3, 36], [0, 300, 699]
    far = with_rare(of, x, rows)
    found = reduce(formula, isa, x=far, y=y)
    check(found, of, far, y)
    others = np.setdiff1d(np.arange(37), rows)
    np.testing.assert_array_equal(found[others], ordinary[others])
    check(
        reduce(formula, isa, x=x, y=with_rare(of, y, columns)),
        of,
        x,
        with_rare(of, y, columns),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_hides_nan(name, dtype):
    """A choice between rare and ordinary arguments is no sum of them all."""
    of = FUNCTIONS[name]
    x, y = points(of, 37, 300, dtype)
    far = with_rare(of, x, [3, 17])
    found = tilefold.reduce(
        f"sum_j where({of.text} < 0.25, 1, 0) with u = x_i + y_j", x=far, y=y
    )
    terms = of.of((far[:, None] + y).astype(float)) < 0.25
    np.testing.assert_array_equal(found, terms.sum(1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_and_infinity(name, dtype):
    of = FUNCTIONS[name]
    x, y = points(of, 20, 300, dtype)
    formula = f"sum_j {of.text} with u = x_i + y_j"
    ordinary = tilefold.reduce(formula, x=x, y=y)
    for value in (np.nan, np.inf, -np.inf):
        strange = x.copy()
        strange[7] = value
        found = tilefold.reduce(formula, x=strange, y=y)
        alone = tilefold.reduce(of.text + " with u = x_i", x=strange)
        np.testing.assert_equal(found[7], 300 * alone[7])
        others = np.arange(20) != 7
        np.testing.assert_array_equal(found[others], ordinary[others])


def test_several_sums_at_a_time():
    of = FUNCTIONS["sin"]
    x, y = points(of, 50, 400, "float64")
    far = with_rare(of, x, [11, 30])
    total, largest, weighted = tilefold.reduce(
        "[sum_j sin(u), max_j y_j, sum_j u*cos(u)*exp(-abs(y_j))]"
        " with u = x_i + y_j",
        x=far,
        y=y,
    ).T
    u = far[:, None] + y
    np.testing.assert_allclose(total, np.sin(u).sum(1), rtol=1e-9)
    np.testing.assert_allclose(
        weighted, (u * np.cos(u) * np.exp(-np.abs(y))).sum(1), rtol=1e-9
    )
    np.testing.assert_array_equal(largest, np.full(50, y.max()))


def test_a_fold_beside_a_sum():
    of = FUNCTIONS["sin"]
    x, y = points(of, 20, 300, "float64")
    far = with_rare(of, x, [5])
    found = tilefold.reduce(
        "[sum_j sin(x_i*y_j), fold_j(x_i + y_j, 0, f, g)]"
        " with f(s, t) = s + sin(t), g(a, b) = a + b",
        x=far,
        y=y,
    )
    np.testing.assert_allclose(
        found[:, 1], np.sin(far[:, None] + y).sum(1), rtol=1e-9
    )


def test_the_loop_is_told():
    x = np.zeros((9, 3), np.float32)
    text = tilefold.explain("sum_j sin(|x_i - y_j|)", x=x, y=x)
    assert "without what few arguments need" in text
    hidden = "sum_j where(sin(|x_i - y_j|) < 0, 1, 2)"
    assert "few arguments" not in tilefold.explain(hidden, x=x, y=x)
