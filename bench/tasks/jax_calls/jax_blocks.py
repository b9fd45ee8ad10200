# bench/tasks/jax_calls/jax_blocks.py - XLA over some rows at a time.
"""jax.jit, lax.map over blocks of rows, checkpointed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.jax_calls import call_of, in_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.jax_calls import JaxProblem

PACKAGES = ("jax",)
SAMPLES = 3


def prepare(problem: JaxProblem) -> Callable[[], Any]:
    """What saves memory in JAX."""
    return call_of(problem, in_blocks)
