# tests/python/jax_cases.py - formulas, and the same in jax.numpy.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilefold.jax


def uniform(*shape):
    """Numbers in float64, the same for each run."""
    return np.random.default_rng([7, *shape]).random(shape)


def squares(x, y):
    """|x_i - y_j|², (N, M)."""
    return ((x[:, None] - y[None]) ** 2).sum(-1)


class Case(NamedTuple):
    """A formula; `dense` computes it of the same values, in their order."""

    text: str
    arguments: dict[str, Any]
    dense: Callable[..., Any]


N, M, D = 4, 5, 3
X, Y, B = uniform(N, D), uniform(M, D), uniform(M)

CASES = {
    "number": Case(
        "sum_j exp(-|x_i - y_j|²/2l²) b_j",
        {"x": X, "y": Y, "b": B, "l": uniform() + 0.5},
        lambda x, y, b, l: jnp.exp(-squares(x, y) / (2 * l**2)) @ b,
    ),
    "vectors": Case(
        "sum_j exp(-|x_i - y_j|²) b_j",
        {"x": X, "y": Y, "b": uniform(M, 2)},
        lambda x, y, b: jnp.exp(-squares(x, y)) @ b,
    ),
    "matrix": Case(
        "sum_j exp(-|A@(x_i - y_j)|²) b_j",
        {"x": X, "y": Y, "b": B, "A": uniform(3, 3)},
        lambda x, y, b, A: jnp.exp(-squares(x @ A.T, y @ A.T)) @ b,
    ),
    "no axis": Case(
        "sum_ij exp(-|x_i - y_j|²)",
        {"x": X, "y": Y},
        lambda x, y: jnp.exp(-squares(x, y)).sum(),
    ),
    "on j": Case(
        "sum_i exp(-|x_i - y_j|²) a_i",
        {"x": X, "y": Y, "a": uniform(N)},
        lambda x, y, a: a @ jnp.exp(-squares(x, y)),
    ),
    "softmax": Case(
        "softmax_j(x_i·y_j, b_j)",
        {"x": X, "y": Y, "b": uniform(M, 2)},
        lambda x, y, b: jax.nn.softmax(x @ y.T, -1) @ b,
    ),
    "logsumexp": Case(
        "logsumexp_j(-|x_i - y_j|²)",
        {"x": X, "y": Y},
        lambda x, y: jax.nn.logsumexp(-squares(x, y), -1),
    ),
    "minimum": Case(
        "min_j |x_i - y_j|²",
        {"x": X, "y": Y},
        lambda x, y: squares(x, y).min(-1),
    ),
    "one array on both axes": Case(
        "sum_j x_j/(1 + |x_i - x_j|²)",
        {"x": X},
        lambda x: (1 / (1 + squares(x, x))) @ x,
    ),
}


def assert_same(found, expected, tolerance=1e-12):
    """Trees of arrays, each within `tolerance` of the largest number."""
    for one, other in zip(
        jax.tree.leaves(found), jax.tree.leaves(expected), strict=True
    ):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        scale = max(float(jnp.abs(other).max(initial=0)), 1.0)
        assert float(jnp.abs(one - other).max(initial=0)) <= tolerance * scale


def sine(f):
    return lambda *values: jnp.sin(f(*values)).sum()


@pytest.fixture(autouse=True)
def wide():
    """JAX in 64 bits."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def narrow(wide):  # noqa: ARG001
    """JAX as it is by itself."""
    jax.config.update("jax_enable_x64", False)


NUMBER = CASES["number"]
L = 0.7


def reduced(x, y, b, l):
    return tilefold.jax.reduce(NUMBER.text, x=x, y=y, b=b, l=l)


ALL = (0, 1, 2, 3)
PLAIN = (X, Y, B, L)
