# tests/python/test_result_types.py - what formulas give, told without a run.
"""`Formula.result_types` tells what a call of such arrays gives."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import tilefold
from features import formulas_of_features, names
from tilefold import ArgumentType

N, M, D = 5, 7, 3
RNG = np.random.default_rng(11)
SHAPES = {
    "x": (N, D), "y": (M, D), "b": (M,), "c": (N,), "v": (M, 4), "l": (),
    "A": (2, D), "g": (N,), "t": (N, D),
}  # fmt: skip
GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
TEXTS = [
    GAUSSIAN,
    "sum_j exp(-|x_i - y_j|²) v_j",
    "sum_i x_i·y_j",
    "sum_ij x_i·y_j",
    "mean_j |A@(x_i - y_j)|",
    "argmin_j |x_i - y_j|",
    "argkmin_j(|x_i - y_j|, 2)",
    "kmin_j(|x_i - y_j|, 2)",
    "count_j (|x_i - y_j| < l)",
    "any_j (b_j > 0)",
    "var_j |x_i - y_j|",
    "softmax_j(x_i·y_j, v_j)",
    "sum_j exp(im*b_j*x_i[0])",
    "max_j b_j",
    "c_i + 1",
    "sum_j j*b_j",
]


def compiled(text):
    return tilefold.compile(text)


DERIVED = {
    "x": lambda: compiled(GAUSSIAN).grad("x", cotangent="g"),
    "y": lambda: compiled(GAUSSIAN).grad("y", cotangent="g"),
    "l": lambda: compiled(GAUSSIAN).grad("l", cotangent="g"),
    "A": lambda: compiled(TEXTS[4]).grad("A", cotangent="g"),
    "several": lambda: compiled(GAUSSIAN).grad(
        ["x", "l", "b"], cotangent="g", value=True
    ),
    "along": lambda: compiled(GAUSSIAN).jvp("x", tangent="t"),
    "twice": lambda: (
        compiled(GAUSSIAN).grad("x", cotangent="g").jvp("x", tangent="t")
    ),
}


def arrays_of(formula, dtype="f8", batch=()):
    return {
        name: np.asarray(
            RNG.standard_normal((*batch, *SHAPES[name])), dtype=dtype
        )
        for name, _ in formula.names
    }


def told_of(arrays):
    return {
        name: ArgumentType(value.shape, value.dtype)
        for name, value in arrays.items()
    }


def assert_told(formula, arrays, batch=0, **settings):
    """What is told is what a call gives."""
    results = formula(arrays, **settings)
    if not isinstance(results, tuple):
        results = (results,)
    found = formula.result_types(told_of(arrays), batch)
    assert [kind.shape for kind in found] == [np.shape(r) for r in results]
    assert [kind.dtype for kind in found] == [
        np.asarray(r).dtype.name for r in results
    ]
    for kind in found:
        points = (kind.axes & 1) + (kind.axes >> 1)
        if kind.like is None:
            assert len(kind.shape) == batch + points + len(kind.components)
        own = len(kind.shape) - len(kind.components)
        assert kind.shape[own:] == kind.components


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4"])
@pytest.mark.parametrize("text", TEXTS)
def test_results_of_formulas(text, dtype):
    formula = tilefold.compile(text)
    assert_told(formula, arrays_of(formula, dtype))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("case", DERIVED)
def test_results_of_derivatives(case, dtype):
    formula = DERIVED[case]()
    assert_told(formula, arrays_of(formula, dtype))


@pytest.mark.parametrize("case", DERIVED)
def test_batches(case):
    formula = DERIVED[case]()
    assert_told(formula, arrays_of(formula, batch=(2,)), 1, batch_rank=1)


def test_batches_broadcast():
    formula = tilefold.compile("sum_j x_i·y_j")
    arrays = {"x": np.zeros((4, 1, N, D)), "y": np.zeros((1, 2, M, D), "f4")}
    assert_told(formula, arrays, 2, batch_rank=2)


def test_lengths_may_be_symbols():
    points, weights = ArgumentType(("N", D), "f4"), ArgumentType(("M",), "f4")
    types = {"x": points, "y": ArgumentType(("M", D), "f4"), "b": weights}
    formula = tilefold.compile("sum_j exp(-|x_i - y_j|²) b_j")
    assert formula.result_types(types) == [
        tilefold.ResultType(None, 1, (), "float32", ("N",))
    ]
    (by_y,) = formula.grad("y").result_types(
        {**types, "grad": ArgumentType(("N",), "f4")}
    )
    assert (by_y.like, by_y.axes, by_y.components) == ("y", 2, (D,))
    assert by_y.shape == ("M", D)
    batches = {
        "x": ArgumentType(("B", None, D), "f8"),
        "y": ArgumentType((1, M, D), "f8"),
        "b": ArgumentType((None, None), "f8"),
    }
    (told,) = formula.result_types(batches, batch=1)
    assert told.shape == ("B", None)
    assert told.dtype == "float64"
    known = {**types, "b": ArgumentType((None,), "f4")}
    assert formula.grad("b").result_types(
        {**known, "grad": ArgumentType((None,), "f4")}
    )[0].shape == (None,)


class Symbol:
    """As PyTorch's are: without a hash."""

    __hash__ = None

    def __eq__(self, other):
        return self is other


def test_a_symbol_on_both_axes():
    """One that an array is on twice stands for as many points beside it."""
    formula = tilefold.compile("sum_j exp(-|x_i - x_j|²) b_j")
    points = ArgumentType(("n", 3), np.float32)
    weights = ArgumentType(("n",), np.float32)
    (found,) = formula.result_types({"x": points, "b": weights})
    assert found.shape == ("n",)
    with pytest.raises(tilefold.ShapeError, match="'b' has m"):
        formula.result_types(
            {"x": points, "b": ArgumentType(("m",), np.float32)}
        )


def test_symbols_without_a_hash():
    rows = Symbol()
    (told,) = tilefold.compile("sum_j x_i·y_j").result_types(
        {
            "x": ArgumentType((rows, D), "f8"),
            "y": ArgumentType((M, D), "f8"),
        }
    )
    assert told.shape[0] is rows


def test_roles_are_said():
    formula = tilefold.compile("sum_j |x - y|²")
    types = {
        "x": ArgumentType((N, D), "f4", axes=1),
        "y": ArgumentType(("M", D), "f4", axes=2),
    }
    assert formula.result_types(types)[0].shape == (N,)
    declared = {
        "x": tilefold.Vi(np.zeros((N, D), "f4")),
        "y": tilefold.Vj(ArgumentType(("M", D), "f4")),
    }
    assert formula.result_types(declared) == formula.result_types(types)


def test_whatever_has_a_shape_and_a_dtype():
    formula = tilefold.compile(GAUSSIAN)
    arrays = arrays_of(formula, "f4")
    told = formula.result_types({**arrays, "l": 0.5})
    assert told == formula.result_types({**told_of(arrays), "l": 2})


def test_types_of_other_libraries():
    torch = pytest.importorskip("torch")
    formula = tilefold.compile("sum_j x_i·y_j")
    x, y = (torch.empty(n, D, dtype=torch.bfloat16) for n in (N, M))
    (told,) = formula.result_types({"x": x.to("meta"), "y": y})
    assert told.dtype == str(formula(x=x, y=y).dtype).removeprefix("torch.")
    assert ArgumentType((N,), torch.float32) == ArgumentType((N,), "float32")


@pytest.mark.parametrize("number", [3, True, 3.0, 2**53, 2**60 + 1])
def test_whole_numbers_of_python_are_what_calls_take_them_for(number):
    """A float, but one that no float64 holds."""
    held = {"n": np.arange(5), "c": number}
    for text in ("c + n_j", "max_j where(n_j < 3, n_j, c)"):
        formula = tilefold.compile(text)
        (told,) = formula.result_types(held)
        assert told.dtype == formula(held).dtype


def test_no_kernel_is_compiled():
    formula = tilefold.compile("sum_j exp(-|x_i - y_j|²/4l²) b_j")
    before = tilefold.stats().compiles
    for dtype in ("f4", "f8"):
        formula.result_types(told_of(arrays_of(formula, dtype)))
    huge = {**told_of(arrays_of(formula)), "x": ArgumentType((2**40, D), "f8")}
    assert formula.result_types(huge)[0].shape == (2**40,)
    assert tilefold.stats().compiles == before


def test_answers_are_kept_as_long_as_their_formula():
    formula = tilefold.compile("sum_j exp(-|x_i - y_j|²/6) b_j")
    types = told_of(arrays_of(formula))
    first = formula.result_types(types)
    first.clear()  # the list is the caller's
    assert len(formula.result_types(types)) == 1
    for n in range(200):
        wider = {"x": (N, n + 1), "y": (M, n + 1), "b": (M,)}
        formula.result_types(
            {k: ArgumentType(shape, "f8") for k, shape in wider.items()}
        )
    dead = weakref.ref(formula)
    del formula
    gc.collect()
    assert dead() is None


def test_importing_tilefold_imports_no_more():
    code = (
        "import sys, tilefold\n"
        "assert 'tilefold.result_types' not in sys.modules\n"
        "tilefold.ArgumentType((), 'f8')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


FORMULA = "sum_j exp(-|x_i - y_j|²) b_j"
POINTS = {
    "x": ArgumentType((N, D), "f8"),
    "y": ArgumentType((M, D), "f8"),
    "b": ArgumentType((M,), "f8"),
}
REFUSALS = {
    "a name": (
        lambda f: f.result_types({**POINTS, "z": POINTS["b"]}),
        tilefold.ArgumentError,
        "'z'",
    ),
    "a missing one": (
        lambda f: f.result_types({"x": POINTS["x"], "y": POINTS["y"]}),
        tilefold.ArgumentError,
        "needs 'b'",
    ),
    "components": (
        lambda f: f.result_types({**POINTS, "x": ArgumentType((N, 2), "f8")}),
        tilefold.ShapeError,
        "components",
    ),
    "lengths": (
        lambda f: f.result_types({**POINTS, "b": ArgumentType((9,), "f8")}),
        tilefold.ShapeError,
        "'y' has 7 rows on j, 'b' has 9|'b' has 9 rows on j, 'y' has 7",
    ),
    "lengths beside symbols": (
        lambda f: f.result_types(
            {
                **POINTS,
                "x": ArgumentType(("N", D), "f8"),
                "b": ArgumentType((9,), "f8"),
            }
        ),
        tilefold.ShapeError,
        "'y' has 7 rows on j, 'b' has 9",
    ),
    "symbols that differ": (
        lambda f: f.result_types({**POINTS, "b": ArgumentType(("B",), "f8")}),
        tilefold.ShapeError,
        "'y' has 7 rows on j, 'b' has B",
    ),
    "batches that differ": (
        lambda f: f.result_types(
            {
                "x": ArgumentType(("A", N, D), "f8"),
                "y": ArgumentType(("B", M, D), "f8"),
                "b": ArgumentType((1, M), "f8"),
            },
            batch=1,
        ),
        tilefold.ShapeError,
        "do not broadcast",
    ),
    "components that are symbols": (
        lambda f: f.result_types({**POINTS, "x": ArgumentType((N, "D"), "f8")}),
        tilefold.ArgumentError,
        "give components as numbers",
    ),
    "a negative length": (
        lambda f: f.result_types({**POINTS, "b": ArgumentType((-1,), "f8")}),
        tilefold.ArgumentError,
        "not all known",
    ),
    "a dtype": (
        lambda f: f.result_types({**POINTS, "b": ArgumentType((M,), "real")}),
        tilefold.DTypeError,
        "'b' holds real",
    ),
    "a dtype of NumPy's": (
        lambda f: f.result_types({**POINTS, "b": ArgumentType((M,), "M8[s]")}),
        tilefold.DTypeError,
        "datetime64",
    ),
    "axes": (
        lambda f: f.result_types(
            {**POINTS, "b": ArgumentType((M,), "f8", axes=3)}
        ),
        tilefold.ArgumentError,
        "pass 0, 1 for i or 2 for j",
    ),
    "no type": (
        lambda f: f.result_types({**POINTS, "b": [1.0, 2.0]}),
        tilefold.ArgumentError,
        r"tilefold.ArgumentType\(shape, dtype\)",
    ),
    "no mapping": (
        lambda f: f.result_types([POINTS["b"]]),
        tilefold.ArgumentError,
        "pass a mapping",
    ),
    "no batch": (
        lambda f: f.result_types(POINTS, batch=-1),
        tilefold.ArgumentError,
        "from 0 on",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    run, error, message = REFUSALS[case]
    with pytest.raises(error, match=message):
        run(tilefold.compile(FORMULA))


def test_every_formula_of_the_features():
    """A pair term is refused as its call is."""
    for text in formulas_of_features():
        formula, held = tilefold.compile(text), names()
        if "k(u, v) =" in text:
            held |= {"u": held["x"], "v": held["y"]}
        arrays = {name: np.asarray(held[name]) for name, _ in formula.names}
        try:
            formula(arrays)
        except tilefold.FormulaError:
            with pytest.raises(tilefold.FormulaError):
                formula.result_types(arrays)
        else:
            assert_told(formula, arrays)


@pytest.mark.parametrize("dtype", ["u1", "i2", "?", "i4", "f4"])
@pytest.mark.parametrize(
    "text",
    [
        "mean_j(n_i*m_j)",
        "var_j(n_i < m_j)",
        "std_j(n_i + m_j)",
        "std_j(n_i < m_j)",
        "(var_j(n_i < m_j))*(sum_j(n_i + m_j))",
        "(mean_j(n_i*m_j))*x_i",
    ],
)
def test_means_of_chosen_pairs(text, dtype):
    """All pairs chosen are all pairs: exact numbers keep their digits."""
    n = np.array([200, 201, 255], "u1").astype(dtype)
    every = tilefold.Ranges([0, 3], [0, 3], np.ones((1, 1), bool))
    arrays = {"n": n, "m": n} | (
        {"x": np.array([0.1, 0.2, 0.3], "f4")} if "x_i" in text else {}
    )
    formula = tilefold.compile(text)
    wanted = formula(**arrays)
    got = tilefold.reduce(text, **arrays, ranges=every)
    assert got.dtype == wanted.dtype
    digits = 1e-6 if wanted.dtype == "float32" else 1e-15
    np.testing.assert_allclose(got, wanted, rtol=digits)


LABELS = ["i1", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("dtype", LABELS)
def test_labels_leave_float32_as_it_is(dtype):
    """Comparisons of integers are truths, which NumPy never promotes by."""
    x = np.linspace(0, 1, 7, dtype="f4")
    big = np.array([0, 1, 2, 1, 0, 2, 2]).astype(dtype)
    if np.dtype(dtype).itemsize == 8:
        big += np.asarray(2**60, dtype)  # rounded, they would all be equal
    same = big[:, None] == big
    kernel = np.exp(-((x[:, None] - x) ** 2))
    wanted = {
        "sum_j [a_i == c_j] exp(-(x_i - x_j)²)": (same * kernel).sum(1),
        "sum_j where(a_i != c_j, x_j, 0)": (~same * x).sum(1),
        "max_j where(a_i < c_j and c_j >= a_i, x_j, -1)": np.where(
            big[:, None] < big, x, -1
        ).max(1),
    }
    for text, value in wanted.items():
        got = tilefold.reduce(text, a=big, c=big, x=x)
        assert got.dtype == "float32"
        np.testing.assert_allclose(got, value, rtol=1e-6)
    # Of what is computed with, they promote, as before.
    wide = "f8" if np.dtype(dtype).itemsize > 2 else "f4"
    for text in (
        "sum_j [a_i == c_j] c_j x_j",
        "sum_j [a_i < x_j] x_j",
        "sum_j [a_i == c_j] (x_j + a_i)",
    ):
        arrays = {"a": big, "x": x} | ({"c": big} if "c_j" in text else {})
        assert tilefold.reduce(text, **arrays).dtype == wide, text
