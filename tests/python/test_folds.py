# tests/python/test_folds.py - reductions by functions of the formula, against
# functools.reduce in double precision.
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilefold
from conftest import stages_of
from instruction_sets import PORTABLE

inf = float("inf")


class Monoid(NamedTuple):
    """A fold of one term a pair: the formula's functions, and Python's."""

    functions: str  # what follows "fold_j(f, "
    initial: Sequence[float]
    add: Callable
    finish: Callable = lambda s: s
    parameters: dict = {}  # noqa: RUF012 - never written

    def formula(self, axes: str, term: str) -> str:
        return f"fold_{axes}({term}, {self.functions}"

    def of(self, terms) -> np.ndarray:
        """The result over a run of terms, in float64."""
        start = np.array(self.initial, np.float64)
        state = functools.reduce(self.add, np.asarray(terms, np.float64), start)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.finish(state), np.float64)


def add_to_welford(s, f):
    n = s[0] + 1
    mean = s[1] + (f - s[1]) / n
    return np.array([n, mean, s[2] + (f - s[1]) * (f - mean)])


def first_largest(s, f):
    return s if s[0] >= f else np.array([f, 0])


MONOIDS = {
    "sum": Monoid(
        "0, add) with add(a, b) = a + b",
        [0],
        lambda s, f: s + f,
        lambda s: s[0],
    ),
    "largest size": Monoid(
        "0, add, join) with add(s, f) = max(s, abs(f)), join(s, t) = max(s, t)",
        [0],
        lambda s, f: np.maximum(s, abs(f)),
        lambda s: s[0],
    ),
    "log of the sum of exponentials": Monoid(
        "-inf, add) with add(a, b) = where(max(a, b) == -inf, -inf,"
        " max(a, b) + log1p(exp(-abs(a - b))))",
        [-inf],
        np.logaddexp,
        lambda s: s[0],
    ),
    "interval": Monoid(
        "[inf, -inf], add, join) with"
        " add(s, f) = [min(s[0], f), max(s[1], f)],"
        " join(s, t) = [min(s[0], t[0]), max(s[1], t[1])]",
        [inf, -inf],
        lambda s, f: np.array([min(s[0], f), max(s[1], f)]),
    ),
    "Welford": Monoid(
        "[0, 0, 0], add, join, spread) with"
        " add(s, f) = [s[0] + 1, s[1] + (f - s[1])/(s[0] + 1),"
        " s[2] + (f - s[1])²*s[0]/(s[0] + 1)],"
        " join(s, t) = [s[0] + t[0],"
        " (s[0]*s[1] + t[0]*t[1])/max(s[0] + t[0], 1),"
        " s[2] + t[2] + (s[1] - t[1])²*s[0]*t[0]/max(s[0] + t[0], 1)],"
        " spread(s) = [s[1], s[2]/s[0]]",
        [0, 0, 0],
        add_to_welford,
        lambda s: np.array([s[1], s[2] / s[0]]),
    ),
    "two largest": Monoid(
        "[-inf, -inf], add, join) with"
        " add(s, f) = [max(s[0], f), max(s[1], min(s[0], f))],"
        " join(s, t) = [max(s[0], t[0]),"
        " max(min(s[0], t[0]), max(s[1], t[1]))]",
        [-inf, -inf],
        lambda s, f: np.sort([*s, f])[:0:-1],
    ),
    "product of complex numbers": Monoid(
        "[1, 0], add, join) with"
        " add(s, f) = [s[0] cos(f) - s[1] sin(f), s[0] sin(f) + s[1] cos(f)],"
        " join(s, t) = [s[0] t[0] - s[1] t[1], s[0] t[1] + s[1] t[0]]",
        [1, 0],
        lambda s, f: np.array(
            [
                s[0] * np.cos(f) - s[1] * np.sin(f),
                s[0] * np.sin(f) + s[1] * np.cos(f),
            ]
        ),
    ),
    "norm": Monoid(
        "0, add, join) with add(s, f) = (s^p + abs(f)^p)^(1/p),"
        " join(s, t) = (s^p + t^p)^(1/p)",
        [0],
        lambda s, f: (s**2.5 + abs(f) ** 2.5) ** (1 / 2.5),
        lambda s: s[0],
        {"p": 2.5},
    ),
    "three moments": Monoid(
        "[0, 0, 0, 0], add, join, moments) with"
        " add(s, f) = s + [1, f, f², f³], join(s, t) = s + t,"
        " moments(s) = s[1:]/s[0]",
        [0, 0, 0, 0],
        lambda s, f: s + np.array([1, f, f**2, f**3]),
        lambda s: s[1:] / s[0],
    ),
    "log of the product": Monoid(
        "0, add, join, exp_of) with add(s, f) = s + log(1 + f²),"
        " join(s, t) = s + t, exp_of(s) = exp(s/100)",
        [0],
        lambda s, f: s + np.log(1 + f**2),
        lambda s: np.exp(s[0] / 100),
    ),
}

ALL = pytest.mark.parametrize("name", MONOIDS)
TOLERANCE = {"float64": 1e-11, "float32": 5e-5}


def check(found, wanted, dtype):
    scale = max(
        1.0, float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0))
    )
    np.testing.assert_allclose(
        found,
        wanted,
        rtol=TOLERANCE[dtype],
        atol=TOLERANCE[dtype] * scale,
        equal_nan=True,
    )


def rows(monoid, terms):
    """Over the last axis of (…, M) terms."""
    kept, reduced = np.shape(terms)[:-1], np.shape(terms)[-1]
    flat = np.reshape(terms, (int(np.prod(kept)), reduced))
    results = np.array([monoid.of(row) for row in flat])
    return results.reshape(kept + results.shape[1:])


@ALL
@settings(derandomize=True)
@given(
    n=st.integers(0, 20),
    m=st.one_of(st.integers(0, 40), st.sampled_from([255, 256, 257, 600])),
    dtype=st.sampled_from(["float64", "float32"]),
    batch=st.sampled_from([(), (2,), (2, 1)]),
    seed=st.integers(0, 2**32),
)
def test_over_one_axis(name, n, m, dtype, batch, seed):
    monoid = MONOIDS[name]
    random = np.random.default_rng(seed)
    x = random.uniform(0.5, 1.5, (*batch, n, 1)).astype(dtype)
    y = random.standard_normal((*batch, m, 1)).astype(dtype)
    found = tilefold.reduce(
        monoid.formula("j", "x_i[0]*y_j[0]"), x=x, y=y, **monoid.parameters
    )
    assert found.dtype == dtype
    if n == 0:
        assert found.size == 0
        return
    terms = x.astype(float) * y.astype(float).swapaxes(-1, -2)
    wanted = rows(monoid, terms)
    check(found.reshape(wanted.shape), wanted, dtype)


@ALL
@settings(derandomize=True)
@given(
    n=st.integers(0, 30),
    m=st.one_of(st.integers(0, 30), st.just(300)),
    dtype=st.sampled_from(["float64", "float32"]),
    seed=st.integers(0, 2**32),
)
def test_over_both_axes_and_over_i(name, n, m, dtype, seed):
    monoid = MONOIDS[name]
    random = np.random.default_rng(seed)
    x = random.uniform(0.5, 1.5, n).astype(dtype)
    y = random.standard_normal(m).astype(dtype)
    terms = x.astype(float)[:, None] * y.astype(float)
    call = functools.partial(tilefold.reduce, x=x, y=y, **monoid.parameters)
    both = call(monoid.formula("ij", "x_i*y_j"))
    check(both, monoid.of(terms.ravel()), dtype)
    if m > 0:
        check(
            call(monoid.formula("i", "x_i*y_j")), rows(monoid, terms.T), dtype
        )


@ALL
def test_over_points_of_one_axis(name):
    monoid = MONOIDS[name]
    x = np.random.default_rng(3).standard_normal(5000)
    for axis in "ij":
        formula = monoid.formula(axis, f"x_{axis}")
        found = tilefold.reduce(formula, x=x, **monoid.parameters)
        check(found, monoid.of(x), "float64")


@ALL
def test_over_chosen_pairs(name):
    monoid = MONOIDS[name]
    random = np.random.default_rng(12)
    x, y = random.uniform(0.5, 1.5, 60), random.standard_normal(700)
    ranges = tilefold.Ranges(
        [0, 10, 20, 60],
        [0, 300, 301, 700],
        np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]], bool),
    )
    mask = ranges.mask(60, 700)
    terms = x[:, None] * y
    call = functools.partial(
        tilefold.reduce, x=x, y=y, ranges=ranges, **monoid.parameters
    )
    kept = [monoid.of(row[met]) for row, met in zip(terms, mask, strict=True)]
    check(call(monoid.formula("j", "x_i*y_j")), np.array(kept), "float64")
    both = call(monoid.formula("ij", "x_i*y_j"))
    check(both, monoid.of(terms[mask]), "float64")


@ALL
@pytest.mark.parametrize("axes", ["j", "ij"])
def test_threads_do_not_change_bits(name, axes):
    monoid = MONOIDS[name]
    random = np.random.default_rng(5)
    x = random.uniform(0.5, 1.5, 700).astype(np.float32)
    y = random.standard_normal(6000).astype(np.float32)
    bits = set()
    for threads in (1, 2, 3, 8):
        session = tilefold.Session(tilefold.Options(threads=threads))
        found = tilefold.reduce(
            monoid.formula(axes, "x_i*y_j"),
            x=x,
            y=y,
            session=session,
            **monoid.parameters,
        )
        bits.add(found.tobytes())
    assert len(bits) == 1


@ALL
def test_the_order_of_the_data_does_not_matter(name):
    monoid = MONOIDS[name]
    random = np.random.default_rng(6)
    x, y = random.uniform(0.5, 1.5, 20), random.standard_normal(900)
    formula = monoid.formula("j", "x_i*y_j")
    found = tilefold.reduce(formula, x=x, y=y, **monoid.parameters)
    again = tilefold.reduce(
        formula, x=x, y=random.permutation(y), **monoid.parameters
    )
    check(again, found, "float64")


@ALL
def test_the_interpreter_agrees(name):
    monoid = MONOIDS[name]
    random = np.random.default_rng(7)
    x = random.uniform(0.5, 1.5, 40).astype(np.float32)
    y = random.standard_normal(300).astype(np.float32)
    f = tilefold.compile(monoid.formula("j", "x_i*y_j"))
    assert f.check(x=x, y=y, **monoid.parameters, rows=16) < 1e-3


@pytest.mark.parametrize("isa", PORTABLE)
@ALL
def test_instruction_sets(name, isa):
    session = tilefold.Session(tilefold.Options(isa=isa))
    monoid = MONOIDS[name]
    random = np.random.default_rng(8)
    x = random.uniform(0.5, 1.5, 37).astype(np.float32)
    y = random.standard_normal(301).astype(np.float32)
    formula = monoid.formula("j", "x_i*y_j")
    found = tilefold.reduce(
        formula, x=x, y=y, session=session, **monoid.parameters
    )
    wanted = rows(monoid, x.astype(float)[:, None] * y.astype(float))
    check(found, wanted, "float32")


# ---- terms, states and parameters ------------------------------------------


def test_states_as_large_as_they_may_be():
    y = np.random.default_rng(1).standard_normal((500, 32)).astype(np.float32)
    box = tilefold.reduce(
        "fold_j(y_j, [start, -start], add, join) with"
        " add(s, f) = [min(s[:32], f), max(s[32:], f)],"
        " join(s, t) = [min(s[:32], t[:32]), max(s[32:], t[32:])]",
        y=y,
        start=np.full(32, inf),
    )
    np.testing.assert_array_equal(box, np.concatenate([y.min(0), y.max(0)]))


class LongMonoid(NamedTuple):
    """A fold of as many numbers as a term has."""

    functions: str
    initial: float
    add: Callable
    parameters: dict = {}  # noqa: RUF012 - never written


def further_in(s, f):
    return s if np.linalg.norm(s - 0.25) <= np.linalg.norm(f - 0.25) else f


LONG = {
    "apart": LongMonoid(
        "add, join) with add(s, f) = s + tanh(f), join(s, t) = s + t",
        0,
        lambda s, f: s + np.tanh(f),
    ),
    "by norms": LongMonoid(
        "add, join) with add(s, f) = s + f/(1 + |f|), join(s, t) = s + t",
        0,
        lambda s, f: s + f / (1 + np.linalg.norm(f)),
    ),
    "by one number": LongMonoid(
        "add, join) with add(s, f) = s + f*(f[0] + k), join(s, t) = s + t",
        0,
        lambda s, f: s + f * (f[0] + 3),
        {"k": 3.0},
    ),
    # What a number becomes depends on all of the state.
    "nearest to a point": LongMonoid(
        "nearer) with nearer(a, b) = where(sum(abs(a)) == inf, b,"
        " where(sum(abs(b)) == inf, a,"
        " where(|a - k| < |b - k| or (|a - k| == |b - k| and"
        " sum(a) <= sum(b)), a, b)))",
        inf,
        further_in,
        {"k": 0.25},
    ),
    "turned around": LongMonoid(
        "add, join) with add(s, f) = [min(s[:4], f[5:9]), max(s[4:], f[4:])],"
        " join(s, t) = [min(s[:4], t[:4]), max(s[4:], t[4:])]",
        0,
        lambda s, f: np.concatenate(
            [np.minimum(s[:4], f[5:9]), np.maximum(s[4:], f[4:])]
        ),
    ),
}


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("size", [9, 16, 33, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LONG)
def test_long_states(name, dtype, size, isa):
    monoid = LONG[name]
    random = np.random.default_rng(size)
    x = random.uniform(0.5, 1.5, (21, size)).astype(dtype)
    y = random.standard_normal((300, size)).astype(dtype)
    initial = np.full(size, float(monoid.initial))
    if name == "turned around":
        initial[:4], initial[4:] = inf, -inf
    listed = ", ".join(f"{value:g}" for value in initial)
    found = tilefold.reduce(
        f"fold_j(x_i*y_j, [{listed}], {monoid.functions}",
        x=x,
        y=y,
        session=tilefold.Session(tilefold.Options(isa=isa)),
        **monoid.parameters,
    )
    terms = x.astype(float)[:, None] * y.astype(float)
    wanted = [functools.reduce(monoid.add, row, initial) for row in terms]
    check(found, np.array(wanted), dtype)


def test_the_length_of_code_is_that_of_the_functions():
    lines = []
    for size in (16, 64):
        formula = tilefold.compile(
            "fold_j(x_i*y_j, start, f, m)"
            " with f(s, t) = max(s, tanh(t)), m(s, t) = max(s, t)"
        )
        stages = stages_of(
            formula,
            start=np.full(size, -inf),
            x=np.ones((9, size), np.float32),
            y=np.ones((9, size), np.float32),
            options=tilefold.Options(isa=PORTABLE[0]),
        )
        lines.append(
            sum(
                stages[name]["text"].count("\n")
                for name in ("LLVM IR", "assembly")
            )
        )
    assert lines[1] < 1.3 * lines[0]


def test_parameters_of_every_type():
    y = np.arange(1, 1000)
    for n in (np.int32(7), 7.0, np.uint8(7)):
        call = functools.partial(
            tilefold.reduce,
            "fold_j(y_j, 0, add) with"
            " add(a, b) = where(flag, (a + b) mod n, max(a, b))",
            y=y,
            n=n,
        )
        assert call(flag=np.True_) == y.sum() % 7
        assert call(flag=np.False_) == 999


def test_the_nearest_point_and_its_distance_in_one_fold():
    random = np.random.default_rng(2)
    x, y = random.random((50, 3)), random.random((400, 3))
    found = tilefold.reduce(
        "fold_j([|x_i - y_j|, j], [inf, inf], nearer) with"
        " nearer(a, b) = where(a[0] < b[0] or"
        " (a[0] == b[0] and a[1] <= b[1]), a, b)",
        x=x,
        y=y,
    )
    distances = np.linalg.norm(x[:, None] - y, axis=-1)
    np.testing.assert_allclose(found[:, 0], distances.min(1))
    np.testing.assert_array_equal(found[:, 1], distances.argmin(1))


def test_beside_other_reductions_and_in_definitions():
    random = np.random.default_rng(4)
    x, y = random.random(30), random.random(50)
    found = tilefold.reduce(
        "x_i + most(x_i*y_j)/(sum_j y_j) with"
        " larger(a, b) = max(a, b), most(f) = fold_j(f, -inf, larger)",
        x=x,
        y=y,
    )
    wanted = x + (x[:, None] * y).max(1) / y.sum()
    np.testing.assert_allclose(found, wanted)


def test_numbers_are_no_part_of_the_kernel():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    y = np.random.default_rng(9).random(50)
    for k in range(5):
        found = tilefold.reduce(
            f"fold_j(y_j, {k}.5, add) with add(a, b) = max(a, b)",
            y=y,
            session=session,
        )
        assert found == max(y.max(), k + 0.5)
    assert session.stats().compiles == 1


def test_terms_that_are_the_same_everywhere():
    found = tilefold.reduce(
        "x_i + fold_j(c, 0, add) + fold_j(1, 0, add) + sum_j 0*y_j"
        " with add(a, b) = a + b",
        x=np.ones(4),
        y=np.ones(300),
        c=0.5,
    )
    np.testing.assert_allclose(found, 451)


def test_nan_and_infinity_go_where_the_functions_send_them():
    y = np.array([1, inf, 2, np.nan, 3], np.float32)
    of = functools.partial(
        tilefold.reduce, "fold_j(y_j, 0, add) with add(a, b) = a + b"
    )
    assert np.isnan(of(y=y))
    assert of(y=y[:3]) == inf


def test_tensors():
    torch = pytest.importorskip("torch")
    y = torch.arange(10.0)
    formula = "fold_j(y_j, 0, add) with add(a, b) = a + b"
    assert tilefold.reduce(formula, y=y).item() == 45
    with pytest.raises(tilefold.Error, match="has no derivative"):
        tilefold.reduce(formula, y=y.requires_grad_()).backward()


# ---- refusals ----------------------------------------------------------------

REFUSED = [
    ("FoldFunction", "fold_j(x_j, 0, add)", "'add' is none"),
    ("FoldParameters", "fold_j(x_j, 0, f) with f(a) = a", "takes 2 parameters"),
    ("FoldInitial", "fold_j(x_j, x_i, f) with f(a, b) = a + b", "is on i"),
    ("FoldVariable", "fold_j(x_j, 0, f) with f(a, b) = a + b + x_j", "on j"),
    ("FoldMatrix", "fold_j(x_j, A, f) with f(a, b) = a + b", "a matrix"),
    ("FoldShape", "fold_j(x_j, [0, 0], f) with f(a, b) = a[0] + b", "a scalar"),
    ("FoldTooLarge", "fold_j(v_j, v0, f) with f(a, b) = a + b", "at most 64"),
    (
        "FoldIdentity",
        "fold_j(x_j, 1, f) with f(a, b) = a + b",
        "identity of 'f'",
    ),
    (
        "FoldNotCommutative",
        "fold_j(x_j, 0, f, g) with f(s, t) = s + t, g(a, b) = a + b + a²*b",
        "g(b, a)",
    ),
    (
        "FoldNotAssociative",
        "fold_j(x_j, 0, f, g) with f(s, t) = s + t, g(a, b) = a + b + a²*b²",
        "g(g(a, b), c)",
    ),
    (
        "FoldDisagrees",
        "fold_j(x_j, 0, f, g) with f(s, t) = s + 2t, g(a, b) = a + b + a*b",
        "'f' and 'g' disagree",
    ),
    (
        "ReductionInside",
        "fold_j(x_j, 0, f) with f(a, b) = a + max_j x_j",
        "max_j",
    ),
]


@pytest.mark.parametrize(
    ("code", "formula", "words"), REFUSED, ids=[row[0] for row in REFUSED]
)
def test_refusals(code, formula, words):
    arguments = {
        "x": np.ones(3),
        "A": np.ones((2, 2)),
        "v": np.ones((3, 65)),
        "v0": np.ones(65),
    }
    read = {k: v for k, v in arguments.items() if k in formula}
    read = {k: v for k, v in read.items() if k != "v" or "v_j" in formula}
    with pytest.raises(tilefold.Error) as caught:
        tilefold.reduce(formula, read)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_derivatives_are_refused():
    f = tilefold.compile("fold_j(x_i*y_j, 0, f) with f(a, b) = a + b")
    x, y = np.ones(3), np.ones(4)
    for derived in (f.grad("x"), f.grad("y")):
        with pytest.raises(tilefold.Error, match="has no derivative"):
            derived(x=x, y=y, grad=np.ones(3))
    with pytest.raises(tilefold.Error, match="has no derivative"):
        f.jvp("x")(x=x, y=y, tangent=np.ones(3))
