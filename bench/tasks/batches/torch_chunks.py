# bench/tasks/batches/torch_chunks.py - differences of some batches at once.
"""torch, broadcast in chunks of batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.batches.task import BatchProblem

PACKAGES = ("torch",)
CHUNK = 256  # batches


def prepare(problem: BatchProblem) -> Callable[[], Any]:
    """All pairs of a chunk, and a batched product."""
    torch.set_num_threads(cores())
    x, y, b = map(torch.from_numpy, problem.arrays.values())
    scale = -problem.scale

    def run() -> Any:
        out = torch.empty_like(b)
        for start in range(0, len(x), CHUNK):
            some = slice(start, start + CHUNK)
            difference = x[some].unsqueeze(2) - y[some].unsqueeze(1)
            kernel = difference.square_().sum(-1).mul_(scale).exp_()
            out[some] = (kernel @ b[some].unsqueeze(-1)).squeeze(-1)
        return out

    return run
