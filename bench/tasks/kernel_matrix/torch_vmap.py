# bench/tasks/kernel_matrix/torch_vmap.py - a function of two points, mapped.
"""torch.vmap of a function of two points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.torch_kernels import run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.matrices import MatrixProblem

PACKAGES = ("torch",)


def prepare(problem: MatrixProblem) -> Callable[[], Any]:
    """Mapped over the columns, then over the rows."""
    scale = problem.scale

    def kernel(u: Any, v: Any) -> Any:
        return torch.exp((u - v).square().sum() * scale)

    rows = torch.vmap(torch.vmap(kernel, (None, 0)), (0, None))
    return run_of(problem, lambda x: rows(x, x))
