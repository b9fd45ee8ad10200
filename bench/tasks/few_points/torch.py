# bench/tasks/few_points/torch.py - one row or one column of the matrix.
"""torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("torch",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The one point is subtracted from all others."""
    torch.set_num_threads(cores())
    x, y, b = map(torch.from_numpy, (problem.x, problem.y, problem.b))
    scale = -problem.scale

    def run() -> Any:
        kernel = (x - y).square_().sum(1).mul_(scale).exp_()
        return kernel @ b if len(x) == 1 else kernel.mul_(b)

    return run
