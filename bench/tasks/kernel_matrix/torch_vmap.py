# bench/tasks/kernel_matrix/torch_vmap.py - a function of two points, mapped.
"""torch.vmap of a function of two points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.kernel_matrix.task import MatrixProblem

PACKAGES = ("torch",)


def prepare(problem: MatrixProblem) -> Callable[[], Any]:
    """Mapped over the columns, then over the rows."""
    torch.set_num_threads(cores())
    x, b = torch.from_numpy(problem.x), torch.from_numpy(problem.b)
    scale = -1 / (2 * problem.length**2)

    def kernel(u: Any, v: Any) -> Any:
        return torch.exp((u - v).square().sum() * scale)

    rows = torch.vmap(torch.vmap(kernel, (None, 0)), (0, None))

    def run() -> Any:
        matrix = rows(x, x)
        return matrix @ b if problem.product else matrix

    return run
