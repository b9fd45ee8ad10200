# bench/tasks/gaussian/torch_compile.py - torch, fused by torch.compile.
"""torch.compile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("torch",)


def gaussian(x: Any, y: Any, b: Any, scale: float) -> Any:
    """The whole sum as one expression, which Inductor fuses to one loop."""
    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
    return (torch.exp(squares * scale) * b).sum(1)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Compiles for these very sizes."""
    torch.set_num_threads(cores())
    x, y, b = map(torch.from_numpy, (problem.x, problem.y, problem.b))
    compiled = torch.compile(gaussian, dynamic=False)
    compiled(x, y, b, -problem.scale)
    return lambda: compiled(x, y, b, -problem.scale)
