# bench/tasks/torch_calls/torch_add.py - one operation, the unit.
"""torch, x + 1, no sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.torch_calls import call_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.torch_calls import CallProblem

PACKAGES = ("torch",)
COMPARED = False


def prepare(problem: CallProblem) -> Callable[[], Any]:
    """What no call of an operation can be faster than."""
    return call_of(problem, lambda x, _y, _b: x + 1)
