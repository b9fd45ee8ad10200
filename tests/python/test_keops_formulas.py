# tests/python/test_keops_formulas.py - KeOps's formulas, row by row.
"""Every operation, dimension and reduction of KeOps's, beside NumPy."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tilefold
from keops_rows import ROWS, SPLINES
from tilefold.compat.pykeops.numpy import (
    Genred,
    generic_argkmin,
    generic_argmin,
    generic_logsumexp,
    generic_sum,
)

M, N = 5, 7


def _pairs(value: np.ndarray, kind: str) -> np.ndarray:
    """The array as it broadcasts to pairs."""
    return {
        "Vi": lambda: value[:, None],
        "Vj": lambda: value[None],
        "Pm": lambda: value[None, None],
    }[kind]()


def _arguments(dims, kinds, seed=0):
    rng = np.random.default_rng(seed)
    sizes = {"Vi": (M,), "Vj": (N,), "Pm": ()}
    return [
        rng.uniform(0.2, 0.9, (*sizes[kind], dim))
        for dim, kind in zip(dims, kinds, strict=True)
    ]


def _check(formula, dims, reference, kinds, axis):
    args = _arguments(dims, kinds)
    aliases = [
        f"{name} = {kind}({dim})"
        for name, kind, dim in zip("abc", kinds, dims, strict=False)
    ]
    values = reference(*map(_pairs, args, kinds))
    values = np.broadcast_to(values, (M, N, values.shape[-1]))
    if "Vi" not in kinds:
        values = values[:1]
    if "Vj" not in kinds:
        values = values[:, :1]
    before = tilefold.stats().runs
    found = Genred(formula, aliases, "Sum", axis)(*args)
    assert tilefold.stats().runs > before
    assert found.dtype == np.float64
    expected = values.sum(axis)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.sample(0.1)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("first", ["Vi", "Vj", "Pm"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}{row[1]}")
def test_rows(row, first, axis) -> None:
    formula, dims, reference = row
    orders = {"Vi": ["Vi", "Vj", "Pm"], "Vj": ["Vj", "Pm", "Vi"]}
    kinds = orders.get(first, ["Pm", "Vi", "Vj"])[: len(dims)]
    _check(formula, dims, reference, kinds, axis)


def test_splines() -> None:
    _, dims, reference = SPLINES
    knots, at = _arguments(dims, ["Vi", "Vj"])
    knots = np.sort(knots)
    found = Genred(SPLINES[0], ["a = Vi(6)", "b = Vj(1)"], axis=1)(knots, at)
    expected = reference(knots[:, None], at[None]).sum(1)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


X = np.random.default_rng(1).normal(size=(M, 3))
Y = np.random.default_rng(2).normal(size=(N, 3))
W = np.random.default_rng(3).uniform(0.5, 1, size=(N, 2))
POINTS = ["x = Vi(3)", "y = Vj(3)", "w = Vj(2)"]
DISTANCES = ((X[:, None] - Y) ** 2).sum(-1)
VECTORS = X[:, None] * Y


def _reduced(name, formula="SqDist(x,y)", axis=1, **options):
    call = Genred(f"{formula} + 0*Sum(w)", POINTS, name, axis, **options)
    return call(X, Y, W)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "suffix", [("SqDist(x,y)", DISTANCES[..., None]), ("x*y", VECTORS)]
)
def test_extremes(axis, suffix) -> None:
    formula, values = suffix
    for name in "Min", "Max":
        arg = getattr(np, f"arg{name.lower()}")(values, axis)
        best = getattr(np, name.lower())(values, axis)
        np.testing.assert_allclose(_reduced(name, formula, axis), best)
        found = _reduced(f"Arg{name}", formula, axis)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, arg)
        for spelling in f"{name}_Arg{name}", f"{name}Arg{name}":
            both = _reduced(spelling, formula, axis)
            np.testing.assert_allclose(both[0], best)
            np.testing.assert_array_equal(both[1], arg)
    for count in 1, 3:
        order = np.moveaxis(np.argsort(values, axis), axis, 1)[:, :count]
        least = np.moveaxis(np.sort(values, axis), axis, 1)[:, :count]
        if values.shape[-1] == 1:
            order, least = order[..., 0], least[..., 0]
        given = {"opt_arg": count}
        np.testing.assert_allclose(
            _reduced("KMin", formula, axis, **given), least
        )
        np.testing.assert_array_equal(
            _reduced("ArgKMin", formula, axis, **given), order
        )
        both = _reduced("KMin_ArgKMin", formula, axis, **given)
        np.testing.assert_allclose(both[0], least)
        np.testing.assert_array_equal(both[1], order)


def test_too_few_points() -> None:
    both = _reduced("KMin_ArgKMin", opt_arg=N + 2)
    assert (both[0][:, N:] == np.inf).all()
    assert (both[1][:, N:] == 0).all()


def test_exponentials() -> None:
    weights = np.exp(-DISTANCES)
    given = {"formula": "-SqDist(x,y)", "aliases": POINTS, "axis": 1}
    found = Genred(**given, reduction_op="LogSumExp")(X, Y, W)
    np.testing.assert_allclose(found[:, 0], np.log(weights.sum(1)))
    for name in "LogSumExp", "LogSumExpWeight":
        found = Genred(**given, reduction_op=name, formula2="w")(X, Y, W)
        np.testing.assert_allclose(found, np.log(weights @ W))
    for name in "SumSoftMaxWeight", "SoftMax":
        found = Genred(**given, reduction_op=name, formula2="w")(X, Y, W)
        np.testing.assert_allclose(found, weights @ W / weights.sum(1)[:, None])


def test_an_axis_that_is_only_counted() -> None:
    aliases = ["x = Vi(3)", "y = Vj(3)", "p = Pm(3)"]
    p = X[0]
    np.testing.assert_allclose(
        Genred("Exp(x)", aliases, axis=1)(X, Y, p), np.exp(X) * N
    )
    np.testing.assert_allclose(
        Genred("Exp(y)", aliases, axis=1)(X, Y, p),
        np.tile(np.exp(Y).sum(0), (M, 1)),
    )
    np.testing.assert_allclose(
        Genred("Exp(p)", aliases, axis=0)(X, Y, p),
        np.tile(np.exp(p) * M, (N, 1)),
    )
    counted = Genred("Sum(x)", aliases, "LogSumExp", axis=1)(X, Y, p)
    np.testing.assert_allclose(counted[:, 0], X.sum(1) + np.log(N))
    first = Genred("Sum(x)", aliases, "ArgMin", axis=1)(X, Y, p)
    np.testing.assert_array_equal(first, np.zeros((M, 1), int))
    alone = Genred("Exp(x)", ["x = Vi(3)"], axis=1)(X)
    np.testing.assert_allclose(alone, np.exp(X))


def test_batches() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(4, 1, M, 3)), rng.normal(size=(2, N, 3))
    p = rng.uniform(1, 2, (4, 2, 1))
    call = Genred(
        "Exp(-SqDist(x,y)*p)", ["x=Vi(3)", "y=Vj(3)", "p=Pm(1)"], axis=1
    )
    distances = ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)
    expected = np.exp(-distances * p[..., None]).sum(-1, keepdims=True)
    np.testing.assert_allclose(call(x, y, p), expected)
    vectors = Genred("x*y*p", ["x=Vi(3)", "y=Vj(3)", "p=Pm(3)"], axis=0)
    p = rng.normal(size=(2, 3))
    expected = (x[..., :, None, :] * y[..., None, :, :] * p[:, None, None]).sum(
        -3
    )
    np.testing.assert_allclose(vectors(x, y, p), expected)
    ones = Genred("Exp(x)", ["x=Vi(3)", "y=Vj(3)"], axis=1)(x, y)
    np.testing.assert_allclose(ones, np.broadcast_to(np.exp(x) * N, ones.shape))


def test_arrays_of_any_strides_and_dtypes() -> None:
    call = Genred("SqDist(x,y)*p", ["x=Vi(3)", "y=Vj(3)", "p=Pm(1)"], axis=1)
    x = np.asfortranarray(X)[::-1]
    expected = (((x[:, None] - Y) ** 2).sum(-1) * 2).sum(1)[:, None]
    np.testing.assert_allclose(call(x, Y[:, ::-1][:, ::-1], [2.0]), expected)
    single = call(x.astype("f4"), Y.astype("f4"), np.full((1, 1), 2, "f4"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-5)
    steps = Genred("x < y", ["x=Vi(1)", "y=Vj(1)"], axis=1)
    found = steps(x[:, :1].astype("f4"), Y[:, :1].astype("f4"))
    assert found.dtype == np.float32


def test_out() -> None:
    out = np.empty((M, 1))
    call = Genred("SqDist(x,y)", ["x=Vi(3)", "y=Vj(3)"], axis=1)
    assert call(X, Y, out=out) is out
    np.testing.assert_allclose(out[:, 0], DISTANCES.sum(1))


def test_names_and_aliases() -> None:
    names = ["x_i = Vi(3)", "Exp = Vj(3)", "E=Pm(2,1)"]
    found = Genred("SqDist(x_i,Exp)*E", names, axis=1)(X, Y, np.array([2.0]))
    np.testing.assert_allclose(found[:, 0], 2 * DISTANCES.sum(1))
    placed = ["b = Vj(1,3)", "a = Vi(0,3)"]
    found = Genred("SqDist(a,b)", placed, axis=1)(X, Y)
    np.testing.assert_allclose(found[:, 0], DISTANCES.sum(1))
    found = Genred("SqDist(Var(0,3,0),Var(1,3,1))", [], axis=1)(X, Y)
    np.testing.assert_allclose(found[:, 0], DISTANCES.sum(1))
    mixed = Genred("SqDist(x,Var(1,3,1))", ["x=Vi(3)"], axis=1)
    assert mixed.nargs == 2
    np.testing.assert_allclose(mixed(X, Y)[:, 0], DISTANCES.sum(1))


def test_short_forms() -> None:
    found = generic_sum("SqDist(x,y)", "a = Vi(1)", "x=Vi(3)", "y=Vj(3)")(X, Y)
    np.testing.assert_allclose(found[:, 0], DISTANCES.sum(1))
    found = generic_logsumexp("SqDist(x,y)", "a = Vj(1)", "x=Vi(3)", "y=Vj(3)")(
        X, Y
    )
    np.testing.assert_allclose(found[:, 0], np.log(np.exp(DISTANCES).sum(0)))
    found = generic_argmin("SqDist(x,y)", "a = Vi(1)", "x=Vi(3)", "y=Vj(3)")(
        X, Y
    )
    np.testing.assert_array_equal(found[:, 0], DISTANCES.argmin(1))
    found = generic_argkmin("SqDist(x,y)", "a = Vi(4)", "x=Vi(3)", "y=Vj(3)")(
        X, Y
    )
    np.testing.assert_array_equal(found, DISTANCES.argsort(1)[:, :4])


def test_pickles_and_threads() -> None:
    call = Genred("Exp(-SqDist(x,y))", ["x=Vi(3)", "y=Vj(3)"], axis=1)
    again = pickle.loads(pickle.dumps(call))
    assert again.formula == call.formula
    assert again.aliases == call.aliases
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda k: again(X * k, Y), range(12)))
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, call(X * k, Y))


def _tiles():
    i = np.array([[0, 2], [2, 5]])
    j = np.array([[0, 3], [3, 7]])
    keep = np.array([[True, False], [True, True]])
    mask = np.zeros((M, N), bool)
    for a, (p, q) in enumerate(i):
        for b, (r, s) in enumerate(j):
            mask[p:q, r:s] = keep[a, b]
    ranges = (
        i,
        np.array([1, 3]),
        np.array([[0, 3], [0, 3], [3, 7]]),
        j,
        np.array([2, 3]),
        np.array([[0, 2], [2, 5], [2, 5]]),
    )
    return ranges, mask


def test_ranges() -> None:
    ranges, mask = _tiles()
    call = Genred("Exp(-SqDist(x,y))", ["x=Vi(3)", "y=Vj(3)"], axis=1)
    values = np.exp(-DISTANCES) * mask
    found = call(X, Y, ranges=ranges)
    np.testing.assert_allclose(found[:, 0], values.sum(1))
    small = tuple(one.astype("i4") for one in ranges)
    np.testing.assert_allclose(call(X, Y, ranges=small), found)
    columns = Genred("Exp(-SqDist(x,y))", ["x=Vi(3)", "y=Vj(3)"], axis=0)
    found = columns(X, Y, ranges=ranges)
    np.testing.assert_allclose(found[:, 0], values.sum(0))
    batch = call(np.stack([X, 2 * X]), Y, ranges=ranges)
    np.testing.assert_allclose(batch[0, :, 0], values.sum(1))


def test_ranges_that_overlap_count_twice() -> None:
    twice = (
        np.array([[1, 4]]),
        np.array([3]),
        np.array([[0, 4], [2, 6], [3, 5]]),
    )
    count = np.zeros((M, N))
    for p, q in twice[2]:
        count[1:4, p:q] += 1
    given = (*twice, *twice)
    call = Genred("SqDist(x,y)", ["x=Vi(3)", "y=Vj(3)"], axis=1)
    found = call(X, Y, ranges=given)
    np.testing.assert_allclose(found[:, 0], (DISTANCES * count).sum(1))
    least = Genred("SqDist(x,y)", ["x=Vi(3)", "y=Vj(3)"], "Min", axis=1)
    met = np.where(count > 0, DISTANCES, np.inf)
    np.testing.assert_allclose(least(X, Y, ranges=given)[:, 0], met.min(1))


ALIASES = ["x = Vi(3)", "y = Vj(3)"]


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("unknown operation", lambda: Genred("Foo(x,y)", ALIASES)),
        ("no alias", lambda: Genred("SqDist(x,z)", ALIASES)),
        ("formula", lambda: Genred("SqDist(x,", ALIASES)),
        ("equal, or 1", lambda: Genred("x*Extract(y,0,2)", ALIASES)),
        ("expected something", lambda: Genred("x", ["x is Vi(3)"])),
        ("axis", lambda: Genred("x*y", ALIASES, axis=2)),
        ("unknown reduction", lambda: Genred("x*y", ALIASES, "Median")),
        ("not both", lambda: Genred("x*y", ALIASES, use_double_acc=True,
                                    dtype_acc="float64")),
        ("reductions that are sums",
         lambda: Genred("x*y", ALIASES, "Min", use_double_acc=True)),
        ("sum_scheme", lambda: Genred("x*y", ALIASES, sum_scheme="fast")),
        ("opt_arg", lambda: Genred("x*y", ALIASES, "KMin")),
        ("has to be 1", lambda: Genred("x*y", ALIASES, "LogSumExp")),
        ("weights", lambda: Genred("Sum(x*y)", ALIASES, "SoftMax")),
        ("2 arguments", lambda: Genred("x*y", ALIASES)(X)),
        ("last dimension", lambda: Genred("x*y", ALIASES)(X[:, :2], Y)),
        ("points on i",
         lambda: Genred("x*y*z", [*ALIASES, "z = Vi(3)"])(X, Y, Y)),
        ("unknown backend",
         lambda: Genred("x*y", ALIASES)(X, Y, backend="TPU")),
        ("six arrays", lambda: Genred("x*y", ALIASES)(X, Y, ranges=(1, 2))),
        ("by a variable", lambda: Genred("Grad(x,x*y,y)", ALIASES)),
        ("there is no component", lambda: Genred("Elem(x,3)", ALIASES)),
    ],
)  # fmt: skip
def test_refusals(message, make) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_nothing_is_executed() -> None:
    for text in (
        "__import__('os')",
        "(lambda: 1)()",
        "x.shape",
        "[x for x in y]",
    ):
        with pytest.raises(ValueError, match="formula"):
            Genred(text, ALIASES)


def test_memory_is_that_of_points() -> None:
    import tracemalloc

    points = np.random.default_rng(5).normal(size=(20_000, 3)).astype("f4")
    call = Genred("Exp(-SqDist(x,y))*b", [*ALIASES, "b = Vj(1)"], axis=1)
    call(points[:10], points[:10], points[:10, :1])
    tracemalloc.start()
    call(points, points, points[:, :1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * len(points)


def test_complex_gradients_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="as complex"):
        Genred("Grad(ComplexAbs(a),a,ComplexAbs(a))", ["a = Vi(2)"], axis=1)


def test_functions_of_the_module_are_named() -> None:
    assert generic_sum.__name__ == "generic_sum"


def test_long_sums_of_float32_are_near_rounding() -> None:
    count = 10_000_000
    tenths = np.full((count, 1), 0.1, "f4")
    call = Genred("b", ["x = Vi(1)", "b = Vj(1)"], axis=1)
    found = call(tenths[:1], tenths)
    exact = count * np.float64(np.float32(0.1))
    assert abs(found[0, 0] - exact) < 1e-6 * exact


def test_ranges_of_nonsense() -> None:
    call = Genred("SqDist(x,y)", ALIASES, axis=1)
    rows, ends = np.array([[0, 2], [2, 3]]), np.array([1, 2])
    columns = np.array([[0, 3], [3, 7]])
    for given in (
        (rows[:1], ends, columns),
        (rows[:1], ends[1:], columns + 5),
        (rows[:1], ends[1:], columns * 1.0),
        (rows[:1], ends[1:] + 3, columns),
    ):
        with pytest.raises(ValueError, match="ranges"):
            call(X, Y, ranges=(*given, *given))
