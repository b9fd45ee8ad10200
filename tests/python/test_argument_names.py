# tests/python/test_argument_names.py - one name, however it is spelled.
"""`α` and `alpha`, `λ` and `lambda_`: the same argument in every face."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tilefold

RNG = np.random.default_rng(3)
X, Y = RNG.random((5, 2)), RNG.random((4, 2))
TEXT = "sum_j exp(-α*|x_i - λ_j|²)"
PAIR = "exp(-α*|x_i - λ_j|²)"
SPELLINGS = list(itertools.product(("α", "alpha"), ("λ", "lambda", "lambda_")))


def given(spelling, alpha=0.7, x=X, y=Y):
    return {"x": x, spelling[0]: alpha, spelling[1]: y}


def terms(alpha=0.7):
    squares = ((X[:, None] - Y) ** 2).sum(-1)
    return np.exp(-alpha * squares)


def slopes():
    """By alpha, of the sum over all pairs."""
    squares = ((X[:, None] - Y) ** 2).sum(-1)
    return -(squares * terms()).sum()


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_calls_and_gradients(spelling):
    formula = tilefold.compile(TEXT)
    close(formula(**given(spelling)), terms().sum(1))
    close(formula(given(spelling)), terms().sum(1))
    slope = formula.grad(spelling[0])(**given(spelling), grad=np.ones(5))
    close(slope, slopes())


@pytest.mark.parametrize(
    ("first", "second"),
    list(itertools.product(SPELLINGS[::2], SPELLINGS[1::2])),
)
def test_kernels_with_one_name(first, second):
    """What both have, with other values."""
    a = tilefold.kernel(PAIR, given(first))
    b = tilefold.kernel(PAIR, **given(second, 2.0))
    close((a + b).dense(), terms() + terms(2.0))
    close((3 * a * b) @ np.ones(4), 3 * (terms() * terms(2.0)).sum(1))
    close(
        np.where(a > 0.5, a, b).sum(1),
        np.where(terms() > 0.5, terms(), terms(2.0)).sum(1),
    )


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_parts(spelling):
    reduction = tilefold.Reduction(TEXT)
    arguments = given(spelling)
    parts = [
        reduction.partial({**arguments, spelling[1]: Y[a:b]}, j=(a, 4))
        for a, b in ((0, 3), (3, 4))
    ]
    close(
        reduction.finalise(reduction.merge(*parts), arguments), terms().sum(1)
    )


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_passes(spelling):
    reduction = tilefold.Reduction(TEXT.replace("sum", "var"))
    arguments, left = given(spelling), {}
    passes = reduction.passes(arguments)
    for step in passes:
        state = step.partial({**left, **arguments})
        left |= step.finalise(state, {**left, **arguments})
    close(passes.result(left), terms().var(1))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_dask(spelling):
    da = pytest.importorskip("dask.array")
    lazy = given(spelling, y=da.from_array(Y, chunks=2))
    for text in (TEXT, TEXT.replace("sum", "var")):
        found = tilefold.dask.reduce(text, lazy).compute()
        close(found, tilefold.reduce(text, given(spelling)))
    close(tilefold.dask.grad(TEXT, spelling[0], **lazy).compute(), slopes())
    kernels = [tilefold.dask.kernel(PAIR, **lazy) for _ in range(2)]
    close(
        ((kernels[0] + kernels[1]) @ np.ones(4)).compute(), 2 * terms().sum(1)
    )


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_torch(spelling):
    torch = pytest.importorskip("torch")
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    formula = tilefold.compile(TEXT)

    def total(alpha):
        return formula(**given(spelling, alpha, x, y)).sum()

    alpha = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(total(alpha), alpha)
    close(slope, slopes())
    squares = ((X[:, None] - Y) ** 2).sum(-1)
    curvature = torch.func.hessian(total)(alpha.detach())
    close(curvature, (squares**2 * terms()).sum())
    compiled = torch.compile(total, fullgraph=True, backend="aot_eager")
    close(torch.autograd.grad(compiled(alpha), alpha)[0], slopes())


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_jax(spelling):
    jax = pytest.importorskip("jax")

    def total(alpha):
        return tilefold.jax.reduce(TEXT, given(spelling, alpha)).sum()

    close(jax.grad(total)(0.7), slopes())

    def solved(alpha):
        kernel = tilefold.kernel(
            PAIR, given(spelling, alpha, jax.numpy.asarray(X), X)
        )
        return kernel.solve(np.ones(5), 1.0).sum()

    step = 1e-2
    slope = (solved(0.7 + step) - solved(0.7 - step)) / (2 * step)
    found = float(jax.jit(jax.grad(solved))(0.7))
    assert found == pytest.approx(float(slope), rel=1e-2)


SETTINGS = ("out", "options", "session", "ranges", "batch_rank", "sum_batch")


@pytest.mark.parametrize("name", [*SETTINGS, "accumulate", "backend", "value"])
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_a_mapping_has_arrays_alone(library, name):
    """Whatever their names are: those of settings are given as keywords."""
    weights = np.arange(4.0)
    convert = {"numpy": np.asarray}
    if library == "torch":
        torch = pytest.importorskip("torch")
        convert["torch"] = lambda a: torch.tensor(a, requires_grad=True)
    if library == "jax":
        convert["jax"] = pytest.importorskip("jax").numpy.asarray
    arrays = {"x": X, "y": Y, name: weights}
    arrays = {key: convert[library](value) for key, value in arrays.items()}
    found = tilefold.reduce(f"sum_j |x_i - y_j|² {name}_j", arrays)
    expected = ((X[:, None] - Y) ** 2).sum(-1) @ weights
    close(found.detach() if library == "torch" else found, expected)
    pair = tilefold.kernel(f"|x_i - y_j|² {name}_j", arrays).sum(1)
    close(pair.detach() if library == "torch" else pair, expected)


CALLS = {
    "a call": tilefold.compile(TEXT),
    "a kernel": lambda *a, **k: tilefold.kernel(PAIR, *a, **k),
    "a part": lambda *a, **k: tilefold.Reduction(TEXT).partial(*a, **k),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_name_twice_is_refused(name):
    call = CALLS[name]
    with pytest.raises(tilefold.ArgumentError, match=r"'alpha' is given twice"):
        call(x=X, λ=Y, α=1.0, alpha=2.0)
    with pytest.raises(tilefold.ArgumentError, match=r"'x' is given twice"):
        call({"x": X, "λ": Y, "α": 1.0}, x=X)


def test_one_argument_of_a_function_twice_is_refused():
    with pytest.raises(tilefold.ArgumentError, match=r"'x' is given twice"):
        tilefold.kernel(lambda x, y: x @ y, {"x": X}, x=X, y=Y)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "wrong", [X, [1], {1: X}, "x"], ids=["array", "list", "number", "text"]
)
def test_what_is_no_mapping_is_refused(name, wrong):
    with pytest.raises(tilefold.ArgumentError, match="one mapping of names"):
        CALLS[name](wrong)


# ---- what is neither an argument nor a setting -------------------------------

SETTINGS = "out, accumulate, session, options, ranges, sum_batch and batch_rank"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("thread", "options=tilefold.Options(threads=…)"),
        ("threads", "options=tilefold.Options(threads=…)"),
        ("range", "ranges="),
        ("widht", "width"),
        ("option", "options="),
        ("widths", "width"),
    ],
)
def test_an_unknown_name_is_told_apart_from_arguments_and_settings(name, meant):
    text = "sum_j width*|x_i - y_j|"
    for call in (
        lambda **given: tilefold.reduce(text, **given),
        tilefold.compile(text),
        tilefold.compile(text).bind,
        lambda **given: tilefold.explain(text, **given),
    ):
        with pytest.raises(tilefold.ArgumentError) as caught:
            call(x=X, y=Y, width=2.0, **{name: 1})
        assert caught.value.code == "MisspeltArgument"
        assert str(caught.value) == (
            f"the argument '{name}' is not in the formula, which has width, x "
            f"and y; nor is it a setting: {SETTINGS}\ndid you mean {meant}?"
        )


def test_both_kinds_are_named_where_both_are_near():
    with pytest.raises(tilefold.ArgumentError, match=r"rangess or ranges=\?$"):
        tilefold.reduce("sum_j rangess*x_j", x=X, rangesx=1)


def test_a_name_near_nothing_has_both_lists():
    with pytest.raises(tilefold.ArgumentError) as caught:
        tilefold.reduce("sum_j |x_i - y_j|", x=X, y=Y, zebra=1)
    assert caught.value.code == "UnknownArgument"
    assert str(caught.value) == (
        "the argument 'zebra' is not in the formula, which has x and y; nor is "
        f"it a setting: {SETTINGS}\ndrop it, or correct its name"
    )


def test_a_kernel_has_settings_of_its_own():
    with pytest.raises(tilefold.ArgumentError) as caught:
        tilefold.kernel("|x_i - y_j|", x=X, y=Y, thread=1)
    assert str(caught.value) == (
        "the argument 'thread' is not in the formula, which has x and y; nor "
        "is it a setting: session, options and ranges\n"
        "did you mean options=tilefold.Options(threads=…)?"
    )
