# bench/tasks/torch_calls/torch_eager.py - the dense formula.
"""torch, eager."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.torch_calls import call_of, dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.torch_calls import CallProblem

PACKAGES = ("torch",)


def prepare(problem: CallProblem) -> Callable[[], Any]:
    """Six operations, one after the other."""
    return call_of(problem, dense)
