# bench/tasks/quantiles/torch_blocks.py - torch, rows of distances in blocks.
"""torch, cdist and quantile in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.quantiles.task import QuantileProblem

PACKAGES = ("torch",)
ROWS = 256


def prepare(problem: QuantileProblem) -> Callable[[], Any]:
    """The distances of some rows at a time, each block sorted by torch."""
    torch.set_num_threads(cores())
    x, y = map(torch.from_numpy, problem.points)

    def run() -> Any:
        return torch.cat(
            [
                torch.cdist(rows, y).quantile(0.5, dim=1)
                for rows in x.split(ROWS)
            ]
        )

    return run
