# bench/tasks/gaussian/jax_chunked.py - XLA over some rows at once.
"""jax.jit, lax.map over chunks of rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
from jax import numpy as jnp

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("jax",)
ROWS = 64  # of a chunk; 16 and 256 are slower


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Exact differences, a coordinate after the other: the N × M × D array
    that one would write is no faster. Compiles in a whole call."""
    jax.config.update("jax_enable_x64", True)
    x, y, b = map(jnp.asarray, (problem.x, problem.y, problem.b))
    scale = x.dtype.type(-problem.scale)

    def row(point: jax.Array) -> jax.Array:
        squares = sum(
            (point[d] - y[:, d]) ** 2 for d in range(problem.x.shape[1])
        )
        return jnp.exp(squares * scale) @ b

    chunked = jax.jit(partial(jax.lax.map, row, batch_size=ROWS))
    run = lambda: chunked(x).block_until_ready()  # noqa: E731
    run()
    return run
