# bench/tasks/torch_calls/tilefold.py - a formula of tensors.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.points import TEXT
from bench.torch_calls import LENGTH, call_of

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.torch_calls import CallProblem, Function

PACKAGES = ("tilefold", "torch")


def prepare(problem: CallProblem) -> Callable[[], Any]:
    """f(x=x, …), as in a loop of a user."""
    return call_of(problem, formula())


def formula() -> Function:
    """The sum as a function of tensors."""
    f = tilefold.compile(TEXT)
    return lambda x, y, b: f(x=x, y=y, b=b, l=LENGTH)
