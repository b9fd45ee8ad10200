# bench/tasks/gaussian/torch_addmm.py - torch, |x|²+|y|²-2x·y by hand.
"""torch, expanded squares in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("torch",)
ROWS = {torch.float32: 256, torch.float64: 64}  # the fastest of 16 … 1024


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """One matrix product a block; the exponent needs no further pass."""
    torch.set_num_threads(cores())
    x, y, b = map(torch.from_numpy, (problem.x, problem.y, problem.b))
    scale, count = problem.scale, ROWS[x.dtype]

    def run() -> Any:
        out = torch.empty(len(x), *b.shape[1:], dtype=x.dtype)
        of_y = y.square().sum(1).mul_(-scale)
        of_x = x.square().sum(1, keepdim=True).mul_(-scale)
        factor = y.T.mul(2 * scale).contiguous()
        for start in range(0, len(x), count):
            rows = slice(start, start + count)
            block = torch.addmm(of_y, x[rows], factor)
            block.add_(of_x[rows]).exp_()
            torch.matmul(block, b, out=out[rows])
        return out

    return run
