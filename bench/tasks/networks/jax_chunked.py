# bench/tasks/networks/jax_chunked.py - XLA over some rows at once.
"""jax.jit, first layer hoisted, lax.map over chunks of rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
from jax import numpy as jnp

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.networks import NetworkProblem

PACKAGES = ("jax",)
ROWS = 16  # of a chunk


def prepare(problem: NetworkProblem) -> Callable[[], Any]:
    """Compiles in a whole call."""
    arrays = {name: jnp.asarray(a) for name, a in problem.arrays.items()}
    rows, columns = map(jnp.asarray, problem.first)
    apply = getattr(jax.nn, problem.activation)

    def row(point: jax.Array) -> jax.Array:
        units = apply(point + columns)
        for k in range(2, problem.layers + 1):
            units = apply(units @ arrays[f"W{k}"].T + arrays[f"c{k}"])
        return (units @ arrays["w"]).sum()

    chunked = jax.jit(partial(jax.lax.map, row, batch_size=ROWS))
    run = lambda: chunked(rows).block_until_ready()  # noqa: E731
    run()
    return run
