# tests/python/test_formula.py - compiled formulas as objects.
from __future__ import annotations

import pickle
import threading
from collections import ChainMap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN
from instruction_sets import HERE


def test_a_formula_is_called_by_keywords_or_by_one_mapping(points):
    f = tilefold.compile(GAUSSIAN)
    expected = f(**points.arguments)
    np.testing.assert_array_equal(f(points.arguments), expected)
    np.testing.assert_array_equal(f(ChainMap(points.arguments)), expected)
    rest = dict(points.arguments)
    b = rest.pop("b")
    np.testing.assert_array_equal(f(rest, b=b), expected)


def test_a_mapping_may_hold_names_that_are_keywords():
    out = tilefold.reduce("sum_j out_j", {"out": np.ones(4)})
    assert out == 4


def test_reduce_finds_the_formula_it_has_parsed(points):
    first = tilefold.reduce(GAUSSIAN, **points.arguments)
    second = tilefold.reduce(GAUSSIAN.encode(), **points.arguments)
    np.testing.assert_array_equal(first, second)


def test_repr_shows_what_was_understood():
    text = repr(tilefold.compile(GAUSSIAN))
    assert "sum_j⟨(exp((-(|(x_i - y_j)|^2 / (2⋅l^2))))⋅b_j)⟩" in text


def test_names_tell_the_axes():
    f = tilefold.compile("sum_j exp(-|x_i - x_j|²/2l²) b_j")
    assert f.names == [("x", 3), ("l", 0), ("b", 2)]


def test_greek_letters_and_their_ascii_names_meet(points):
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²*λ)")
    first = f(x=points.x, y=points.y, λ=2.0)
    second = f(x=points.x, y=points.y, lambda_=2.0)
    np.testing.assert_array_equal(first, second)


def test_declared_roles_settle_a_formula_without_subscripts(points):
    text = "sum_j exp(-|x_i - y_j|²)"
    plain = tilefold.reduce(text, x=points.x, y=points.y)
    declared = tilefold.reduce(
        text, x=tilefold.Vi(points.x), y=tilefold.Vj(points.y)
    )
    np.testing.assert_array_equal(plain, declared)
    assert repr(tilefold.Pm(2)) == "Pm(2)"


def test_pickle_and_explain(points):
    f = tilefold.compile(GAUSSIAN)
    again = pickle.loads(pickle.dumps(f))
    assert again.text == f.text == GAUSSIAN
    text = f.explain(**points.arguments)
    assert text == tilefold.explain(GAUSSIAN, points.arguments)
    first = text.splitlines()[1]
    assert "sum_j" in first
    assert "asm" in text or "assembly" in text


def test_out_is_written_and_returned(points):
    f = tilefold.compile(GAUSSIAN)
    out = np.full(50, np.nan)
    assert f(**points.arguments, out=out) is out
    np.testing.assert_array_equal(out, f(**points.arguments))
    strided = np.full((50, 3), np.nan)[::-1, 1]
    f(**points.arguments, out=strided)
    np.testing.assert_array_equal(strided, out)


def test_accumulate_adds_to_out(points):
    f = tilefold.compile(GAUSSIAN)
    once = f(**points.arguments)
    out = once.copy()
    f(**points.arguments, out=out, accumulate=True)
    np.testing.assert_allclose(out, 2 * once, rtol=1e-12)


def test_check_returns_the_largest_relative_error(points):
    f = tilefold.compile(GAUSSIAN)
    assert 0 <= f.check(**points.arguments) < 1e-12
    assert 0 <= f.check(points.arguments, rows=3) < 1e-12
    single = {
        name: np.float32(value) for name, value in points.arguments.items()
    }
    assert 0 < f.check(single) < 1e-5


def test_sessions_and_options_of_a_call(points):
    f = tilefold.compile(GAUSSIAN)
    expected = f(**points.arguments)
    session = tilefold.Session(tilefold.Options(threads=1, cache_directory=""))
    np.testing.assert_array_equal(
        f(**points.arguments, session=session), expected
    )
    assert session.threads == 1
    assert session.stats().compiles == 1
    options = tilefold.Options(threads=2)
    np.testing.assert_array_equal(
        f(**points.arguments, options=options), expected
    )
    assert repr(options) == "tilefold.Options(threads=2)"


def test_resolved_options_leave_nothing_open():
    options = tilefold.Session(tilefold.Options(cache_directory="")).options
    assert options.isa in HERE
    assert options.cache_directory == ""
    assert options.threads >= 1


@pytest.mark.parametrize("isa", HERE)
def test_each_instruction_set(points, isa):
    session = tilefold.Session(tilefold.Options(isa=isa))
    out = tilefold.reduce(GAUSSIAN, **points.arguments, session=session)
    np.testing.assert_allclose(out, points.matrix @ points.b, rtol=1e-11)


def test_one_formula_in_many_threads(points):
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile(GAUSSIAN, session=session)
    expected = points.matrix @ points.b
    together = threading.Barrier(8)

    def work(_):
        together.wait()
        return [f(**points.arguments) for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(work, range(8)):
            for out in results:
                np.testing.assert_allclose(out, expected, rtol=1e-11)
    assert session.stats().compiles == 1


def test_the_interpreter_runs_while_a_kernel_does():
    random = np.random.default_rng(0)
    x = random.random((30_000, 3), np.float32)
    f = tilefold.compile("sum_j exp(-|x_i - x_j|²)")
    f(x=x[:10])
    steps, done = 0, threading.Event()

    def run():
        f(x=x)
        done.set()

    worker = threading.Thread(target=run)
    worker.start()
    while not done.is_set():
        steps += 1
        done.wait(0.001)
    worker.join()
    assert steps > 3


def test_progress_is_told_and_may_cancel():
    x = np.random.default_rng(0).random((200_000, 3), np.float32)
    f = tilefold.compile("sum_j exp(-|x_i - x_j|²)")
    seen = []

    def progress(done, total):
        seen.append((done, total))
        return len(seen) < 3

    with pytest.raises(tilefold.Cancelled):
        f(x=x, options=tilefold.Options(progress=progress))
    assert len(seen) == 3
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {200_000.0**2}


def test_an_error_in_the_progress_callback_comes_out():
    x = np.random.default_rng(0).random((200_000, 3), np.float32)

    def progress(done, total):
        raise KeyError(done / total)

    with pytest.raises(KeyError):
        tilefold.reduce(
            "sum_j exp(-|x_i - x_j|²)",
            x=x,
            options=tilefold.Options(progress=progress),
        )
    assert tilefold.reduce("sum_j x_j", x=np.ones(3)) == 3
