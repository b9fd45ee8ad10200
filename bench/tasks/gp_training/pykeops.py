# bench/tasks/gp_training/pykeops.py - GPyTorch's kernel with KeOps.
"""GPyTorch, keops.RBFKernel, no preconditioner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.gp_models import exact_step
from bench.keops import quietly
from gpytorch.kernels import ScaleKernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.gp_problems import ExactProblem, Step

PACKAGES = ("gpytorch", "pykeops", "torch")
SAMPLES = 3


def prepare(problem: ExactProblem) -> Callable[[], Step]:
    """GPyTorch finds no diagonal of this kernel, which a preconditioner has to
    begin with."""
    quietly()
    from gpytorch.kernels.keops import RBFKernel

    return exact_step(problem, ScaleKernel, RBFKernel, rank=0)
