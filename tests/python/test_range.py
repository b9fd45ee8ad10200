# tests/python/test_range.py - numbers near the ends of the range: what a
# rewrite multiplies first stays in it, or the formula is computed as written.
"""Numbers of 1e±30 in float32 and 1e±300 in float64, infinities, NaN and no
points at all give what NumPy gives, which multiplies in the order of the text,
or what a longer type gives. Where those two differ NumPy left the range itself.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sample
import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

TINY = {"float32": 1e-24, "float64": 1e-162}
HUGE = {"float32": 1e20, "float64": 1e200}
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])


@DTYPES
@pytest.mark.parametrize("scale", [TINY, HUGE], ids=["tiny", "huge"])
def test_lengths_have_any_unit(dtype, scale):
    """|(x - y)/l|² is of points and a length that are alike."""
    unit = scale[dtype]
    rng = np.random.default_rng(0)
    x, y = (
        rng.random((n, 3)).astype(dtype) * dtype_of(unit, dtype) for n in (5, 6)
    )
    squares = (((x[:, None] - y).astype(float) / unit) ** 2).sum(-1)
    lengths = {"l": unit, "l_i": np.full(5, unit, dtype)}
    for name, length in lengths.items():
        k = tilefold.kernel(
            f"exp(-|(x_i - y_j)/{name}|²/2)", x=x, y=y, l=length
        )
        np.testing.assert_allclose(k.dense(), np.exp(-squares / 2), 1e-6)
        k = tilefold.kernel(f"1/(1 + |(x_i - y_j)/{name}|)", x=x, y=y, l=length)
        np.testing.assert_allclose(k.dense(), 1 / (1 + squares**0.5), 1e-6)


def dtype_of(number: float, dtype: str) -> Any:
    return np.dtype(dtype).type(number)


@pytest.mark.parametrize(
    ("dtype", "unit"),
    [
        ("float32", 1e-15),
        ("float32", 1e11),
        ("float64", 1e-110),
        ("float64", 1e105),
    ],
)
def test_divisions_by_one_root_are_not_made_a_power(dtype, unit):
    rng = np.random.default_rng(0)
    x, y = (
        rng.random((n, 3)).astype(dtype) * dtype_of(unit, dtype) for n in (5, 6)
    )
    d = (x[:, None] - y).astype(float)
    r = np.sqrt(((d / unit) ** 2).sum(-1))[..., None] * unit
    found = tilefold.reduce(
        "sum_j d/r/r/r with d = x_i - y_j, r = |x_i - y_j|", x=x, y=y
    )
    np.testing.assert_allclose(found, (d / r / r / r).sum(1), 2e-6)


def test_a_factor_returns_into_a_sum_that_is_infinite_without_it():
    y = np.full(7, 1e308)
    x = np.full(3, 1e-5)
    for text, wanted in [
        ("sum_j 1e-308*y_j", 7.0),
        ("sum_j x_i*y_j*c", 7e3),
        ("mean_j x_i*y_j/1e300", 1e3),
        ("-sum_j c*y_j*x_i", -7e3),
    ]:
        given = {"x": x, "y": y, "c": 1e-300}
        given = {
            n: v for n, v in given.items() if n in text.replace("mean", "")
        }
        found = tilefold.reduce(text, given)
        np.testing.assert_allclose(found, wanted, 1e-12)


@pytest.mark.parametrize(
    ("dtype", "size", "precision"),
    [
        ("float32", 1e-30, 1e-6),
        ("float32", 3e-22, 1e-6),  # of whose squares few bits are kept
        ("float64", 1e-300, 1e-14),
        ("float64", 3e-161, 1e-14),
    ],
)
def test_a_factor_returns_into_a_sum_that_vanishes_without_it(
    dtype, size, precision
):
    rng = np.random.default_rng(1)
    a, v = (((rng.random(n) + 1) * size).astype(dtype) for n in (3, 7))
    exact = ((a[:, None] + v) * (v / a[:, None])).astype(float).sum(1)
    for text, factor in [
        ("sum_j (a_i + v_j)*(v_j/a_i)", 1),
        ("mean_j (v_j/a_i)*(a_i + v_j)", 1 / 7),
        ("-sum_j (a_i + v_j)*(v_j/a_i)", -1),
    ]:
        found = tilefold.reduce(text, a=a, v=v)
        np.testing.assert_allclose(
            found, factor * exact, precision, err_msg=text
        )


def test_a_divisor_returns_into_a_sum_of_products_of_tiny_numbers():
    """Each product is below all numbers, and c enlarges it by 10¹² alone."""
    rng = np.random.default_rng(2)
    x = (rng.random((5, 3)) * 1e-12).astype("float32")
    y = np.zeros((7, 3), "float32")
    v = ((rng.random(7) + 1) * 1e-31).astype("float32")
    c = np.float32(-1e-12)
    norms = np.sqrt((x.astype(float) ** 2).sum(1))
    wanted = norms * v.astype(float).sum() / float(c)
    found = tilefold.reduce("sum_j |x_i - y_j|/(c/v_j)", x=x, y=y, v=v, c=c)
    np.testing.assert_allclose(found, wanted, 1e-5)


@DTYPES
@pytest.mark.parametrize("factor", [np.nan, np.inf, 0.0])
@pytest.mark.parametrize(
    "text",
    [
        "sum_j x_i*y_j",
        "sum_j c*x_i*y_j",
        "sum_j y_j/x_i",
        "sum_j (-y_j)/(x_i*c)",
        "sum_j exp(-|x_i - y_j|)/x_i*c",
    ],
)
def test_a_sum_of_no_points_is_0(text, factor, dtype):
    x = np.full(3, factor, dtype)
    given = {"x": x, "y": np.zeros(0, dtype)}
    if "c" in text:
        given["c"] = np.asarray(factor, dtype)
    np.testing.assert_array_equal(tilefold.reduce(text, given), 0)


def test_only_what_leaves_the_range_compiles_a_second_kernel():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile("sum_j b_j*a_i/u_i²", session=session)
    a, b = np.full(3, 1e30, "float32"), np.full(40, 1e10, "float32")
    assert np.isfinite(f(a=a, b=b, u=np.full(3, 1e9, "float32"))).all()
    assert session.stats().compiles == 1
    f(a=a, b=b, u=np.full(3, 1e30, "float32"))
    assert session.stats().compiles == 2


@dataclass
class Term:
    """A text, and what NumPy makes of it: numbers of (N, M) pairs."""

    text: str
    value: Callable[[dict[str, Any]], Any]
    factors: int = 1  # of pairs, which are multiplied together


class SubnormalError(Exception):
    """NumPy keeps such a number, and kernels take it for 0."""


def seen(value: Any) -> Any:
    size = np.abs(value)
    if size.dtype != np.longdouble and np.any(
        (size > 0) & (size < np.finfo(size.dtype).tiny)
    ):
        raise SubnormalError
    return value


def difference(given: dict[str, Any]) -> Any:
    return given["x"][:, None] - given["y"]


def norm(vector: Any) -> Any:
    return np.sqrt(seen(vector**2).sum(-1))


LEAVES = [
    Term("a_i", lambda g: g["a"][:, None], 0),
    Term("u_i", lambda g: g["u"][:, None], 0),
    Term("b_j", lambda g: g["b"][None], 0),
    Term("v_j", lambda g: g["v"][None], 0),
    Term("c", lambda g: g["c"], 0),
    Term("|x_i - y_j|", lambda g: norm(difference(g))),
    Term("|(x_i - y_j)/c|", lambda g: norm(difference(g) / g["c"])),
    Term(
        "|(x_i - y_j)/a_i|",
        lambda g: norm(difference(g) / g["a"][:, None, None]),
    ),
]


def product(a: Term, b: Term) -> Term:
    return Term(
        f"({a.text} * {b.text})",
        lambda g: seen(a.value(g) * b.value(g)),
        a.factors + b.factors,
    )


def quotient(a: Term, b: Term) -> Term:
    return Term(
        f"({a.text} / {b.text})",
        lambda g: seen(a.value(g) / b.value(g)),
        a.factors + b.factors,
    )


def total(a: Term, b: Term) -> Term:
    return Term(
        f"({a.text} + {b.text})", lambda g: seen(a.value(g) + b.value(g)), 1
    )


def exponential(a: Term) -> Term:
    return Term(
        f"exp(-abs({a.text}))", lambda g: seen(np.exp(-np.abs(a.value(g)))), 1
    )


def random_term(chance: random.Random, depth: int) -> Term:
    """Products of one factor of pairs; several may come in another order."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(LEAVES)
    a = random_term(chance, depth - 1)
    make = chance.choice([product, product, product, quotient, quotient, total])
    if chance.random() < 0.15:
        return exponential(a)
    b = random_term(chance, depth - 1)
    while make is not total and a.factors + b.factors > 1:
        b = random_term(chance, 0)
    return make(a, b)


def random_arrays(chance: random.Random, dtype: str) -> dict[str, Any]:
    rng = np.random.default_rng(chance.randrange(2**32))
    rows, columns = chance.choice(
        [(5, 7), (5, 7), (3, 40), (40, 3), (1, 9), (9, 1), (4, 0)]
    )
    largest = 30 if dtype == "float32" else 300
    common = chance.choice([None, 10.0 ** chance.choice([-largest, largest])])

    def numbers(shape: Any) -> np.ndarray:
        power = chance.choice([0, 0, 0, -1, -0.4, 0.4, 1]) * largest
        signs = rng.choice([-1, 1], shape)
        values = rng.uniform(0.3, 2, shape) * signs * (common or 10.0**power)
        if values.size and chance.random() < 0.1:
            values.flat[chance.randrange(values.size)] = chance.choice(
                [0, np.nan, np.inf]
            )
        return values.astype(dtype)

    given: dict[str, Any] = {n: numbers(rows) for n in "au"}
    given |= {n: numbers(columns) for n in "bv"}
    given |= {"x": numbers((rows, 3)), "y": numbers((columns, 3))}
    return given | {"c": numbers(())[()]}


REDUCTIONS = {
    "sum": lambda z: z.astype(np.longdouble).sum(1),
    "max": lambda z: z.max(1),
    "min": lambda z: z.min(1),
}


def check_one(seed: int) -> bool:
    """Whether NumPy could tell of all rows."""
    chance = random.Random(seed)
    dtype = chance.choice(["float32", "float64"])
    given = random_arrays(chance, dtype)
    shape = len(given["x"]), len(given["y"])
    term = random_term(chance, chance.choice([1, 2, 3]))
    reduction = chance.choice(list(REDUCTIONS))
    if not shape[1] or term.factors:  # beside which no factor leaves others
        reduction = "sum"
    text = f"{reduction}_j ({term.text})"
    names = set(re.findall(r"\b([abuvxy])_[ij]", text))
    if not names & set("aux") or not names & set("bvy"):
        return False
    used = {n: given[n] for n in names}
    if re.search(r"\bc\b", text):
        used["c"] = given["c"]
    finer = {n: v.astype(np.longdouble) for n, v in given.items()}
    limits = np.finfo(dtype)
    reduce = REDUCTIONS[reduction]
    with np.errstate(all="ignore"):
        try:
            plain = np.broadcast_to(term.value(given), shape)
        except SubnormalError:
            return False
        terms = np.broadcast_to(term.value(finer), shape)
        exact = reduce(terms).astype(dtype)
        sizes = np.abs(terms).sum(1)
        sizes[~np.isfinite(sizes)] = 0

        def agree(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
            allowed = (
                400 * float(limits.eps) * np.maximum(sizes, np.abs(wanted))
            )
            near = np.abs(found - wanted) <= allowed + 4 * float(limits.tiny)
            both = np.isnan(found) & np.isnan(wanted)
            return near | both | (found == wanted)

        stays = agree(reduce(plain), exact)
        found = tilefold.reduce(text, used)
        right = agree(found, exact) | ~stays
    assert right.all(), (seed, text, dtype, found, exact)
    return bool(stays.all())


@pytest.mark.parametrize("block", range(40))
def test_random_formulas_of_numbers_of_any_size(block):
    start = 1000 * block + int(1000 * sample.number_of("range"))
    checked = sum(check_one(seed) for seed in range(start, start + 25))
    assert checked > 5
