# bench/tasks/kernel_matrix/torch_broadcast.py - differences of all pairs.
"""torch, broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.kernel_matrix.task import MatrixProblem

PACKAGES = ("torch",)


def prepare(problem: MatrixProblem) -> Callable[[], Any]:
    """As one writes it: N × N × D numbers in between."""
    torch.set_num_threads(cores())
    x, b = torch.from_numpy(problem.x), torch.from_numpy(problem.b)
    scale = -1 / (2 * problem.length**2)

    def run() -> Any:
        squares = (x.unsqueeze(1) - x.unsqueeze(0)).square().sum(-1)
        matrix = squares.mul_(scale).exp_()
        return matrix @ b if problem.product else matrix

    return run
