# bench/tasks/functions/jax_chunked.py - XLA over some rows at once.
"""jax.jit, lax.map over chunks of rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
from bench.functions import Tools
from jax import numpy as jnp

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.functions import FunctionProblem

PACKAGES = ("jax",)
ROWS = 64  # of a chunk


def prepare(problem: FunctionProblem) -> Callable[[], Any]:
    """A coordinate after the other; compiles in a whole call."""
    jax.config.update("jax_enable_x64", True)
    x, y = jnp.asarray(problem.x), jnp.asarray(problem.y)
    tools = Tools(
        jnp,
        jax.scipy.special,
        jax.nn,
        jax.lax,
        gelu=partial(jax.nn.gelu, approximate=False),
        atan2=jnp.arctan2,
        asin=jnp.arcsin,
        acos=jnp.arccos,
        atan=jnp.arctan,
        lgamma=jax.lax.lgamma,
        j0=partial(_bessel, jax.scipy.special.bessel_jn),
    )

    def row(point: jax.Array) -> jax.Array:
        squares = sum((point[d] - y[:, d]) ** 2 for d in range(3))
        return problem.of(tools, squares).sum()

    chunked = jax.jit(partial(jax.lax.map, row, batch_size=ROWS))
    run = lambda: chunked(x).block_until_ready()  # noqa: E731
    run()
    return run


def _bessel(bessel_jn: Any, u: Any) -> Any:
    return bessel_jn(u, v=0)[0]
