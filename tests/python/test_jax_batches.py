# tests/python/test_jax_batches.py - several systems at once, by `jax.vmap`.
"""Solutions and log-determinants beside those of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

from jax_cases import assert_same, sine, squares, uniform, wide  # noqa: E402, F401

N, SEVERAL = 7, 3
CLOUDS, SIDES = uniform(SEVERAL, N, 2), uniform(SEVERAL, N)
LENGTHS = np.array([0.5, 0.7, 0.9])


def near(x, l):
    return tilefold.kernel("exp(-|x_i - x_j|²/2l²)", x=x, l=l)


def matrix(x, l):
    return jnp.exp(-squares(x, x) / (2 * l**2)) + 0.1 * jnp.eye(N)


SYSTEMS = {
    "solve": (
        lambda x, b, l: near(x, l).solve(b, 0.1, rtol=1e-13),
        lambda x, b, l: jnp.linalg.solve(matrix(x, l), b),
    ),
    "logdet": (
        lambda x, b, l: near(x, l).logdet(0.1) + 0 * b.sum(),
        lambda x, b, l: jnp.linalg.slogdet(matrix(x, l))[1] + 0 * b.sum(),
    ),
    "likelihood": (
        lambda x, b, l: sum(
            near(x, l).inv_quad_logdet(b, logdet=True, ridge=0.1, rtol=1e-13)
        ),
        lambda x, b, l: (
            b @ jnp.linalg.solve(matrix(x, l), b)
            + jnp.linalg.slogdet(matrix(x, l))[1]
        ),
    ),
}
AXES = {
    "all": (0, 0, 0),
    "points": (0, None, None),
    "sides": (None, 0, None),
    "lengths": (None, None, 0),
    "points and sides": (0, 0, None),
}
GIVEN = (CLOUDS, SIDES, LENGTHS)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_are_mapped(name, axes):
    given = [
        jnp.asarray(value if axis == 0 else value[0])
        for value, axis in zip(GIVEN, AXES[axes], strict=True)
    ]

    def mapped(f):
        return jax.vmap(f, AXES[axes])

    for each in (
        mapped,
        lambda f: jax.grad(sine(mapped(f)), (0, 1, 2)),
        lambda f: mapped(jax.grad(sine(f), (0, 1, 2))),
    ):
        ours, theirs = (each(f) for f in SYSTEMS[name])
        assert_same(jax.jit(ours)(*given), theirs(*given), 1e-10)


def test_maps_of_maps_and_of_columns():
    ours, theirs = SYSTEMS["solve"]
    for axes, other in (
        ((None, 0, None), (0, None, None)),
        ((0, None, None), (None, 0, None)),
        ((None, None, 0), (None, 1, None)),
    ):
        length = LENGTHS if axes[2] == 0 else 0.7
        sides = SIDES.T if other[1] == 1 else SIDES
        found, expected = (
            jax.vmap(jax.vmap(f, axes), other)(
                CLOUDS if 0 in (axes[0], other[0]) else CLOUDS[0], sides, length
            )
            for f in (ours, theirs)
        )
        assert_same(found, expected, 1e-11)
    columns = uniform(SEVERAL, N, 2)
    found = jax.vmap(ours, (None, 0, None))(CLOUDS[0], columns, 0.7)
    solved = jax.vmap(theirs, (None, 0, None))(CLOUDS[0], columns, 0.7)
    assert_same(found, solved, 1e-11)


def test_sides_of_one_system_are_solved_at_once():
    """Also those of a Jacobian: each product serves all of them."""
    kernel = near(CLOUDS[0], 0.7)

    def solved(b):
        return kernel.solve(b, 0.1, info=True)

    assert "while" not in jax.jit(jax.vmap(solved)).lower(SIDES).as_text()
    x, info = jax.vmap(solved)(SIDES)
    alone = [solved(jnp.asarray(b)) for b in SIDES]
    assert len(set(np.asarray(info.iterations))) == 1
    assert info.converged.all()
    for k, (one, own) in enumerate(alone):
        np.testing.assert_allclose(x[k], one, rtol=1e-6, atol=1e-8)
        assert own.residuals.shape == info.residuals[k].shape == ()
    inverse = jax.jacrev(lambda b: kernel.solve(b, 0.1, rtol=1e-13))(SIDES[0])
    expected = jnp.linalg.inv(matrix(CLOUDS[0], 0.7))
    assert_same(inverse, expected, 1e-10)


def test_each_of_several_tells_whether_it_converged():
    """A side of 0 is solved at once, where another one takes more steps."""
    sides = jnp.stack([jnp.zeros(N), jnp.asarray(SIDES[0])])
    kernel = near(CLOUDS[0], 0.7)
    _, info = jax.vmap(
        lambda b: kernel.solve(b, 1e-3, maxiter=1, info=True, rtol=1e-12)
    )(sides)
    assert info.converged.tolist() == [True, False]
