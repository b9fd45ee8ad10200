# tests/python/test_jax_rows.py - each row of the language's tables in JAX, to
# the second order, and in tiles of jax.numpy.
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tilefold.jax  # noqa: E402
from jax_cases import assert_same, sine, wide  # noqa: E402, F401
from jax_rows import NUMBERS, OPS, REDUCTIONS, ROWS  # noqa: E402
from tilefold.jax import tiled_sweep  # noqa: E402
from tilefold.jax.tiled_operations import FUNCTIONS, REFUSED  # noqa: E402
from tilefold.jax.tiled_reductions import MONOIDS  # noqa: E402


def call_of(row, **more):
    """The row's formula, of its arguments in their order."""

    def call(*values):
        named = dict(zip(row.arguments, values, strict=True))
        needed = {name for name, _ in tilefold.compile(row.text).names}
        numbers = {n: NUMBERS[n] for n in NUMBERS if n in needed}
        return tilefold.jax.reduce(row.text, {**named, **numbers}, **more)

    return call


@pytest.mark.sample(0.03)
@pytest.mark.parametrize("name", ROWS)
def test_derivatives_of_each_row(name):
    row = ROWS[name]
    call, values = call_of(row), tuple(row.arguments.values())
    every = tuple(range(len(values)))
    if row.dense is None:
        check_grads(call, values, order=2, modes=("fwd", "rev"), rtol=1e-4)
        return
    assert_same(call(*values), row.dense(*values), 1e-12)
    for transform in (jax.grad, jax.hessian):
        found = transform(sine(call), every)(*values)
        assert_same(found, transform(sine(row.dense), every)(*values), 1e-9)


@pytest.mark.sample(0.03)
@pytest.mark.parametrize("name", ROWS)
def test_batches_of_each_operand_of_each_row(name):
    row = ROWS[name]
    values = list(row.arguments.values())
    gradient = jax.grad(sine(call_of(row)), tuple(range(len(values))))
    for k, value in enumerate(values):
        several = np.stack([value, 0.9 * value])
        axes = [0 if k == place else None for place in range(len(values))]
        mapped = [*values[:k], several, *values[k + 1 :]]
        found = jax.vmap(gradient, axes)(*mapped)
        one_by_one = [
            gradient(*values[:k], each, *values[k + 1 :]) for each in several
        ]
        expected = jax.tree.map(lambda *e: jnp.stack(e), *one_by_one)
        assert_same(found, expected, 1e-12)


@pytest.mark.sample(0.03)
@pytest.mark.parametrize("name", ROWS)
def test_each_row_in_tiles(name, monkeypatch):
    monkeypatch.setattr(tiled_sweep, "TILE", (2, 3))
    row = ROWS[name]
    values = tuple(row.arguments.values())
    every = tuple(range(len(values)))
    tiled = call_of(row, backend="tiled")
    if name.lower() in REFUSED:
        with pytest.raises(tilefold.ArgumentError, match=name.lower()):
            tiled(*values)
        return
    assert_same(tiled(*values), call_of(row)(*values), 1e-12)
    found = jax.grad(sine(tiled), every)(*values)
    assert_same(found, jax.grad(sine(call_of(row)), every)(*values), 1e-10)


def test_every_row_is_here():
    assert set(OPS) == set(ROWS) - set(REDUCTIONS) | {"Rand", "Randn"}
    assert {name.lower() for name in OPS} == set(FUNCTIONS) | REFUSED
    table = Path(__file__).parents[2] / "compiler/ir/reductions.def"
    reductions = set(re.findall(r"^REDUCTION\((\w+)", table.read_text(), re.M))
    assert set(REDUCTIONS) | {"Fold"} == reductions
    assert set(MONOIDS) | {"fold"} == {name.lower() for name in reductions}
