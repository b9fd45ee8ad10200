# bench/tasks/jax_calls/tilefold.py - a formula in a program of XLA.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.jax_calls import LENGTH, call_of
from bench.points import TEXT

import tilefold.jax

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.jax_calls import Function, JaxProblem

PACKAGES = ("tilefold", "jax")


def prepare(problem: JaxProblem) -> Callable[[], Any]:
    """The library's kernel, called by the program."""
    return call_of(problem, formula())


def formula(backend: str = "") -> Function:
    """The sum as a function of arrays."""

    def call(x: Any, y: Any, b: Any) -> Any:
        return tilefold.jax.reduce(
            TEXT, x=x, y=y, b=b, l=LENGTH, backend=backend
        )

    return call
