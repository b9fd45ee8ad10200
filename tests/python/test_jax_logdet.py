# tests/python/test_jax_logdet.py - log-determinants of many points, traced.
"""Estimates where JAX traces, beside the dense truth."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import tilefold.jax  # noqa: E402
from jax_cases import narrow, squares, wide  # noqa: E402, F401

N, L, RIDGE = 2100, 0.7, 0.1
POINTS = np.random.default_rng(0).standard_normal((N, 2))


def estimated(l, ridge, x=POINTS, **settings):
    kernel = tilefold.jax.kernel("exp(-|x_i - x_j|²/2l²)", x=x, l=l)
    return kernel.logdet(ridge=ridge, **settings)


def truth(l, ridge, x=POINTS):
    matrix = jnp.exp(-squares(x, x) / (2 * l**2)) + ridge * jnp.eye(N)
    return jnp.linalg.slogdet(matrix)[1]


@pytest.mark.parametrize("preconditioner", ["auto", None])
def test_estimates(preconditioner):
    traced = jax.jit(
        lambda l, seed=0: estimated(
            l, RIDGE, preconditioner=preconditioner, seed=seed, info=True
        ),
        static_argnums=1,
    )
    value, info = traced(L)
    want = float(truth(L, RIDGE))
    assert 0 < info.error < 0.01 * abs(want)
    assert abs(value - want) < 4 * info.error
    assert info.rank == (100 if preconditioner else 0)
    assert info.probes == 32
    assert info.steps in (20, 60, 200)
    assert traced(L)[0] == value
    assert traced(L, 1)[0] != value


def test_derivatives_by_parameters():
    found = jax.jit(jax.value_and_grad(estimated, (0, 1)))(L, RIDGE)
    want = jax.value_and_grad(truth, (0, 1))(L, RIDGE)
    for own, dense in zip(found[1], want[1], strict=True):
        assert abs(own - dense) < 0.03 * abs(dense)
    tangent = jax.jvp(lambda l: estimated(l, RIDGE), (L,), (2.0,))[1]
    np.testing.assert_allclose(tangent, 2 * found[1][0], rtol=1e-5)
    hessian = jax.jit(jax.hessian(estimated))(L, RIDGE)
    dense = jax.hessian(truth)(L, RIDGE)
    assert abs(hessian - dense) < 0.1 * abs(dense)


def test_derivatives_by_points_have_the_truth_as_their_mean():
    """Along a direction of all points, of which the noise is small."""
    along = POINTS / 10
    found = jax.jit(
        lambda x: jax.jvp(
            lambda x: estimated(L, RIDGE, x, probes=64), (x,), (along,)
        )[1]
    )(POINTS)
    dense = jax.jvp(lambda x: truth(L, RIDGE, x), (POINTS,), (along,))[1]
    assert abs(found - dense) < 0.05 * abs(dense)


def test_likelihoods_are_mapped():
    b = np.sin(POINTS[:, 0])

    def likelihood(l, b):
        kernel = tilefold.jax.kernel("exp(-|x_i - x_j|²/2l²)", x=POINTS, l=l)
        terms = kernel.inv_quad_logdet(
            b, logdet=True, ridge=RIDGE, probes=4, rtol=1e-9
        )
        return terms[0] + terms[1]

    lengths = np.array([0.6, 0.8])
    found = jax.jit(jax.vmap(likelihood, (0, None)))(lengths, b)
    for own, l in zip(found, lengths, strict=True):
        np.testing.assert_allclose(own, likelihood_of(l, b), rtol=0.01)


def likelihood_of(l, b):
    matrix = jnp.exp(-squares(POINTS, POINTS) / (2 * l**2))
    matrix = matrix + RIDGE * jnp.eye(N)
    return b @ jnp.linalg.solve(matrix, b) + jnp.linalg.slogdet(matrix)[1]


@pytest.mark.usefixtures("narrow")
def test_estimates_in_32_bits():
    points = jnp.asarray(POINTS)
    value, info = jax.jit(lambda l: estimated(l, RIDGE, points, info=True))(L)
    assert value.dtype == np.float32
    matrix = np.exp(
        -((POINTS[:, None] - POINTS) ** 2).sum(-1) / (2 * L**2)
    ) + RIDGE * np.eye(N)
    want = np.linalg.slogdet(matrix)[1]
    assert abs(value - want) < 4 * info.error + 1e-3 * abs(want)


def test_memory_is_that_of_the_vectors():
    points = jax.ShapeDtypeStruct((20_000, 2), np.float64)
    lowered = jax.jit(lambda x: estimated(L, RIDGE, x)).lower(points)
    analysis = lowered.compile().memory_analysis()
    if analysis is None:
        pytest.skip("XLA tells no sizes here")
    # Of the preconditioner's 100 rows and of 32 probes, a few times over.
    assert analysis.temp_size_in_bytes < 8 * 20_000 * 800


def test_matrices_without_a_logarithm():
    def value(x):
        kernel = tilefold.jax.kernel("-|x_i - x_j|", x=x)
        return kernel.logdet(probes=2, maxiter=8, preconditioner=None)

    assert np.isnan(jax.jit(value)(POINTS))


REFUSALS = {
    "a preconditioner": ({"preconditioner": "cholesky"}, "pass 'nystrom'"),
    "probes": ({"probes": 1}, "2 or above"),
    "steps": ({"maxiter": 0}, "1 or above"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    settings, message = REFUSALS[case]
    with pytest.raises(tilefold.ArgumentError, match=message):
        jax.eval_shape(lambda l: estimated(l, RIDGE, **settings), L)


def test_complex_values_are_refused():
    def value(x):
        kernel = tilefold.jax.kernel("exp(im*(x_i[0] - x_j[0]))", x=x)
        return kernel.logdet(ridge=1.0)

    with pytest.raises(tilefold.ArgumentError, match="2000 points, or call"):
        jax.eval_shape(value, POINTS)
