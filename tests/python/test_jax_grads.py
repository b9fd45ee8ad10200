# tests/python/test_jax_grads.py - derivatives against differences, and what is
# kept of formulas that are gone.
from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tilefold.jax  # noqa: E402
from catalogue_references import PAIRS, SHARED  # noqa: E402
from jax_cases import CASES, uniform, wide  # noqa: E402, F401
from tilefold.jax import calls  # noqa: E402
from tilefold.jax.primitive import MOST_PROGRAMS  # noqa: E402


@pytest.mark.sample(0.2)
@pytest.mark.parametrize("name", CASES)
def test_three_orders(name):
    case = CASES[name]

    def call(*values):
        named = dict(zip(case.arguments, values, strict=True))
        return tilefold.jax.reduce(case.text, named)

    values = tuple(case.arguments.values())
    check_grads(call, values, order=3, modes=("fwd", "rev"), rtol=1e-4)


@pytest.mark.sample(0.05)
@pytest.mark.parametrize("name", PAIRS)
def test_two_orders_of_the_catalogue(name):
    """Where points are none of those that are chosen for their kinks."""
    pair = PAIRS[name]
    x, y = (
        np.asarray(points)[SHARED + 1 : SHARED + 4]
        for points in pair.points(np.random.default_rng(5))
    )
    terms = ", ".join(["x_i", "y_j", *pair.parameters])
    text = f"sum_j {name}({terms})"
    floats = {
        key: jnp.asarray(value)
        for key, value in {**pair.parameters, "x": x, "y": y}.items()
        if np.asarray(value).dtype.kind == "f"
    }
    others = {k: v for k, v in pair.parameters.items() if k not in floats}

    def call(*values):
        named = dict(zip(floats, values, strict=True))
        return tilefold.jax.reduce(text, {**others, **named})

    values = tuple(floats.values())
    close = {"rtol": 1e-3, "atol": 1e-3}
    check_grads(call, values, order=2, modes=("fwd",), **close)
    check_grads(call, values, order=2, modes=("rev",), **close)


# ---- what is kept ------------------------------------------------------------


def resident():
    """MiB of memory in use."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def growth(work, first, count):
    """MiB gained by as many more formulas as there were before."""
    for number in range(first):
        work(number)
    before = resident()
    for number in range(first, first + count):
        work(number)
    return resident() - before


def text_of(number):
    return f"sum_j exp(-|x_i - y_j|²/{number + 2})"


POINTS = uniform(5, 3), uniform(6, 3)


def test_programs_of_many_formulas_are_given_back():
    """XLA keeps 1.5 MiB of each that is called outside of jit."""
    x, y = map(jnp.asarray, POINTS)

    def work(number):
        tilefold.jax.reduce(text_of(number), x=x, y=y)

    assert growth(work, MOST_PROGRAMS + 20, 60) < 30


def test_a_text_that_is_read_anew_is_one_request():
    """Each call of tilefold.reduce makes a formula of its own."""
    x = jnp.arange(3.0)
    text = "sum_j sin(x_j)/17"
    known = calls._request.cache_info().currsize
    for _ in range(4):
        tilefold.reduce(text, x=x)
    assert calls._request.cache_info().currsize == known + 1


def test_a_thousand_formulas_are_given_back():
    """Of programs that are traced, nothing is kept but what fits caches."""

    def work(number):
        jax.eval_shape(
            jax.grad(
                lambda x, y: tilefold.jax.reduce(
                    text_of(number), x=x, y=y
                ).sum()
            ),
            *POINTS,
        )

    assert growth(work, 100, 1000) < 40
