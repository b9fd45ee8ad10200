# bench/tasks/gaussian/torch_cdist.py - torch, blocks of torch.cdist.
"""torch, cdist in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("torch",)
ROWS = 256  # the fastest of 26, 64, 256, 1024, 4096


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Distances, squares, exponentials and a product, block by block."""
    torch.set_num_threads(cores())
    x, y, b = map(torch.from_numpy, (problem.x, problem.y, problem.b))
    scale = -problem.scale

    def run() -> Any:
        out = torch.empty(len(x), dtype=x.dtype)
        for start in range(0, len(x), ROWS):
            block = torch.cdist(x[start : start + ROWS], y)
            block.square_().mul_(scale).exp_()
            torch.mv(block, b, out=out[start : start + ROWS])
        return out

    return run
