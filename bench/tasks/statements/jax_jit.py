# bench/tasks/statements/jax_jit.py - XLA, a kernel for each n.
"""jax.jit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import jax
from bench.jax_tools import JaxTools
from bench.statements import calls_in_turn, function

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.statements import StatementProblem

PACKAGES = ("jax",)


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """Compiles on every size. The result is waited for."""
    chain = jax.jit(function(problem.count, JaxTools))

    def call(x: jax.Array) -> jax.Array:
        return chain(x).block_until_ready()

    arrays = list(map(jax.numpy.asarray, problem.arrays))
    for x in arrays:
        call(x)
    return calls_in_turn([partial(call, x) for x in arrays])
