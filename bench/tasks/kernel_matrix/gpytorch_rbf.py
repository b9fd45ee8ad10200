# bench/tasks/kernel_matrix/gpytorch_rbf.py - GPyTorch's RBFKernel.
"""GPyTorch, RBFKernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.torch_kernels import run_of
from gpytorch.kernels import RBFKernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.matrices import MatrixProblem

PACKAGES = ("gpytorch", "torch")


def prepare(problem: MatrixProblem) -> Callable[[], Any]:
    """Without a graph of gradients, as the others."""
    kernel = RBFKernel()
    kernel.lengthscale = problem.length
    return run_of(problem, lambda x: kernel(x).to_dense())
