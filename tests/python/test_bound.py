# tests/python/test_bound.py - formulas bound to their arrays, called again.
from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN, Points, additions, cost

NAMES = ["x", "y", "b", "l"]

# text, arguments that are taken of Points
FORMULAS = [
    (GAUSSIAN, ["x", "y", "b", "l"]),
    ("sum_ij exp(-|x_i - y_j|²)", ["x", "y"]),
    ("argkmin_j(|x_i - y_j|², 3)", ["x", "y"]),
    ("sin(x_i)*1.1 + 2", ["x"]),
    ("sum_j exp(im*x_i·y_j) b_j", ["x", "y", "b"]),
]


def refusal(call):
    """The error that `call` raises."""
    with pytest.raises(tilefold.Error) as caught:
        call()
    return caught.value


def chosen(points, names):
    return {name: points.arguments[name] for name in names}


@pytest.mark.parametrize(("text", "names"), FORMULAS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_calls_follow_the_arrays(text, names, dtype):
    f = tilefold.compile(text)
    arguments = chosen(Points(dtype), names)
    bound = f.bind(arguments)
    out = bound.out
    for _ in range(3):
        result = bound()
        expected = f(arguments)
        assert result is out
        assert result.dtype == expected.dtype
        assert result.shape == np.shape(expected)
        np.testing.assert_array_equal(result, expected)
        arguments["x"] *= 0.9


def test_what_calls_write_to(points):
    f = tilefold.compile(GAUSSIAN)
    out = np.zeros((2, 50))[:, ::2][1]  # any strides
    bound = f.bind(points.arguments, out=np.zeros(50)[::-1])
    assert bound() is bound.out
    np.testing.assert_array_equal(bound.out, f(points.arguments))
    assert (
        refusal(lambda: f.bind(points.arguments, out=out)()).code == "OutShape"
    )
    total = np.zeros(50)
    adds = f.bind(points.arguments, out=total, accumulate=True)
    adds(), adds()
    np.testing.assert_allclose(total, 2 * f(points.arguments), rtol=1e-15)


def test_gradients_give_a_tuple(points):
    f = tilefold.compile(GAUSSIAN).grad(["x", "l"], value=True)
    arguments = points.arguments | {"grad": np.ones(50)}
    bound = f.bind(arguments)
    for _ in range(3):
        results = bound()
        assert results is bound.out
        for result, expected in zip(results, f(arguments), strict=True):
            np.testing.assert_array_equal(result, expected)
        arguments["x"] *= 0.9


def test_batches_and_their_sums(points):
    f = tilefold.compile(GAUSSIAN)
    arguments = points.arguments | {"x": np.stack([points.x, 2 * points.x])}
    for settings in ({}, {"sum_batch": 0}):
        bound = f.bind(arguments, **settings)
        for _ in range(2):
            np.testing.assert_array_equal(bound(), f(arguments, **settings))
            arguments["x"] *= 0.9


def test_ranges_sessions_and_options(points):
    f = tilefold.compile(GAUSSIAN)
    tiles = tilefold.Ranges([0, 25, 50], [0, 30, 60], np.eye(2, dtype=bool))
    session = tilefold.Session(tilefold.Options(threads=2))
    for settings in (
        {"ranges": tiles},
        {"session": session},
        {"options": tilefold.Options(threads=1)},
    ):
        bound = f.bind(points.arguments, **settings)
        expected = f(points.arguments, **settings)
        np.testing.assert_array_equal(bound(), expected)
    assert session.stats().runs == 2
    bound = f.bind(points.arguments, session=session)
    bound(), bound()
    assert session.stats().runs == 4


def test_roles_and_quantized_arrays(points):
    f = tilefold.compile("sum_j s*|u - v_j|²")
    bound = f.bind(u=tilefold.Vi(points.x), v=points.y, s=tilefold.Pm(2))
    points.x += 1
    expected = 2 * ((points.x[:, None] - points.y) ** 2).sum((1, 2))
    np.testing.assert_allclose(bound(), expected)
    codes = tilefold.quantize(points.x)
    f = tilefold.compile("sum_j x_i·y_j")
    np.testing.assert_array_equal(
        f.bind(x=codes, y=points.y)(), f(x=codes, y=points.y)
    )


def test_numbers_and_lists_are_read_once(points):
    scale = [0.5]
    f = tilefold.compile(GAUSSIAN)
    bound = f.bind(points.arguments | {"l": scale})
    scale[0] = 0.1
    np.testing.assert_array_equal(bound(), f(points.arguments))


def test_arrays_are_kept_alive():
    f = tilefold.compile("sum_j x_i·x_j")
    x = np.random.default_rng(0).random((40, 3))
    expected = f(x=x)
    bound, alive = f.bind(x=x), weakref.ref(x)
    del x
    gc.collect()
    assert alive() is not None
    np.testing.assert_array_equal(bound(), expected)
    del bound
    gc.collect()
    assert alive() is None


def test_an_array_that_is_bound_is_not_resized():
    x = np.zeros((4, 3))
    bound = tilefold.compile("sum_j x_i·x_j").bind(x=x)
    with pytest.raises(ValueError, match="resize"):
        x.resize((4000, 3))
    assert bound().shape == (4,)


def test_calls_keep_nothing(points):
    bound = tilefold.compile(GAUSSIAN).bind(points.arguments)
    counts = [
        sys.getrefcount(v) for v in (*points.arguments.values(), bound.out)
    ]
    for _ in range(1000):
        bound()
    assert counts == [
        sys.getrefcount(v) for v in (*points.arguments.values(), bound.out)
    ]


# ---- tensors ----------------------------------------------------------------


def test_tensors(points):
    torch = pytest.importorskip("torch")
    f = tilefold.compile(GAUSSIAN)
    arguments = {k: torch.as_tensor(v) for k, v in points.arguments.items()}
    arguments["l"] = points.l
    for settings in ({}, {"out": torch.zeros(50, dtype=torch.float64)}):
        bound = f.bind(arguments, **settings)
        for _ in range(3):
            result = bound()
            assert isinstance(result, torch.Tensor)
            assert result is bound.out
            assert torch.equal(result, f(arguments))
            arguments["x"].mul_(0.9)


MOVES = [
    ("x", lambda t: t.resize_(100_000, 3)),
    ("x", lambda t: t.set_(t.new_zeros(50, 3))),
    ("x", lambda t: t.t_()),
    ("y", lambda t: setattr(t, "data", t.new_zeros(60, 3))),
    ("b", lambda t: t.untyped_storage().resize_(0)),
    ("out", lambda t: t.set_(t.new_zeros(50))),
]


@pytest.mark.parametrize(("name", "move"), MOVES)
def test_tensors_that_moved_are_refused(points, name, move):
    torch = pytest.importorskip("torch")
    f = tilefold.compile(GAUSSIAN)
    arguments = {
        k: torch.tensor(v) for k, v in points.arguments.items() if k != "l"
    }
    bound = f.bind(arguments, l=0.5)
    bound()
    move((arguments | {"out": bound.out})[name])
    error = refusal(bound)
    assert error.code == "TensorMoved"
    assert str(error).startswith(
        f"the tensor '{name}' has got other memory or another shape since it "
        "was bound\n"
    )


def test_tensors_that_require_grad_are_refused(points):
    torch = pytest.importorskip("torch")
    x = torch.tensor(points.x, requires_grad=True)
    f = tilefold.compile("sum_j x_i·x_j")
    assert refusal(lambda: f.bind(x=x)).code == "RequiresGrad"
    with torch.no_grad():
        bound = f.bind(x=x)
        assert torch.equal(bound(), f(x=x))


# ---- refusals ---------------------------------------------------------------


def test_what_a_call_would_refuse_is_refused_when_bound(points):
    f = tilefold.compile(GAUSSIAN)
    for changes, code in (
        ({"b": np.zeros(61)}, "LengthMismatch"),
        ({"z": 1}, "UnknownArgument"),
        ({"x": "text"}, "UnsupportedDType"),
    ):
        arguments = points.arguments | changes
        assert (
            refusal(lambda a=arguments: f.bind(a)).code
            == refusal(lambda a=arguments: f(a)).code
        ), code
    assert refusal(lambda: f.bind({}, {})).code == "SurplusArgument"
    assert (
        refusal(lambda: f.bind(points.arguments, accumulate=True)).code
        == "AccumulateNeedsOut"
    )


def test_arguments_of_a_call_are_refused(points):
    bound = tilefold.compile(GAUSSIAN).bind(points.arguments)
    assert str(refusal(lambda: bound(x=points.x))) == (
        "a bound formula has its arguments; this call passes 'x'\n"
        "change the bound arrays in place, or bind others"
    )
    assert refusal(lambda: bound(points.arguments)).code == "BoundTakesNothing"


@pytest.mark.parametrize("make", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copies_are_refused(points, make):
    bound = tilefold.compile(GAUSSIAN).bind(points.arguments)
    assert refusal(lambda: make(bound)).code == "BoundNotPickled"


def test_it_cannot_be_made_by_hand():
    with pytest.raises(TypeError):
        tilefold.Bound()


def test_indices_are_checked_each_time():
    n, table = np.array([0, 1, 2]), np.array([1.0, 2.0, 4.0])
    bound = tilefold.compile("t[n_i]").bind(n=n, t=table)
    assert bound().tolist() == [1, 2, 4]
    n[1] = 3
    assert refusal(bound).code == "IndexOutOfRange"
    n[1] = 0
    assert bound().tolist() == [1, 1, 4]


def test_it_says_what_it_is(points):
    f = tilefold.compile(GAUSSIAN)
    bound = f.bind(points.arguments)
    assert repr(bound) == repr(f).replace("Formula", "Bound")
    assert bound.formula.text == GAUSSIAN


# ---- threads, signals, time -------------------------------------------------


def test_each_thread_binds_its_own(points):
    f = tilefold.compile(GAUSSIAN)
    expected = f(points.arguments)
    wrong = []

    def work():
        bound = f.bind(points.arguments)
        for _ in range(500):
            bound.out[:] = 0
            if not np.array_equal(bound(), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_call_beside_another_is_refused():
    x = np.random.default_rng(0).random((200_000, 3), np.float32)
    codes = []

    def progress(_done, _total):
        codes.append(refusal(bound).code)
        return False

    bound = tilefold.compile("sum_j exp(-|x_i - x_j|²)").bind(
        x=x, options=tilefold.Options(progress=progress)
    )
    assert refusal(bound).code == "Cancelled"
    assert codes == ["BoundIsRunning"]
    assert refusal(bound).code == "Cancelled"  # and not still running


def test_progress_is_told():
    x = np.random.default_rng(0).random((60_000, 3), np.float32)
    told = []
    options = tilefold.Options(
        progress=lambda done, total: told.append(done / total)
    )
    bound = tilefold.compile("sum_j exp(-|x_i - x_j|²)").bind(
        x=x, options=options
    )
    del options
    bound()
    assert told
    assert told == sorted(told)


@pytest.mark.timing
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_call_costs_less_than_a_microsecond_beside_its_kernel(library):
    """One statement on (4, 16) numbers takes 0.3 µs, an addition of two small
    NumPy arrays 0.5; the rest is the call."""
    x = np.random.default_rng(0).random((4, 16), np.float32)
    if library == "torch":
        x = pytest.importorskip("torch").as_tensor(x)
    bound = tilefold.compile("sum_i sum(x_i + 0.1)").bind(x=x)
    # Where a microsecond is short, in those additions.
    assert cost(bound) < 1e-6 or additions(bound, 2) <= 2
