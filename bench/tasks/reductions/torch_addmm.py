# bench/tasks/reductions/torch_addmm.py - torch, |x|²+|y|²-2x·y by hand.
"""torch, expanded squares in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.reductions.task import ReductionProblem

PACKAGES = ("torch",)
ROWS = 256  # as for the Gaussian sum
REDUCE = {
    "logsumexp": lambda block: block.mul_(-0.5).logsumexp(1),
    "argmin": lambda block: block.argmin(1),
    "max": lambda block: block.amax(1),
}


def prepare(problem: ReductionProblem) -> Callable[[], Any]:
    """One matrix product and one reduction a block."""
    torch.set_num_threads(cores())
    x, y = map(torch.from_numpy, (problem.x, problem.y))
    reduce = REDUCE[problem.operation]

    def run() -> Any:
        of_y = y.square().sum(1)
        of_x = x.square().sum(1, keepdim=True)
        factor = y.T.mul(-2).contiguous()
        parts = []
        for start in range(0, len(x), ROWS):
            rows = slice(start, start + ROWS)
            block = torch.addmm(of_y, x[rows], factor).add_(of_x[rows])
            parts.append(reduce(block))
        return torch.cat(parts)

    return run
