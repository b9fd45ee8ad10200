# bench/tasks/call_overhead/torch.py - the dense matrix through cdist.
"""torch, dense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("torch",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """All 3,000 elements in memory."""
    x, y, b = map(torch.from_numpy, (problem.x, problem.y, problem.b))
    scale = -problem.scale
    return lambda: torch.cdist(x, y).square_().mul_(scale).exp_() @ b
