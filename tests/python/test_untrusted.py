# tests/python/test_untrusted.py - what a stranger's formula may cost.
from __future__ import annotations

import time

import numpy as np
import pytest

import tilefold
from tilefold.errors import FormulaError

RANDOM = np.random.default_rng(0)
S, B = RANDOM.random(50), RANDOM.random(60)


@pytest.fixture(scope="module")
def session():
    options = tilefold.Options(untrusted=True, cache_directory="")
    return tilefold.Session(options)


def refused(session, text, **arguments):
    with pytest.raises(FormulaError) as caught:
        tilefold.reduce(text, session=session, **arguments)
    assert caught.value.code == "UntrustedLimit"
    return str(caught.value)


def test_formulas_of_usual_cost_are_computed(session):
    points = RANDOM.random((50, 3))
    text = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
    arguments = {"x": points, "y": RANDOM.random((60, 3)), "b": B, "l": 0.5}
    found = tilefold.reduce(text, session=session, **arguments)
    assert np.array_equal(found, tilefold.reduce(text, **arguments))
    formula = tilefold.compile(text, session=session).grad("x")
    assert formula(grad=np.ones(50), **arguments).shape == points.shape


def sum_of(terms, digits=""):
    """A formula whose terms are all different."""
    written = "+".join(f"{k}{digits}/b_j" for k in range(terms))
    return f"sum_j ({written})"


def test_the_length_of_a_formula(session):
    assert "10000 bytes" in refused(session, sum_of(700, ".0000000001"), b=B)


def test_the_nodes_of_a_graph(session):
    assert "2000 nodes" in refused(session, sum_of(700), b=B)


def test_the_seconds_of_a_compile(session):
    # Some 4 s of a compile on a Zen 4, so that a faster machine refuses it
    # too, within the limits on nodes and bytes.
    sums = ",".join(f"sum_j(sin(({k}+s_i)^b_j))" for k in range(325))
    start = time.perf_counter()
    assert "1500 ms" in refused(session, f"[{sums}]", s=S, b=B)
    assert time.perf_counter() - start < 10  # of a machine under any load


def test_the_bytes_of_a_result(session):
    rows = np.zeros(70_000)
    text = "sum_j onehot(s_i, 1024) b_j"
    assert "536870912 bytes" in refused(session, text, s=rows, b=B[:1])
    few = tilefold.reduce(text, session=session, s=rows[:5], b=B[:1])
    assert few.shape == (5, 1024)


def test_the_memory_of_states(session):
    """Three rows of a million numbers: few as a result, many as states."""
    text = "sum_j outer(onehot(s_i, {0}), onehot(s_j, {0}))"
    rows = np.zeros(3)
    assert "the memory of its threads" in refused(
        session, text.format(1024), s=rows
    )
    few = tilefold.reduce(text.format(64), session=session, s=rows)
    assert few.shape == (3, 4096)
    assert few[0, 0] == 3


def test_a_refused_formula_leaves_the_session_as_it_was(session):
    test_the_length_of_a_formula(session)
    test_formulas_of_usual_cost_are_computed(session)
