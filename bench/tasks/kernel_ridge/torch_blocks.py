# bench/tasks/kernel_ridge/torch_blocks.py - FALKON as its paper has it.
"""torch, FALKON on blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.kernel_machines import GAMMA, OnCentres

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ("torch",)
SAMPLES = 5
BLOCK = 5_000  # rows of the matrix in memory; the fastest of 1,000 to 20,000


def gaussian(x: Any, y: Any) -> Any:
    """exp(-gamma |x_i - y_j|²), by a matrix product."""
    squares = torch.addmm((y**2).sum(1), x, y.T, alpha=-2)
    squares += (x**2).sum(1)[:, None]
    return squares.clamp_(min=0).mul_(-GAMMA).exp_()


def prepare(problem: OnCentres) -> Callable[[], Any]:
    """The same steps as tilefold's, each with the blocks made anew."""
    x, y = (torch.from_numpy(array) for array in problem.data)
    centres = x[torch.from_numpy(problem.chosen)]
    count, size, alpha = problem.n, len(centres), problem.alpha

    def products(weights: Any, target: Any) -> Any:
        """K(c, x) (K(x, c) w + t) / n."""
        total = torch.zeros(size, 1)
        for first in range(0, count, BLOCK):
            part = slice(first, first + BLOCK)
            block = gaussian(x[part], centres)
            inner = block @ weights if weights is not None else 0
            total += block.T @ (
                inner + (target[part] if target is not None else 0)
            )
        return total.double() / count

    def solve(factor: Any, b: Any, *, transposed: bool) -> Any:
        matrix = factor.T if transposed else factor
        return torch.linalg.solve_triangular(matrix, b, upper=not transposed)

    def run() -> Any:
        block = gaussian(centres.double(), centres.double())
        block.diagonal().add_(torch.finfo(torch.float32).eps * size)
        first = torch.linalg.cholesky(block, upper=True)
        second = first @ first.T / size
        second.diagonal().add_(alpha)
        second = torch.linalg.cholesky(second, upper=True)

        def outer(values: Any) -> Any:
            return solve(first, values, transposed=True)

        def product(vector: Any) -> Any:
            inner = solve(second, vector, transposed=False)
            given = solve(first, inner, transposed=False).float()
            image = outer(products(given, None)) + alpha * inner
            return solve(second, image, transposed=True)

        side = solve(second, outer(products(None, y[:, None])), transposed=True)
        found = _conjugate_gradients(product, side, problem.steps)
        weights = solve(
            first, solve(second, found, transposed=False), transposed=False
        ).float()
        rows = torch.from_numpy(problem.rows)
        return (gaussian(x[rows], centres) @ weights)[:, 0].numpy()

    return run


def _conjugate_gradients(
    product: Callable[[Any], Any], side: Any, steps: int
) -> Any:
    """To 1e-7 of the side, or so many steps."""
    solution, residual = torch.zeros_like(side), side.clone()
    direction, square = residual.clone(), float((residual**2).sum())
    least = 1e-14 * square
    for _ in range(steps):
        if square <= least:
            break
        image = product(direction)
        length = square / float((direction * image).sum())
        solution += length * direction
        residual -= length * image
        old, square = square, float((residual**2).sum())
        direction = residual + square / old * direction
    return solution
