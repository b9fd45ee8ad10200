# tests/python/test_jax_debugging.py - calls in JAX's modes for debugging.
"""Under `jax.disable_jit` and `jax.debug_nans` a call is what JAX's are."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

X = jnp.array([[0.0, 1.0], [2.0, 0.5], [1.0, 3.0]])
B = jnp.array([1.0, -2.0, 0.5])


def gaussian(x, **settings):
    return tilefold.reduce(
        "sum_j exp(-|x_i - x_j|^2/l)", x=x, l=2.0, **settings
    )


def kernel(x):
    return tilefold.kernel("exp(-|x_i - x_j|^2/l)", x=x, l=2.0)


CALLS = {
    "eager": gaussian,
    "tiled": lambda x: gaussian(x, backend="tiled"),
    "jit": jax.jit(gaussian),
    "gradient": jax.grad(lambda x: gaussian(x).sum()),
    "second derivative": jax.hessian(lambda x: gaussian(x).sum()),
    "vmap": lambda x: jax.vmap(gaussian)(jnp.stack([x, 2 * x])),
    "scan": lambda x: jax.lax.scan(lambda c, _: (c, gaussian(c)), x, length=2),
    "product": lambda x: kernel(x) @ B,
    "solution": jax.grad(lambda x: kernel(x).solve(B, 1.0).sum()),
    "log determinant": jax.grad(lambda x: kernel(x).logdet(1.0)),
}


@pytest.mark.parametrize("name", CALLS)
def test_without_jit(name):
    expected = CALLS[name](X)
    jax.clear_caches()  # or what is compiled is called
    with jax.disable_jit():
        found = CALLS[name](X)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6),
        found,
        expected,
    )


@pytest.mark.parametrize("how", ["eager", "jit", "gradient"])
def test_a_nan_is_named_by_what_made_it(how):
    def logarithms(x):
        return tilefold.reduce("sum_j log(x_i*x_j)", x=x)

    calls = {
        "eager": logarithms,
        "jit": jax.jit(lambda x: 2 * logarithms(x)),
        "gradient": jax.grad(lambda x: logarithms(x).sum()),
    }
    call, bad = calls[how], jnp.array([-1.0, 2.0])
    with jax.debug_nans(True):
        assert np.isfinite(call(jnp.array([1.0, 2.0]))).all()
        with pytest.raises(FloatingPointError, match=r"\(nan\).* in tilefold"):
            call(bad)


def test_an_infinity_is_named_by_what_made_it():
    with (
        jax.debug_infs(True),
        pytest.raises(FloatingPointError, match=r"\(inf\).* in tilefold"),
    ):
        tilefold.reduce("sum_j 1/(x_i - x_j)^2", x=B)


def test_types_are_not_promoted_where_that_is_refused():
    """By JAX's own functions, of which calls use some."""
    narrow = B.astype(jnp.bfloat16)
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        found = tilefold.reduce("sum_j exp(-|x_i - x_j|^2) b_j", x=X, b=narrow)
        gradient = jax.grad(lambda x: gaussian(x).sum())(X)
    assert found.dtype == jnp.float32
    assert gradient.shape == X.shape
