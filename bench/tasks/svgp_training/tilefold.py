# bench/tasks/svgp_training/tilefold.py - tilefold's RBFKernel.
"""tilefold.gpytorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.gp_models import sparse_step

import tilefold.gpytorch as kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.gp_problems import SparseProblem, Step

PACKAGES = ("gpytorch", "tilefold", "torch")


def prepare(problem: SparseProblem) -> Callable[[], Step]:
    """Its kernels in a model of GPyTorch."""
    return sparse_step(problem, kernels.ScaleKernel, kernels.RBFKernel)
