# bench/tasks/kernel_matrix/torch_broadcast.py - differences of all pairs.
"""torch, broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.torch_kernels import run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.matrices import MatrixProblem

PACKAGES = ("torch",)


def prepare(problem: MatrixProblem) -> Callable[[], Any]:
    """As one writes it: N × N × D numbers in between."""
    scale = problem.scale

    def matrix_of(x: Any) -> Any:
        squares = (x.unsqueeze(1) - x.unsqueeze(0)).square().sum(-1)
        return squares.mul_(scale).exp_()

    return run_of(problem, matrix_of)
