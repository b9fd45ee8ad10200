# bench/tasks/gp_training/tilefold.py - tilefold's RBFKernel.
"""tilefold.gpytorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.gp_models import exact_step

import tilefold.gpytorch as kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.gp_problems import ExactProblem, Step

PACKAGES = ("gpytorch", "tilefold", "torch")


def prepare(problem: ExactProblem) -> Callable[[], Step]:
    """Its kernels in a model of GPyTorch."""
    return exact_step(problem, kernels.ScaleKernel, kernels.RBFKernel)
