# tests/python/test_jax_types.py - types of results and derivatives in JAX: its
# width, halves, complex numbers, and what has no derivative.
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


def test_types_in_64_bits():
    x, k = X.astype(np.float32), np.arange(5, dtype=np.int32)
    calls = {
        "sum_j x_i·y_j": "float64",
        "sum_j |x_i|²": "float32",
        "argmin_j |x_i - y_j|": "int64",
        "any_j (y_j[0] > x_i[0])": "bool",
        "sum_j k_j": "int64",
    }
    given = {"x": x, "y": Y, "k": k}
    for text, dtype in calls.items():
        names = [name for name, _ in tilefold.compile(text).names]
        arguments = {name: given[name] for name in names}
        if names == ["x"]:
            text, arguments = "sum_j |x_j|²", {"x": x}
        found = tilefold.jax.reduce(
            text, {n: jnp.asarray(v) for n, v in arguments.items()}
        )
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, tilefold.reduce(text, arguments))


@pytest.mark.usefixtures("narrow")
def test_types_in_32_bits():
    k = jnp.arange(5)
    x, y = jnp.asarray(X), jnp.asarray(Y)
    for text, arguments, dtype in [
        ("argmin_j |x_i - y_j|", {"x": x, "y": y}, "int32"),
        ("sum_j k_j |x_i - y_j|", {"k": k, "x": x, "y": y}, "float32"),
        ("sum_j k_j", {"k": k}, "int32"),
        ("mean_j k_j", {"k": k}, "float32"),
        ("count_j (y_j[0] > x_i[0])", {"x": x, "y": y}, "int32"),
    ]:
        for call in (tilefold.jax.reduce, tilefold.reduce):
            found = call(text, arguments)
            assert found.dtype == dtype
            shape = jax.eval_shape(
                lambda a, t=text: tilefold.jax.reduce(t, a), arguments
            )
            assert shape.dtype == dtype
        doubles = tilefold.reduce(
            text, {n: np.asarray(v) for n, v in arguments.items()}
        )
        np.testing.assert_allclose(found, doubles, rtol=1e-6)
    # The sum is of doubles, and rounded once.
    gradient = jax.grad(
        lambda x: tilefold.reduce("sum_ij k_j |x_i|", x=x, k=k)
    )(x)
    assert gradient.dtype == np.float32


@pytest.mark.usefixtures("narrow")
def test_more_points_than_an_int32_counts():
    many = jax.ShapeDtypeStruct((2**31,), np.float32)
    few = jax.ShapeDtypeStruct((3,), np.float32)

    def nearest(x, y):
        return tilefold.jax.reduce("argmin_j |x_i - y_j|", x=x, y=y)

    with pytest.raises(tilefold.ArgumentError, match="jax_enable_x64"):
        jax.eval_shape(nearest, few, many)
    jax.config.update("jax_enable_x64", True)
    assert jax.eval_shape(nearest, few, many).dtype == np.int64


def test_half_precision_is_summed_in_float32():
    for dtype in (jnp.bfloat16, jnp.float16):
        x, y = (
            jnp.asarray(uniform(64, 3), dtype),
            jnp.asarray(uniform(80, 3), dtype),
        )

        def total(x, y):
            return tilefold.jax.reduce("sum_ij exp(-|x_i - y_j|²)", x=x, y=y)

        assert total(x, y).dtype == np.float32
        found = jax.grad(total, (0, 1))(x, y)
        doubles = [jnp.asarray(v, np.float64) for v in (x, y)]
        expected = jax.grad(lambda x, y: jnp.exp(-squares(x, y)).sum(), (0, 1))(
            *doubles
        )
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == dtype
            error = jnp.abs(one.astype(np.float64) - other).max()
            assert error <= jnp.abs(other).max() * (
                2**-8 if dtype == jnp.bfloat16 else 2**-11
            )
        tangent = jax.jvp(total, (x, y), (x, y))[1]
        assert tangent.dtype == np.float32


def test_complex_numbers_have_jax_s_convention():
    z, w = uniform(4) + 1j * uniform(4, 1)[:, 0], uniform(5) - 0.5j
    b = uniform(5) * 1j + 1

    def mine(z, w, b):
        return tilefold.jax.reduce(
            "sum_j exp(-(z_i - w_j)²) b_j", z=z, w=w, b=b
        )

    def dense(z, w, b):
        return jnp.exp(-((z[:, None] - w) ** 2)) @ b

    values = (z, w, b)
    assert_same(mine(*values), dense(*values))
    cotangent = uniform(4) * (1 - 2j)
    assert_same(
        jax.vjp(mine, *values)[1](cotangent),
        jax.vjp(dense, *values)[1](cotangent),
    )
    assert_same(jax.jvp(mine, values, values), jax.jvp(dense, values, values))
    for holomorphic in (jax.jacrev, jax.jacfwd):
        found = holomorphic(mine, (0, 2), holomorphic=True)(*values)
        assert_same(
            found, holomorphic(dense, (0, 2), holomorphic=True)(*values)
        )

    def energy(f):
        return lambda *v: (jnp.abs(f(*v)) ** 2).sum()

    assert_same(
        jax.grad(energy(mine), (0, 1, 2))(*values),
        jax.grad(energy(dense), (0, 1, 2))(*values),
    )
    real = jax.grad(lambda x: energy(mine)(z, w, x))(b.real)
    # JAX 0.6 warns of a real operand beside complex ones.
    complex_ = lambda x: energy(dense)(z, w, x.astype(b.dtype))  # noqa: E731
    assert_same(real, jax.grad(complex_)(b.real))


def test_a_real_result_of_complex_numbers():
    z = uniform(4) + 1j * uniform(4, 1)[:, 0]

    def mine(z):
        return tilefold.jax.reduce("sum_ij abs(z_i - 2 z_j)^2", z=z)

    def dense(z):
        return (jnp.abs(z[:, None] - 2 * z) ** 2).sum()

    assert_same(jax.grad(mine)(z), jax.grad(dense)(z))
    assert_same(jax.jvp(mine, (z,), (1j * z,)), jax.jvp(dense, (z,), (1j * z,)))


def test_integers_and_truth_values_have_no_tangents():
    k, keep = jnp.arange(5), jnp.array([True, False, True, True, False])

    def mine(x, k, keep):
        return tilefold.jax.reduce(
            "sum_j where(m_j, k_j |x_i - y_j|, 0)", x=x, y=Y, k=k, m=keep
        )

    def dense(x, k, keep):
        return (jnp.where(keep, k, 0) * jnp.sqrt(squares(x, Y))).sum(1)

    assert_same(
        jax.grad(sine(mine))(X, k, keep), jax.grad(sine(dense))(X, k, keep)
    )
    found = jax.vjp(mine, X, k, keep)[1](jnp.ones(4))
    expected = jax.vjp(dense, X, k, keep)[1](jnp.ones(4))
    assert_same(found[0], expected[0])
    for one in found[1:]:
        assert one.dtype == jax.dtypes.float0
    tangents = (
        X,
        np.zeros(5, jax.dtypes.float0),
        np.zeros(5, jax.dtypes.float0),
    )
    assert_same(
        jax.jvp(mine, (X, k, keep), tangents),
        jax.jvp(dense, (X, k, keep), tangents),
    )


def test_what_has_no_derivative_gives_zeros():
    for text in (
        "argmin_j |x_i - y_j|",
        "count_j (x_i[0] < y_j[0])",
        "argkmin_j(|x_i - y_j|, 2)",
    ):

        def total(x, text=text):
            return (
                tilefold.jax.reduce(text, x=x, y=Y) * x[:, :1].sum(1).mean()
            ).sum()

        def dense(x, text=text):
            numbers = tilefold.reduce(text, x=X, y=Y)
            return (numbers * x[:, :1].sum(1).mean()).sum()

        assert_same(jax.grad(total)(X), jax.grad(dense)(X))


@pytest.mark.parametrize("value", [10**400, 2**1024 - 1, -(2**1024 - 2**970)])
def test_integers_that_no_number_holds_are_refused(value):
    with pytest.raises(tilefold.DTypeError, match=r"'s' holds an integer bey"):
        tilefold.reduce("sum_j x_j*s", x=jnp.ones(3), s=value)


@pytest.mark.parametrize("value", [7, 2**24 + 1, 2**70 + 1, -(2**90)])
def test_integers_are_numbers(value):
    found = tilefold.reduce("sum_j x_j*s", x=jnp.ones(2), s=value)
    assert float(found) == pytest.approx(2 * value, rel=1e-6)
