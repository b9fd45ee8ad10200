# bench/tasks/svgp_training/gpytorch.py - the matrix in memory.
"""GPyTorch, RBFKernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.gp_models import sparse_step
from gpytorch import kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.gp_problems import SparseProblem, Step

PACKAGES = ("gpytorch", "torch")


def prepare(problem: SparseProblem) -> Callable[[], Step]:
    """The matrix is made and kept."""
    return sparse_step(problem, kernels.ScaleKernel, kernels.RBFKernel)
