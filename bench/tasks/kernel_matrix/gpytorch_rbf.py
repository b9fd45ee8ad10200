# bench/tasks/kernel_matrix/gpytorch_rbf.py - GPyTorch's RBFKernel.
"""GPyTorch, RBFKernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores
from gpytorch.kernels import RBFKernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.kernel_matrix.task import MatrixProblem

PACKAGES = ("gpytorch", "torch")


def prepare(problem: MatrixProblem) -> Callable[[], Any]:
    """Without a graph of gradients, as the others."""
    torch.set_num_threads(cores())
    x, b = torch.from_numpy(problem.x), torch.from_numpy(problem.b)
    kernel = RBFKernel()
    kernel.lengthscale = problem.length

    @torch.no_grad()
    def run() -> Any:
        matrix = kernel(x).to_dense()
        return matrix @ b if problem.product else matrix

    return run
