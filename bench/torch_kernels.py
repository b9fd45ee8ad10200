# bench/torch_kernels.py - kernel matrices that torch makes, as contenders.
"""What every contender of kernel_matrix and kernel_product with tensors does
around its own way to the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.matrices import MatrixProblem


def run_of(
    problem: MatrixProblem, matrix_of: Callable[[Any], Any]
) -> Callable[[], Any]:
    """The matrix of the problem's points on all cores, or its product."""
    torch.set_num_threads(cores())
    x, b = torch.from_numpy(problem.x), torch.from_numpy(problem.b)

    @torch.no_grad()
    def run() -> Any:
        matrix = matrix_of(x)
        return matrix @ b if problem.product else matrix

    return run
