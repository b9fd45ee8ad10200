# tests/python/test_jax_functions.py - functions written in jax.numpy, read as
# formulas.
"""Each beside its own values at all pairs, by `jax.vmap`."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax import lax, nn  # noqa: E402
from jax.scipy import special  # noqa: E402

import tilefold.jax  # noqa: E402
from jax_cases import assert_same, narrow, sine, uniform, wide  # noqa: E402, F401

N, M, D = 5, 6, 3
X, Y = 0.2 + uniform(N, D), 0.2 + uniform(M, D)
CENTRE = np.array([0.1, 0.2, 0.3])
WEIGHT, BIAS = uniform(4, D), uniform(4)
ROWS = np.array([2, 0])
MASK = np.array([True, False, True])


def dense(function, x=X, y=Y):
    """The values of a function at all pairs."""
    return jax.vmap(lambda u: jax.vmap(lambda v: function(u, v))(y))(x)


def network(x, y):
    hidden = nn.tanh(WEIGHT @ x + BIAS) * nn.silu(y @ WEIGHT.T)
    return hidden @ BIAS


@jax.jit
def jitted(x, y):
    return jnp.exp(-jnp.sum((x - y) ** 2))


def chosen(x, y):
    return lax.cond(len(MASK) == D, jnp.minimum, jnp.maximum, x, y).sum()


FUNCTIONS = {
    "gaussian": lambda x, y: jnp.exp(-jnp.sum((x - y) ** 2) / 2),
    "spelled": lambda x, y: jnp.exp(-0.1 * ((x - y) ** 2).sum()),
    "inner product": lambda x, y: jnp.tanh(jnp.dot(x, y) + 1),
    "norm": lambda x, y: jnp.linalg.norm(x - y) + jnp.linalg.norm(x, 1),
    "largest": lambda x, y: jnp.linalg.norm(x - y, jnp.inf),
    "components": lambda x, y: x[0] * y[-1] + (x[1:] * y[:2]).sum(),
    "slices": lambda x, y: (x[::2] * y[::-2]).sum() + x[-2:] @ y[:2],
    "lists of components": lambda x, y: x[ROWS] @ y[jnp.array([1, -1])],
    "masks": lambda x, y: x[MASK] @ jnp.repeat(y[~MASK], 2),
    "powers": lambda x, y: (
        ((x - y) ** 3).sum() + (x @ y) ** -2 + 2 ** x[0] + x[1] ** y[1]
    ),
    "where": lambda x, y: jnp.where(
        x[0] < y[0], x[0], jnp.maximum(y[1], 0.5)
    ),
    "chosen vectors": lambda x, y: jnp.where(x < y, x, 0.0).sum(),
    "logic": lambda x, y: jnp.where(
        (x[0] < y[0]) & ~(x[1] > 0.5) | (x[2] == y[2]) ^ (x[0] >= y[1]), 1, 2.0
    ),
    "any and all": lambda x, y: (
        1.0 * (x < y).any() + 2.0 * jnp.all(x > y) + jnp.sum(x != y)
    ),
    "several functions": lambda x, y: (
        jnp.sin(x).sum() + jnp.log(y).max() + jnp.abs(x - y).min()
        + jnp.sqrt(x[0]) + jnp.prod(x) + jnp.exp2(y[0]) + jnp.log1p(x[2])
        + jnp.expm1(y[1]) + jnp.cbrt(x[0]) + jnp.log2(x[1]) + jnp.log10(y[0])
    ),
    "trigonometric": lambda x, y: (
        jnp.arctan2(x[0], y[0]) + jnp.tan(x[1]) + jnp.arcsin(x[0] / 2)
        + jnp.arccos(y[1] / 2) + jnp.arctan(x - y).sum() + jnp.sinh(x[0])
        + jnp.cosh(y[2]) + jnp.arcsinh(x[1]) + jnp.arccosh(1 + y[0])
        + jnp.arctanh(x[0] / 2) + jnp.hypot(x[0], y[0]) + jnp.sinc(x - y).sum()
    ),
    "special": lambda x, y: (
        special.erf(x[0]) + special.erfc(y[0]) + special.gammaln(x[1])
        + special.digamma(y[1]) + special.xlogy(x, y).sum()
        + special.logsumexp(x * y) + special.entr(x).sum()
        + special.erfinv(x[0] / 2) + special.expit(y[0])
        + special.ndtr(x - y).sum()
        + special.logit(x[0] / 2) + special.xlog1py(x[0], y[0])
    ),
    "of networks": lambda x, y: (
        nn.relu(x - y).sum() + nn.sigmoid(x @ y) + nn.softplus(x[0] - y[0])
        + nn.gelu(x).sum() + nn.silu(y).sum() + nn.elu(x - y).sum()
        + nn.leaky_relu(x - y).sum() + nn.softmax(x) @ y
        + nn.log_softmax(y)[0] + nn.logsumexp(x) + nn.relu6(9 * x).sum()
        + nn.gelu(x - y, approximate=False).sum() + nn.selu(y - x).sum()
    ),
    "a network": network,
    "a matrix times a vector": lambda x, y: (WEIGHT @ x) @ (WEIGHT @ y),
    "a quadratic form": lambda x, y: (
        (x - y) @ jnp.linalg.inv(jnp.eye(D) + WEIGHT.T @ WEIGHT) @ (x - y)
    ),
    "outer products": lambda x, y: jnp.sum(
        jnp.abs(x[:, None] - y[None, :]) * jnp.outer(x, y)
    ),
    "einsum": lambda x, y: jnp.einsum("i,j,ij->", x, y, jnp.eye(D) + 1),
    "captured array": lambda x, y: ((x - CENTRE) * (y - CENTRE)).sum(),
    "clipped": lambda x, y: jnp.clip(x - y, -0.1, 0.2).sum(),
    "joined": lambda x, y: (
        jnp.concatenate([x, y[:1]]) @ jnp.hstack([y, x[:1]])
        + jnp.stack([x[0], y[1]]).sum() + jnp.array([x[0], y[0], 2.0])[1]
    ),
    "moved": lambda x, y: (
        jnp.roll(x, 1) @ y[::-1] + jnp.flip(x)[0] + jnp.tile(x, 2)[4]
        + jnp.pad(x, 1) @ jnp.pad(y, (2, 0)) + jnp.cross(x, y)[1]
        + jnp.diff(x) @ y[1:] + jnp.take(x, 1) + x.reshape(3, 1).T[0, 2]
        + jnp.split(y, 3)[1][0] + x.at[0].set(y[1])[0]
    ),
    "statistics": lambda x, y: jnp.var(x) + jnp.mean(y) + jnp.std(x * y),
    "places": lambda x, y: jnp.argmax(x * y) + jnp.argmin(y) * x[0],
    "whole parts": lambda x, y: (
        x[0] // 0.2 + jnp.floor_divide(9 * y, 2).sum() + x[1] % 0.3
        + jnp.fmod(-x[0], y[0]) + jnp.floor(9 * x[0]) + jnp.ceil(9 * y[0])
        + jnp.round(9 * x[1]) + lax.round(9.5 * x[2]) + jnp.trunc(-9 * y[1])
        + jnp.sign(x[0] - y[0]) + jnp.round(x[0], 2)
    ),
    "signs and kinds": lambda x, y: (
        jnp.isfinite(x).sum() + jnp.isnan(y[0]) + jnp.isinf(y[0])
        + (9 * x[0]).astype(int) + (x[0] > y[0]).astype(float)
    ),
    "a jitted function": jitted,
    "a branch that is known": chosen,
    "selected": lambda x, y: lax.select_n(
        (4 * x[0]).astype(int).clip(0, 2), x[0], y[0], x[0] * y[0]
    ),
    "a derivative": lambda x, y: jax.grad(lambda x: jnp.sin(x @ y))(x).sum(),
    "a vector": lambda x, y: x - 2 * y,
    "two of one": lambda x, y: jnp.array([x[0] - y[0], x @ y]),
    "as many of one": lambda x, y: jnp.full(2, x @ y),
    "mapped": lambda x, y: jax.vmap(jnp.sin)(x) @ y,
    "complex": lambda x, y: jnp.exp(1j * (x @ y)).real + abs(x[0] + 1j * y[0]),
    "constants": lambda x, y: (jnp.arange(D) * x) @ (y * jnp.ones(D)),
    "a number of each pair": lambda x, y: 1 + jnp.zeros(()) * x[0] + y[0] * 0,
    "left out": lambda x, y: (jnp.sort(x), x @ y)[1],
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_points_is_a_kernel(name):
    function = FUNCTIONS[name]
    found = tilefold.kernel(function, x=X, y=Y).dense()
    np.testing.assert_allclose(found, dense(function), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_its_gradients(name):
    function = FUNCTIONS[name]
    cotangents = jnp.asarray(uniform(*dense(function).shape))

    def ours(x, y):
        kernel = tilefold.jax.kernel(function, x=x, y=y)
        return jnp.vdot(cotangents, jnp.asarray(kernel.dense(), float))

    def theirs(x, y):
        return jnp.vdot(cotangents, dense(function, x, y).astype(float))

    found = jax.jit(jax.grad(ours, (0, 1)))(X, Y)
    assert_same(found, jax.grad(theirs, (0, 1))(X, Y), 1e-10)


def covariance(σ, l):
    return lambda x, y: σ**2 * jnp.exp(-jnp.sum((x - y) ** 2) / (2 * l**2))


def test_numbers_outside_are_parameters():
    texts = {
        tilefold.trace.trace(covariance(σ, l), {"x": X, "y": Y})[0]
        for σ, l in [(1.5, 0.5), (2.5, 0.7)]
    }
    assert len(texts) == 1
    text, arguments = tilefold.trace.trace(covariance(1.5, 0.5), {"x": X})
    assert "x_j" in text
    assert set(arguments) > {"x"}


def test_numbers_that_a_function_needs_to_know():
    bound = 0.5

    def function(x, y):
        return jnp.where(x[0] < bound, x[0], 2 * y[0]) if bound > 0 else y[0]

    found = tilefold.kernel(function, x=X, y=Y).dense()
    np.testing.assert_allclose(found, dense(function), rtol=1e-12)


def test_parameters_and_single_numbers():
    def function(x, y, l):
        return jnp.exp(-jnp.abs(x - y) / l)

    x, y = X[:, 0], Y[:, 0]
    found = tilefold.kernel(function, x=x, y=y, l=0.5).dense()
    expected = dense(lambda x, y: function(x, y, 0.5), x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    one = tilefold.kernel(FUNCTIONS["gaussian"], x=X[:, :1], y=Y[:, :1])
    expected = dense(FUNCTIONS["gaussian"], X[:, :1], Y[:, :1])
    np.testing.assert_allclose(one.dense(), expected, rtol=1e-12)


def test_gradients_by_what_is_outside():
    """Arrays and numbers that JAX traces around the kernel."""

    def ours(W, l):
        kernel = tilefold.jax.kernel(
            lambda x, y: jnp.exp(-jnp.sum((W @ (x - y)) ** 2) / l**2), x=X, y=Y
        )
        return jnp.sin(kernel.sum(1)).sum()

    def theirs(W, l):
        matrix = dense(
            lambda x, y: jnp.exp(-jnp.sum((W @ (x - y)) ** 2) / l**2)
        )
        return jnp.sin(matrix.sum(1)).sum()

    W, l = jnp.asarray(uniform(D, D)), 0.7
    for wrap in (lambda f: f, jax.jit):
        found = wrap(jax.grad(ours, (0, 1)))(W, l)
        assert_same(found, jax.grad(theirs, (0, 1))(W, l), 1e-11)
    found = jax.vmap(ours, (None, 0))(W, jnp.array([0.6, 0.9]))
    assert_same(found, jax.vmap(theirs, (None, 0))(W, jnp.array([0.6, 0.9])))


STOPPED = {
    "of a point": lambda x, y: lax.stop_gradient(x) @ y + x[0],
    "of a value": lambda x, y: lax.stop_gradient(jnp.sin(x @ y)) * (x @ y),
    "of one array on both axes": lambda x, y: (
        jnp.exp(lax.stop_gradient(x @ y)) * x[0] + lax.stop_gradient(y)[1]
    ),
}


@pytest.mark.parametrize("name", STOPPED)
def test_what_is_stopped_has_no_derivative(name):
    function = STOPPED[name]

    def ours(x):
        return tilefold.jax.kernel(function, x=x).sum(1)

    def theirs(x):
        return dense(function, x, x).sum(1)

    for each in (lambda f: f, lambda f: jax.grad(sine(f)), jax.hessian):
        assert_same(jax.jit(each(ours))(X), each(theirs)(X), 1e-11)


def test_second_derivatives_of_functions_with_derivatives_of_their_own():
    """JAX's sinc, logaddexp and others, whose programs alone have none."""
    x = jnp.array([0.0, 0.3, -1.2])

    def value(x, y):
        return jnp.sinc(x - y) + nn.relu(x * y) + jnp.logaddexp(x, y)

    def ours(x):
        return tilefold.jax.kernel(value, x=x, y=x).sum(1)

    def theirs(x):
        return dense(value, x, x).sum(1)

    assert_same(jax.hessian(ours)(x), jax.hessian(theirs)(x), 1e-10)


def test_bessel_functions():
    def function(x, y):
        return jnp.i0(x @ y)

    b = uniform(M)
    found = jax.grad(
        lambda x: sine(tilefold.jax.kernel(function, x=x, y=Y).__matmul__)(b)
    )(jnp.asarray(X))
    expected = jax.grad(lambda x: sine(dense(function, x).__matmul__)(b))(X)
    assert_same(found, expected, 1e-10)


def test_reductions_take_functions_by_their_kernels():
    b = uniform(M)
    kernel = tilefold.kernel(FUNCTIONS["gaussian"], x=X, y=Y)
    np.testing.assert_allclose(kernel @ b, dense(FUNCTIONS["gaussian"]) @ b)
    assert (kernel.argmax(1) == dense(FUNCTIONS["gaussian"]).argmax(1)).all()


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("name", ["gaussian", "spelled", "a network", "norm"])
def test_64_bits_where_jax_has_32(name):
    """Arrays of NumPy keep theirs, and those of JAX have 32."""
    function = FUNCTIONS[name]
    found = tilefold.kernel(function, x=X, y=Y).dense()
    with jax.enable_x64(True):
        expected = np.asarray(dense(function))
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    of_jax = tilefold.kernel(function, x=jnp.asarray(X), y=jnp.asarray(Y))
    assert of_jax.dense().dtype == np.float32
    np.testing.assert_allclose(of_jax.dense(), expected, rtol=1e-5)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x, y = (torch.tensor(each, requires_grad=True) for each in (X, Y))
    tilefold.kernel(FUNCTIONS["gaussian"], x=x, y=y).sum().backward()
    expected = jax.grad(lambda x: dense(FUNCTIONS["gaussian"], x).sum())(X)
    np.testing.assert_allclose(x.grad, expected, rtol=1e-11)


LABELS, OTHERS = np.arange(-4, 5), np.array([1, 2, -3, 7])
OF_INTEGERS = {
    "quotient": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "towards 0": lambda x, y: lax.div(x, y),
    "remainder towards 0": lambda x, y: lax.rem(x, y),
    "true quotient": lambda x, y: x / y,
    "equal": lambda x, y: jnp.where(x == y, 1.0, 0.0) + (x < y),
    "powers": lambda x, y: x**3 - jnp.abs(y) + jnp.exp(x),
}


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers(name):
    function = OF_INTEGERS[name]
    found = tilefold.kernel(function, x=LABELS, y=OTHERS).dense()
    expected = dense(function, LABELS, OTHERS)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64"])
def test_integers_whose_range_ends(dtype):
    x = np.array([3, 9], dtype)
    with pytest.raises(tilefold.ArgumentError, match="range ends"):
        tilefold.kernel(lambda x, y: jnp.abs(x - y), x=x)

    def widened(x, y):
        return jnp.abs(x.astype(int) - y.astype(int)) + jnp.exp(x)

    if dtype != "uint64":
        found = tilefold.kernel(widened, x=x).dense()
        np.testing.assert_allclose(found, dense(widened, x, x), rtol=1e-12)


@jax.custom_jvp
def own(x):
    return jnp.sin(x)


own.defjvps(lambda t, _, x: 2 * t * jnp.cos(x))

REFUSED = {
    "a primitive": (lambda x, y: jnp.sort(x - y)[0], "'sort'"),
    "a loop": (
        lambda x, y: lax.fori_loop(0, 3, lambda _, v: jnp.sin(v), x @ y),
        "loop of Python's",
    ),
    "a branch": (
        lambda x, y: lax.cond(x[0] > 0, jnp.sin, jnp.cos, y[0]),
        "jax.numpy.where",
    ),
    "bits": (lambda x, y: jnp.signbit(x[0]) + y[0], "bits"),
    "a derivative of its own": (lambda x, y: own(x @ y), "'own'"),
    "a truth value": (
        lambda x, y: x[0] if jnp.sum(x) > 0 else y[0],
        "neither true nor false",
    ),
    "an array": (lambda x, y: np.linalg.inv(jnp.outer(x, y)), "no array"),
    "a number": (lambda x, y: float(jnp.sum(x) * y[0]), "no single number"),
    "a matrix": (lambda x, y: jnp.outer(x, y), r"shape \(3, 3\)"),
    "two results": (lambda x, y: (jnp.sin(x), y), "of 2 results"),
    "fewer digits": (
        lambda x, y: jnp.sum(x.astype(jnp.float32) * y),
        "pass arrays of that type",
    ),
    "an index of a pair": (
        lambda x, y: x[(3 * jnp.abs(y[0])).astype(int)],
        "index which is not known",
    ),
    "a function of NumPy's": (lambda x, y: np.convolve(x, y), "'convolve'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    function, message = REFUSED[name]
    with pytest.raises(tilefold.ArgumentError, match=message):
        tilefold.kernel(function, x=X, y=Y)


def test_mistakes_are_told_as_jax_tells_them():
    with pytest.raises(TypeError, match="same shape"):
        tilefold.kernel(lambda x, y: jnp.dot(x, y[:2]), x=X, y=Y)


def test_estimators_take_functions_of_jax():
    sklearn = pytest.importorskip("tilefold.sklearn")
    model = sklearn.KernelRidge(
        alpha=0.1, kernel=functools.partial(FUNCTIONS["gaussian"])
    )
    expected = sklearn.KernelRidge(alpha=0.1, kernel="exp(-|x_i - y_j|²/2)")
    b = uniform(N)
    np.testing.assert_allclose(
        model.fit(X, b).predict(Y), expected.fit(X, b).predict(Y), rtol=1e-6
    )
