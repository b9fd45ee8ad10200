# bench/tasks/jax_calls/jax_jit.py - XLA over all pairs.
"""jax.jit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.jax_calls import call_of, dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.jax_calls import JaxProblem

PACKAGES = ("jax",)
SAMPLES = 3


def prepare(problem: JaxProblem) -> Callable[[], Any]:
    """XLA fuses what it can."""
    return call_of(problem, dense)
