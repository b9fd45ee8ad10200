# bench/tasks/gp_training/gpytorch.py - the matrix in memory.
"""GPyTorch, RBFKernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.gp_models import exact_step
from gpytorch import kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.gp_problems import ExactProblem, Step

PACKAGES = ("gpytorch", "torch")
SAMPLES = 5


def prepare(problem: ExactProblem) -> Callable[[], Step]:
    """The matrix is made and kept."""
    return exact_step(problem, kernels.ScaleKernel, kernels.RBFKernel)
