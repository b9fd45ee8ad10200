# bench/tasks/jax_calls/jax_add.py - one operation, the unit.
"""jax.jit, x + 1, no sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.jax_calls import call_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.jax_calls import JaxProblem

PACKAGES = ("jax",)
COMPARED = False


def prepare(problem: JaxProblem) -> Callable[[], Any]:
    """What no call of a program can be faster than."""
    return call_of(problem, lambda x, _y, _b: x + 1)
