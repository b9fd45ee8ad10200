# bench/tasks/jax_calls/tilefold_tiled.py - the formula in jax.numpy.
"""tilefold, in tiles of jax.numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.jax_calls import call_of
from bench.tasks.jax_calls.tilefold import PACKAGES, formula

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.jax_calls import JaxProblem

__all__ = ["PACKAGES", "prepare"]


def prepare(problem: JaxProblem) -> Callable[[], Any]:
    """As on a platform without kernels."""
    return call_of(problem, formula("tiled"))
