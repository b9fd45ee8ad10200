# bench/tasks/torch_calls/tilefold_compiled.py - in a graph of torch.compile.
"""tilefold under torch.compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.torch_calls.tilefold import PACKAGES, formula
from bench.torch_calls import call_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.torch_calls import CallProblem

__all__ = ["PACKAGES", "prepare"]


def prepare(problem: CallProblem) -> Callable[[], Any]:
    """One graph, in which the formula is one node."""
    return call_of(problem, formula(), compiled=True)
