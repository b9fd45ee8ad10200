# tests/python/test_jax_kernels.py - kernels, systems and ranges in JAX.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import tilefold.jax  # noqa: E402
from jax_cases import (  # noqa: E402
    X,
    Y,
    assert_same,
    narrow,  # noqa: F401
    sine,
    squares,
    uniform,
    wide,  # noqa: F401
)

N = 12
P, B, RIDGE, L = uniform(N, 2), uniform(N), 0.3, 0.8
TEXT = "exp(-|x_i - x_j|²/2l²)"


def gaussian(x, l):
    return tilefold.jax.kernel(TEXT, x=x, l=l)


def dense(x, l):
    return jnp.exp(-squares(x, x) / (2 * l**2))


def solved(x, l, b, ridge):
    return tilefold.jax.solve(gaussian(x, l), b, ridge, rtol=1e-13)


def solved_densely(x, l, b, ridge):
    matrix = dense(x, l) + ridge * jnp.eye(len(x))
    return jnp.linalg.solve(matrix, b)


SYSTEMS = {
    "call": lambda f: f(P, L, B, RIDGE),
    "jit": lambda f: jax.jit(f)(P, L, B, RIDGE),
    "columns": lambda f: jax.jit(f)(P, L, uniform(N, 3), RIDGE),
    "gradients": lambda f: jax.grad(sine(f), (0, 1, 2, 3))(P, L, B, RIDGE),
    "tangents": lambda f: jax.jvp(f, (P, L, B, RIDGE), (P, L, B, RIDGE)),
    "hessian": lambda f: jax.hessian(sine(f), (1, 3))(P, L, B, RIDGE),
    "vmap of b": lambda f: jax.vmap(f, (None, None, 0, None))(
        P, L, uniform(3, N), RIDGE
    ),
    "vmap of l": lambda f: jax.vmap(f, (None, 0, None, None))(
        P, np.array([0.5, 0.9]), B, RIDGE
    ),
    "vmap of gradients": lambda f: jax.vmap(
        jax.grad(sine(f), (0, 3)), (None, 0, None, None)
    )(P, np.array([0.5, 0.9]), B, RIDGE),
}


@pytest.mark.sample(0.15)
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name):
    system = SYSTEMS[name]
    assert_same(system(solved), system(solved_densely), 1e-9)


@pytest.mark.sample(0.3)
@pytest.mark.parametrize("method", ["cg", "minres", "auto"])
@pytest.mark.parametrize("preconditioner", [None, "nystrom", "cholesky"])
def test_methods_of_systems(method, preconditioner):
    found = jax.jit(
        lambda b: tilefold.jax.solve(
            gaussian(P, L),
            b,
            RIDGE,
            rtol=1e-12,
            method=method,
            preconditioner=preconditioner,
            rank=5,
            maxiter=100,
        )
    )(B)
    assert_same(found, solved_densely(P, L, B, RIDGE), 1e-9)


HERMITIAN = f"{TEXT} exp(im*(x_i[0] - x_j[0]))"


def solved_of_complex(x, l, real, imaginary):
    K = tilefold.jax.kernel(HERMITIAN, x=x, l=l)
    return tilefold.jax.solve(K, real + 1j * imaginary, RIDGE, rtol=1e-13)


def densely_of_complex(x, l, real, imaginary):
    phases = jnp.exp(1j * (x[:, None, 0] - x[:, 0]))
    matrix = dense(x, l) * phases + RIDGE * jnp.eye(len(x))
    return jnp.linalg.solve(matrix, real + 1j * imaginary)


def solved_of_sides(x, l, real, imaginary):
    return solved(x, l, real + 1j * imaginary, RIDGE)


def densely_of_sides(x, l, real, imaginary):
    return solved_densely(x, l, real + 1j * imaginary, RIDGE)


C = uniform(N, 2)
COMPLEX_SYSTEMS = {
    "call": lambda f: f(P, L, B, C[:, 0]),
    "columns": lambda f: jax.jit(f)(P, L, C[:, ::-1], C),
    "gradients": lambda f: jax.grad(
        lambda *v: jnp.sin(jnp.abs(f(*v)) ** 2).sum(), (0, 1, 2, 3)
    )(P, L, B, C[:, 0]),
    "second": lambda f: jax.hessian(
        lambda *v: jnp.sin(f(*v).real + f(*v).imag).sum(), 1
    )(P, L, B, C[:, 0]),
    "vmap": lambda f: jax.vmap(f, (None, None, 1, 1), 1)(P, L, C, C),
}


@pytest.mark.sample(0.2)
@pytest.mark.parametrize("name", COMPLEX_SYSTEMS)
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (solved_of_sides, densely_of_sides),
        (solved_of_complex, densely_of_complex),
    ],
)
def test_complex_systems(mine, theirs, name):
    system = COMPLEX_SYSTEMS[name]
    assert_same(system(mine), system(theirs), 1e-9)


def test_what_is_told_of_complex_systems():
    K, side = tilefold.jax.kernel(HERMITIAN, x=P, l=L), C + 1j * C[:, ::-1]
    matrix = np.asarray(K.dense()) + RIDGE * np.eye(N)
    for kernel, whole in ((K, matrix), (K.T, matrix.T)):
        x, info = jax.jit(
            lambda b, K=kernel: K.solve(b, RIDGE, rtol=1e-6, info=True)
        )(side)
        found = np.linalg.norm(side - whole @ np.asarray(x), axis=0)
        expected = found / np.linalg.norm(side, axis=0)
        np.testing.assert_allclose(info.residuals, expected, rtol=1e-3)
        assert bool(info.converged)
    x, info = jax.jit(
        lambda b: gaussian(P, L).solve(b, RIDGE, rtol=1e-4, info=True)
    )(side)
    real = np.asarray(dense(P, L)) + RIDGE * np.eye(N)
    found = np.linalg.norm(side - real @ np.asarray(x), axis=0)
    expected = found / np.linalg.norm(side, axis=0)
    np.testing.assert_allclose(info.residuals, expected, rtol=1e-3)
    with pytest.raises(tilefold.ArgumentError, match="index symbols"):
        jax.jit(tilefold.jax.kernel("exp(im*(i - j))*(x_i == x_j)", x=B).solve)(
            B
        )
    value = jax.jit(K.logdet)(RIDGE)
    assert_same(value, jnp.asarray(np.linalg.slogdet(matrix)[1]), 1e-9)


def test_values_of_complex_kernels():
    def mine(x, l):
        return tilefold.jax.kernel(HERMITIAN, x=x, l=l).dense()

    def theirs(x, l):
        return dense(x, l) * jnp.exp(1j * (x[:, None, 0] - x[:, 0]))

    def real(f):
        return lambda *v: jnp.sin(2 * f(*v).real + f(*v).imag).sum()

    def logdet(x, l):
        return tilefold.jax.kernel(HERMITIAN, x=x, l=l).logdet(RIDGE)

    def dense_logdet(x, l):
        matrix = theirs(x, l) + RIDGE * jnp.eye(N)
        return jnp.linalg.slogdet(matrix)[1]

    assert_same(jax.jit(mine)(P, L), theirs(P, L))
    found = jax.jit(jax.grad(real(mine), (0, 1)))(P, L)
    assert_same(found, jax.grad(real(theirs), (0, 1))(P, L))
    found, wanted = (
        jax.jit(jax.value_and_grad(f, (0, 1)))(P, L)
        for f in (logdet, dense_logdet)
    )
    assert_same(found, wanted, 1e-9)


def test_kernels_solve_where_jax_traces_them():
    def told(b):
        x, info = tilefold.kernel(TEXT, x=P, l=L).solve(
            b, ridge=RIDGE, rtol=1e-12, info=True
        )
        return x, info.converged, info.residuals

    x, converged, residuals = jax.jit(told)(B)
    assert_same(x, solved_densely(P, L, B, RIDGE), 1e-9)
    assert bool(converged)
    assert residuals <= 1e-12
    with pytest.raises(tilefold.ArgumentError, match="option method"):
        jax.eval_shape(
            lambda b: tilefold.jax.solve(gaussian(P, L), b, method="lu"), B
        )
    with pytest.raises(jax.errors.JaxRuntimeError, match="maxiter"):
        tilefold.jax.solve(gaussian(P, L), B, maxiter=0).block_until_ready()


@pytest.mark.usefixtures("narrow")
def test_systems_in_32_bits():
    x, b = jnp.asarray(P), jnp.asarray(B)
    found = jax.jit(lambda b: gaussian(x, L).solve(b, ridge=RIDGE))(b)
    assert found.dtype == np.float32
    expected = solved_densely(x, L, b, RIDGE)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def likelihood(x, l, b, ridge):
    quadratic, logdet = gaussian(x, l).inv_quad_logdet(
        b, logdet=True, ridge=ridge, rtol=1e-13
    )
    return quadratic + logdet


def likelihood_densely(x, l, b, ridge):
    matrix = dense(x, l) + ridge * jnp.eye(len(x))
    logdet = jnp.linalg.slogdet(matrix)[1]
    return b @ jnp.linalg.solve(matrix, b) + logdet


def test_likelihoods():
    values = (P, L, B, RIDGE)
    found, expected = (
        jax.value_and_grad(f, (0, 1, 2, 3))
        for f in (likelihood, likelihood_densely)
    )
    assert_same(jax.jit(found)(*values), expected(*values), 1e-9)


def test_a_kernel_is_a_tree_of_its_arrays():
    K = tilefold.kernel("exp(-|x_i - y_j|²/2l²)", x=X, y=Y, l=L)
    leaves, tree = jax.tree.flatten(K)
    assert len(leaves) == 3
    again = jax.tree.unflatten(tree, leaves)
    assert again.shape == K.shape == (4, 5)
    assert jax.tree.structure(K) == jax.tree.structure(again)
    assert jax.tree.structure(K.T) != tree
    product = jax.jit(lambda K, b: K @ b)
    b = uniform(5)
    expected = jnp.exp(-squares(X, Y) / (2 * L**2)) @ b
    assert_same(product(K, b), expected)
    assert_same(jax.jit(lambda K, a: K.T @ a)(K, X[:, 0]), K.T @ X[:, 0])
    doubled = jax.jit(lambda K: jax.tree.map(lambda v: 2 * v, K))(K)
    assert doubled.shape == (4, 5)
    gradient = jax.grad(lambda K: (K @ b).sum(), allow_int=True)(K)
    by_l = jax.grad(lambda l: (jnp.exp(-squares(X, Y) / (2 * l**2)) @ b).sum())(
        L
    )
    assert_same(jax.tree.leaves(gradient)[2], by_l)
    several = jax.tree.map(lambda v: np.stack([v, 0.5 * v]), K)
    found = jax.vmap(lambda K: K @ b)(several)
    assert_same(found[0], expected)
    with_ranges = tilefold.kernel(
        TEXT,
        x=P,
        l=L,
        ranges=tilefold.Ranges([0, 6, 12], [0, 6, 12], np.eye(2, dtype=bool)),
    )
    assert_same(product(with_ranges, B), jnp.asarray(with_ranges @ B))


ELEMENTS = {
    "dense": (lambda K: K.dense(), lambda k: k),
    "rows": (lambda K: K[1:3].dense(), lambda k: k[1:3]),
    "an element": (lambda K: K[2, 3], lambda k: k[2, 3]),
    "diagonal": (lambda K: K.diag(), jnp.diagonal),
    "transposed": (lambda K: K.T.dense(), lambda k: k.T),
    "norms": (
        lambda K: tilefold.kernel(
            "|x_i - x_j|", x=K._pair.arguments["x"]
        ).dense(),
        None,
    ),
}


@pytest.mark.sample(0.2)
@pytest.mark.parametrize("name", ELEMENTS)
def test_values_of_kernels(name):
    mine, theirs = ELEMENTS[name]

    def found(x, l):
        return mine(gaussian(x, l))

    def expected(x, l):
        return theirs(dense(x, l))

    if theirs is None:
        # JAX's own derivative of the norm is NaN at 0; the language's is 0.
        gradient = jax.grad(lambda x: jnp.sin(found(x, L)).sum())(P)
        assert bool(jnp.isfinite(gradient).all())
        return
    assert_same(jax.jit(found)(P, L), expected(P, L))
    for transform, by in ((jax.grad, (0, 1)), (jax.hessian, 1)):
        assert_same(
            transform(sine(found), by)(P, L),
            transform(sine(expected), by)(P, L),
            1e-11,
        )
    mapped = jax.vmap(found, (None, 0))(P, np.array([0.5, 0.9]))
    assert_same(mapped[1], expected(P, 0.9))


def test_ranges_are_operands():
    x, y, b = uniform(8, 3), uniform(10, 3), uniform(10)
    traced = []

    @jax.jit
    def call(x, b, ranges):
        traced.append(1)
        return tilefold.jax.reduce(
            "sum_j exp(-|x_i - y_j|²) b_j", x=x, y=y, b=b, ranges=ranges
        )

    def densely(x, b, ranges):
        mask = jnp.asarray(ranges.mask(8, 10))
        return jnp.where(mask, jnp.exp(-squares(x, y)), 0) @ b

    for visit in (np.eye(2), np.ones((2, 2)) - np.eye(2)):
        ranges = tilefold.Ranges([0, 3, 8], [0, 4, 10], visit.astype(bool))
        assert_same(call(x, b, ranges), densely(x, b, ranges))
        gradients = jax.grad(
            lambda x, b, r=ranges: jnp.sin(call(x, b, r)).sum(), (0, 1)
        )(x, b)
        wanted = jax.grad(
            lambda x, b, r=ranges: jnp.sin(densely(x, b, r)).sum(), (0, 1)
        )(x, b)
        assert_same(gradients, wanted)
    assert len(traced) <= 3
    assert jax.jit(lambda r: r)(ranges).pairs == ranges.pairs
    found = jax.vmap(lambda b: call(x, b, ranges))(np.stack([b, 2 * b]))
    assert_same(found[1], 2 * densely(x, b, ranges))


VISITS = np.array([np.eye(2), 1 - np.eye(2), [[1, 0], [1, 0]]], bool)
SETS = [tilefold.Ranges([0, 3, 8], [0, 4, 10], visit) for visit in VISITS]
MASKS = np.stack([ranges.mask(8, 10) for ranges in SETS])
POINTS, OTHERS, VALUES = uniform(8, 3), uniform(10, 3), uniform(3, 10)
ALL, LAST = (None, 0, 0), (None, None, 0)
MAPPED = {
    "call": lambda f, m: jax.jit(jax.vmap(f, ALL))(POINTS, VALUES, m),
    "ranges alone": lambda f, m: jax.vmap(f, LAST)(POINTS, VALUES[0], m),
    "gradients": lambda f, m: jax.vmap(jax.grad(sine(f), (0, 1)), ALL)(
        POINTS, VALUES, m
    ),
    "gradients of all": lambda f, m: jax.grad(
        lambda *v: sine(jax.vmap(f, LAST))(*v, m), (0, 1)
    )(POINTS, VALUES[0]),
    "hessians": lambda f, m: jax.vmap(
        lambda b, m: jax.hessian(lambda b: sine(f)(POINTS, b, m))(b)
    )(VALUES, m),
    "nested": lambda f, m: jax.vmap(
        lambda b: jax.vmap(f, LAST)(POINTS, b, m)
    )(VALUES),
    "twice": lambda f, m: jax.vmap(jax.vmap(f, LAST), ALL)(
        POINTS, VALUES[:2], jax.tree.map(lambda v: jnp.stack([v, v]), m)
    ),
}  # fmt: skip


def with_ranges(x, b, ranges):
    return tilefold.jax.reduce(
        "sum_j exp(-|x_i - y_j|²) b_j", x=x, y=OTHERS, b=b, ranges=ranges
    )


def with_mask(x, b, mask):
    return jnp.where(mask, jnp.exp(-squares(x, OTHERS)), 0) @ b


@pytest.mark.sample(0.3)
@pytest.mark.parametrize("name", MAPPED)
def test_ranges_are_mapped(name):
    """Lists of as many numbers each are operands of vmap like any others."""
    transform = MAPPED[name]
    lists = jax.tree.map(lambda *v: jnp.stack(v), *SETS)
    assert_same(transform(with_ranges, lists), transform(with_mask, MASKS))


def test_ranges_have_batches_of_their_own():
    ranges = tilefold.Ranges([0, 3, 8], [0, 4, 10], VISITS)
    found = with_ranges(POINTS, jnp.asarray(VALUES[0]), ranges)
    assert_same(found, jax.vmap(with_mask, LAST)(POINTS, VALUES[0], MASKS))


def test_gradients_of_values_beside_a_complex_parameter():
    """What does not move needs no derivative."""
    x, y = jnp.ones((3, 2)), jnp.full((4, 2), 0.5)

    def total(x, p):
        kernel = tilefold.jax.kernel("real(exp(p*(x_i·y_j)))", x=x, y=y, p=p)
        return kernel.dense().sum()

    wanted = jax.grad(lambda x: jnp.exp(1j * (x @ y.T)).real.sum())(x)
    got = jax.grad(total)(x, 1j)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)
