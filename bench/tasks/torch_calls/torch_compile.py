# bench/tasks/torch_calls/torch_compile.py - the dense formula, fused.
"""torch.compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.torch_calls import call_of, dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.torch_calls import CallProblem

PACKAGES = ("torch",)


def prepare(problem: CallProblem) -> Callable[[], Any]:
    """Inductor compiles it for these very sizes."""
    return call_of(problem, dense, compiled=True)
