# tests/python/test_refusals.py - bad formulas and bad arrays: the exception,
# its code, and the exact words.
from __future__ import annotations

import datetime
import pickle

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN, Points

torch = pytest.importorskip("torch")
scipy_sparse = pytest.importorskip("scipy.sparse")

CURE = "convert it to float64, float32, float16, an integer or bool"


def refusal(call):
    """The error that `call` raises."""
    with pytest.raises(tilefold.Error) as caught:
        call()
    return caught.value


def replaced(**changes):
    """A call of the Gaussian formula with some arguments replaced."""
    arguments = Points().arguments | changes
    return lambda: tilefold.reduce(GAUSSIAN, arguments)


def without(name):
    arguments = Points().arguments
    del arguments[name]
    return lambda: tilefold.reduce(GAUSSIAN, arguments)


# code, family, call, message
ARRAYS = [
    (
        "ObjectArray",
        tilefold.DTypeError,
        replaced(x=np.zeros((50, 3), object)),
        "'x' holds Python objects\nconvert it: numpy.asarray(x, dtype=float)",
    ),
    (
        "MaskedArray",
        tilefold.DTypeError,
        replaced(x=np.ma.zeros((50, 3))),
        "'x' is a masked array\n"
        "fill it, or pass the mask as an array and write where(m_j, …, 0)",
    ),
    (
        "SparseArray",
        tilefold.DTypeError,
        replaced(x=scipy_sparse.csr_matrix((50, 3))),
        "'x' is a sparse array\n"
        "pass the dense values, or the coordinates of its entries",
    ),
    (
        "SparseArray",
        tilefold.DTypeError,
        replaced(x=torch.zeros(50, 3).to_sparse()),
        "'x' is a sparse array\n"
        "pass the dense values, or the coordinates of its entries",
    ),
    (
        "UnsupportedDType",
        tilefold.DTypeError,
        replaced(x=np.zeros((50, 3), np.longdouble)),
        f"'x' holds {np.dtype(np.longdouble)}, which is not computed with\n"
        + CURE,
    ),
    (
        "UnsupportedDType",
        tilefold.DTypeError,
        replaced(x=np.zeros((50, 3), np.clongdouble)),
        "'x' holds complex256, which is not computed with\n" + CURE,
    ),
    (
        "UnsupportedDType",
        tilefold.DTypeError,
        replaced(x=np.zeros((50, 3), "datetime64[s]")),
        "'x' holds datetime64[s], which is not computed with\n" + CURE,
    ),
    (
        "UnsupportedDType",
        tilefold.DTypeError,
        replaced(x=np.zeros(50, [("a", "f8"), ("b", "i4")])),
        "'x' holds [('a', '<f8'), ('b', '<i4')], which is not computed with\n"
        + CURE,
    ),
    *(
        (
            "UnsupportedDType",
            tilefold.DTypeError,
            replaced(l=l),
            f"'l' holds {what}, which is not computed with\n{CURE}",
        )
        for l, what in (
            ("0.5", "a str"),
            (None, "None"),
            (10**400, "an integer beyond 1.8e308"),
            (3**50, "an integer beyond 64 bits that no float64 is"),
        )
    ),
    (
        "ObjectArray",
        tilefold.DTypeError,
        replaced(l=datetime.date(2020, 1, 1)),
        "'l' holds Python objects\nconvert it: numpy.asarray(l, dtype=float)",
    ),
    (
        "UnsupportedDType",
        tilefold.DTypeError,
        replaced(x=[[1, 2, 3], [1]]),
        "'x' holds a list that is no array, which is not computed with\n"
        + CURE,
    ),
    (
        "TensorView",
        tilefold.DTypeError,
        lambda: tilefold.compile("sum_i x_i").bind(
            x=torch.zeros(50, dtype=torch.cfloat).conj().imag
        ),
        "'x' is a lazy neg view of a tensor\npass x.resolve_neg()",
    ),
    (
        "OtherDevice",
        tilefold.DeviceError,
        replaced(x=torch.zeros(50, 3, device="meta")),
        "'y' is on cpu, the other arrays on meta\n"
        "move it there first; arrays are never moved silently",
    ),
    ("MissingArgument", tilefold.ArgumentError, without("y"), None),
    (
        "MisspeltArgument",
        tilefold.ArgumentError,
        lambda: tilefold.reduce("sum_j width*x_j", x=np.ones(3), widht=1),
        None,
    ),
    ("UnknownArgument", tilefold.ArgumentError, replaced(other=1), None),
    (
        "SubscriptedArgument",
        tilefold.ArgumentError,
        lambda: tilefold.reduce("sum_j x_j", x_j=np.ones(3)),
        None,
    ),
    (
        "MissingUnderscore",
        tilefold.ArgumentError,
        lambda: tilefold.reduce("sum_j x_i bj", x=np.ones(3), b=np.ones(3)),
        "'bj' is one name, and no argument; 'b' is given\n"
        "  sum_j x_i bj\n"
        "            ^~\n"
        "write b_j for b of a point, or pass bj=…",
    ),
    (
        "DuplicateArgument",
        tilefold.ArgumentError,
        lambda: tilefold.reduce(
            "sum_j λ x_j", {"λ": 1, "lambda_": 2, "x": [1.0]}
        ),
        None,
    ),
    (
        "LengthMismatch",
        tilefold.ShapeError,
        replaced(b=np.zeros(61)),
        None,
    ),
    (
        "ShapeMismatch",
        tilefold.ShapeError,
        replaced(y=np.zeros((60, 2))),
        None,
    ),
    (
        "WrongComponents",
        tilefold.ShapeError,
        replaced(x=np.zeros((50, 0)), y=np.zeros((60, 0))),
        "'x' has 0 components, where 1 or more are needed",
    ),
    (
        "BatchMismatch",
        tilefold.ShapeError,
        replaced(x=np.zeros((2, 50, 3)), y=np.zeros((3, 60, 3))),
        None,
    ),
    (
        "BareNameGivenRows",
        tilefold.ShapeError,
        lambda: tilefold.reduce(
            "sum_j exp(-|x_i - y_j|²/2l²)",
            x=np.zeros((50, 3)),
            y=np.zeros((60, 3)),
            l=np.ones(50),
        ),
        None,
    ),
    (
        "ScalarOverVector",
        tilefold.ShapeError,
        lambda: tilefold.reduce(
            "sum_j exp(-|x_i - x_j|²/l)", x=np.ones((4, 3)), l=np.ones(3)
        ),
        "a scalar divided by a vector of 3 components\n"
        "  sum_j exp(-|x_i - x_j|²/l)\n"
        "             ^~~~~~~~~~~~~~\n"
        "for a length scale per dimension write |(x_i-y_j)/l|²/2",
    ),
    (
        "VectorPower",
        tilefold.ShapeError,
        replaced(l=np.ones(3)),
        None,
    ),
    (
        "RoleConflict",
        tilefold.ArgumentError,
        replaced(x=tilefold.Vj(np.zeros((60, 3)))),
        None,
    ),
]


@pytest.mark.parametrize(
    ("code", "family", "call", "message"), ARRAYS, ids=[r[0] for r in ARRAYS]
)
def test_arrays_that_are_refused(code, family, call, message):
    error = refusal(call)
    assert (error.code, type(error)) == (code, family)
    if message is not None:
        assert str(error) == message


FORMULAS = [
    ("EmptyFormula", ""),
    ("InvalidUtf8", b"sum_j \xff"),
    ("InvalidUtf8", "sum_j \ud800"),
    ("FormulaTooLong", "x_i" + " + x_i" * 200_000),
    ("NestingTooDeep", "(" * 50_000 + "x_i" + ")" * 49_000),
    ("UnclosedParenthesis", "exp(x_i"),
    ("UnclosedBar", "exp(-|x_i - y_j)"),
    ("ReductionNeedsAxis", "sum x_i"),
    ("UnknownReduction", "foo_j(a_j)"),
    ("SumAfterReduction", "sum_j a_j b_j + c_i"),
    ("SpaceAfterDivision", "exp(-|x-y|² / 2 l²)"),
    ("LatexCommand", r"\frac{x_i}{y_j}"),
    ("Prime", "exp(-|x-x'|²)"),
    ("ImaginarySuffix", "2j x_i"),
    ("UnknownFunction", "k(x_i, y_j)"),
]


@pytest.mark.parametrize(
    ("code", "text"), FORMULAS, ids=[r[0] for r in FORMULAS]
)
def test_formulas_that_are_refused(code, text):
    error = refusal(lambda: tilefold.compile(text))
    assert (error.code, type(error)) == (code, tilefold.FormulaError)
    assert isinstance(error, ValueError)


def test_other_axes_are_not_read():
    for text in ("sum_k x_k", "sum_z x_i"):
        refusal(lambda text=text: tilefold.reduce(text, x=np.ones(3)))


def test_two_vectors_side_by_side():
    error = refusal(
        lambda: tilefold.reduce(
            "sum_j x_i y_j", x=np.ones((3, 2)), y=np.ones((4, 2))
        )
    )
    assert error.code == "VectorProduct"
    assert isinstance(error, tilefold.ShapeError)
    start, end = error.span
    assert error.formula[start:end] == "x_i y_j"
    assert "·" in str(error)


def test_spans_count_characters_and_carets_columns():
    text = "sum_j σ² |x_i - y_j|² $"
    error = refusal(lambda: tilefold.compile(text))
    start, _ = error.span
    assert error.formula == text
    assert text[start] == "$"
    lines = str(error).splitlines()
    place = next(k for k, line in enumerate(lines) if text in line)
    assert lines[place + 1].index("^") == lines[place].index("$")


def test_errors_survive_a_pickle():
    error = refusal(lambda: tilefold.compile("exp(x_i"))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is tilefold.FormulaError
    assert str(again) == str(error)
    assert again.span == error.span
    assert again.code == error.code


FAMILIES = [
    (tilefold.FormulaError, ValueError),
    (tilefold.ShapeError, ValueError),
    (tilefold.DTypeError, TypeError),
    (tilefold.ArgumentError, TypeError),
    (tilefold.OutOfMemory, MemoryError),
    (tilefold.DeviceError, RuntimeError),
    (tilefold.InternalError, RuntimeError),
]


@pytest.mark.parametrize(("family", "builtin"), FAMILIES)
def test_each_family_is_a_builtin_exception(family, builtin):
    assert issubclass(family, builtin)
    assert issubclass(family, tilefold.Error)


# ---- out --------------------------------------------------------------------


def read_only():
    out = np.empty(50)
    out.flags.writeable = False
    return out


OUTS = [
    (
        read_only,
        "ReadOnlyOut",
        "'out' is read-only\npass an array that may be written",
    ),
    (
        lambda: np.broadcast_to(0.0, 50),
        "ReadOnlyOut",
        "'out' is read-only\npass an array that may be written",
    ),
    (lambda: np.empty(49), "OutShape", None),
    (lambda: np.empty((50, 1)), "OutShape", None),
    (lambda: np.empty(50, np.float32), "OutDType", None),
    (
        lambda: [0.0] * 50,
        "OutNotArray",
        "'out' is a list, not an array\n"
        "pass a NumPy array or a tensor that may be written",
    ),
    (lambda: np.empty(50, ">f8"), "BigEndian", None),
    (
        lambda: np.lib.stride_tricks.as_strided(np.empty(1), (50,), (0,)),
        "OutOverlapsItself",
        None,
    ),
]


@pytest.mark.parametrize(("make", "code", "message"), OUTS)
def test_outs_that_are_refused(points, make, code, message):
    error = refusal(
        lambda: tilefold.reduce(GAUSSIAN, points.arguments, out=make())
    )
    assert error.code == code
    if message is not None:
        assert str(error) == message


def test_out_may_not_overlap_an_input():
    x = np.ones(100)
    for out in (x, x[::-1], x.view(np.float64)):
        error = refusal(
            lambda out=out: tilefold.reduce("x_i * sum_j x_j", x=x, out=out)
        )
        assert error.code == "OverlappingOut"
    np.testing.assert_array_equal(x, 1)
    both = np.ones(200)
    tilefold.reduce("x_i * 2", x=both[:100], out=both[100:])
    np.testing.assert_array_equal(both[100:], 2)


STRIDES = [  # of an array of shape (6, 5), in numbers
    ((5, 1), False),
    ((1, 6), False),
    ((-7, 1), False),
    ((2, 20), False),
    ((1, 1), True),
    ((4, 1), True),
    ((1, -5), True),
    ((0, 1), True),
]


@pytest.mark.parametrize(("strides", "overlaps"), STRIDES)
def test_elements_of_out_have_places_of_their_own(strides, overlaps):
    rng = np.random.default_rng(7)
    x, y, b = rng.random((6, 2)), rng.random((4, 2)), rng.random((4, 5))
    memory = np.zeros(400)[200:]
    out = np.lib.stride_tricks.as_strided(
        memory, (6, 5), [8 * step for step in strides]
    )
    call = lambda: tilefold.reduce("sum_j x_i·y_j*b_j", x=x, y=y, b=b, out=out)  # noqa: E731
    if overlaps:
        assert refusal(call).code == "OutOverlapsItself"
    else:
        np.testing.assert_allclose(call(), x @ y.T @ b, 1e-12)


@pytest.mark.parametrize("shape", [(2, 0), (0, 2)])
def test_an_empty_out_has_no_elements_to_overlap(shape):
    x = np.zeros((*shape, 3))
    out = np.zeros(shape)
    y = np.ones((5, 3))
    assert tilefold.reduce("sum_j x_i·y_j", x=x, y=y, out=out) is out


def test_accumulate_is_true_or_false(points):
    out = np.ones(50)
    given = points.arguments
    for accumulate in (np.ones(3), [True], "yes"):
        error = refusal(
            lambda accumulate=accumulate: tilefold.reduce(
                GAUSSIAN, given, out=out, accumulate=accumulate
            )
        )
        assert "pass True or False" in str(error)
    plain = tilefold.reduce(GAUSSIAN, given)
    tilefold.reduce(GAUSSIAN, given, out=out, accumulate=np.True_)
    np.testing.assert_allclose(out, 1 + plain, 1e-12)


def test_components_as_many_as_points():
    """Pm, and a row of its own, say what a bare array does not."""
    x, w = np.arange(6.0), np.arange(6.0)
    text = "sum_j abs(x_i - x_j)*|w|"
    error = refusal(lambda: tilefold.reduce(text, x=x, w=w))
    assert error.code == "ComponentsOrPoints"
    wanted = abs(x[:, None] - x).sum(1) * np.linalg.norm(w)
    for given in (w[None], tilefold.Pm(w)):
        found = tilefold.reduce(text, x=x, w=given)
        np.testing.assert_allclose(found, wanted, 1e-12)
    kernel = tilefold.kernel("abs(x_i - x_j)*|w|", x=x, w=w[:3])
    for some in (kernel[:, :3], kernel[:3], kernel[2:5, 1:4]):
        np.testing.assert_allclose(some.sum(1), some.dense().sum(1), 1e-12)


# ---- calls ------------------------------------------------------------------


CALLS = [
    (
        lambda f: f(3),
        "PositionalArgument",
        "the arguments of a formula are not an int\n"
        "pass them by name, or as one mapping of names to arrays",
    ),
    (
        lambda f: f({}, {}),
        "SurplusArgument",
        "2 positional arguments for a formula of x, y, l, b\n"
        "pass arguments by name",
    ),
    (
        lambda f: f({3: 4}),
        "PositionalArgument",
        "the arguments of a formula are not a mapping with an int as a key\n"
        "pass them by name, or as one mapping of names to arrays",
    ),
    (
        lambda f: f(accumulate=True),
        "AccumulateNeedsOut",
        "accumulate=True without 'out'\n"
        "pass the array that is added to as out=…",
    ),
    (
        lambda f: f(session=3),
        "BadOption",
        "the option session cannot be an int\npass a tilefold.Session",
    ),
    (
        lambda f: f(options={}),
        "BadOption",
        "the option options cannot be a dict\npass a tilefold.Options",
    ),
    (
        lambda _: tilefold.compile(3),
        "FormulaNotText",
        "a formula is text, not an int\n"
        'write tilefold.reduce("sum_j …", x=x, …)',
    ),
    (
        lambda _: tilefold.Options(threads=0),
        "BadOption",
        "the option threads cannot be 0\npass a positive number",
    ),
    (
        lambda _: tilefold.Options(cache_size=-1),
        "BadOption",
        "the option cache_size cannot be -1\npass a number of bytes",
    ),
    (
        lambda _: tilefold.Session(
            tilefold.Options(cache_key_file="/no/such/key")
        ),
        "BadOption",
        "the option cache_key_file cannot be '/no/such/key': No such file or "
        "directory\nmake one by head -c 32 /dev/urandom > FILE; chmod 600 FILE",
    ),
    *(
        (
            lambda _, given=given: tilefold.Options(tolerance=given),
            "BadOption",
            f"the option tolerance cannot be {given!r}\n"
            "pass a number that is at least 0, such as 1e-6",
        )
        for given in (-1e-6, float("nan"), float("inf"), "1e-6", 1j)
    ),
    (
        lambda _: tilefold.Options(isa="z80"),
        "UnknownTarget",
        "unknown instruction set 'z80'\n"
        "use one of x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-bf16, "
        "znver4, znver5, x86-64-v4-amx, aarch64",
    ),
    (lambda _: tilefold.Options(plan="nonsense"), "BadPlan", None),
    (
        lambda f: f.check(rows=0),
        "BadOption",
        "the option rows cannot be 0\npass a positive number of rows",
    ),
]


@pytest.mark.parametrize(("call", "code", "message"), CALLS)
def test_calls_that_are_refused(call, code, message):
    f = tilefold.compile(GAUSSIAN)
    error = refusal(lambda: call(f))
    assert error.code == code
    if message is not None:
        assert str(error) == message


def test_more_neighbours_than_there_are_points():
    x, y = np.zeros((4, 2)), np.arange(6.0).reshape(3, 2)
    indices = tilefold.reduce("argkmin_j(|x_i - y_j|², 5)", x=x, y=y)
    np.testing.assert_array_equal(indices, [[0, 1, 2, -1, -1]] * 4)
    assert (
        refusal(
            lambda: tilefold.reduce("argkmin_j(|x_i - y_j|², 0)", x=x, y=y)
        ).code
        == "KTooSmall"
    )


def test_a_result_that_does_not_fit_in_memory():
    x = np.broadcast_to(np.zeros(1), 1 << 40)
    kernel = tilefold.kernel("x_i - x_j", x=x)
    error = refusal(kernel.dense)
    assert error.code == "OutOfMemory"
    assert isinstance(error, MemoryError)
    assert "8.0 YiB" in str(error) or "EiB" in str(error)


def test_two_array_libraries_do_not_mix(points):
    class Foreign:
        __module__ = "numpy.strange"

        def __dlpack__(self, **keywords):
            return points.x.__dlpack__(**keywords)

    error = refusal(
        lambda: tilefold.reduce(
            GAUSSIAN,
            points.arguments | {"x": Foreign(), "y": torch.zeros(60, 3)},
        )
    )
    assert error.code == "TwoLibraries"


def test_after_an_error_everything_still_works(points):
    f = tilefold.compile(GAUSSIAN)
    refusal(lambda: f(points.arguments | {"b": np.zeros(61)}))
    out = f(points.arguments)
    np.testing.assert_allclose(out, points.matrix @ points.b, rtol=1e-11)
