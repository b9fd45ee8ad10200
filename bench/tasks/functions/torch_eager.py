# bench/tasks/functions/torch_eager.py - torch, one operation after the other.
"""torch, blocks of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores
from bench.functions import Tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.functions import FunctionProblem

PACKAGES = ("torch",)
ROWS = 64  # of a block


def tools() -> Tools:
    """torch under the names of bench/functions.py."""
    return Tools(
        torch, torch.special, torch.nn.functional, j0=torch.special.bessel_j0
    )


def sums(problem: FunctionProblem, x: Any, y: Any) -> Any:
    """The whole sum as one expression."""
    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
    return problem.of(tools(), squares).sum(1)


def prepare(problem: FunctionProblem) -> Callable[[], Any]:
    """Block by block, all cores."""
    torch.set_num_threads(cores())
    x, y = torch.from_numpy(problem.x), torch.from_numpy(problem.y)

    @torch.no_grad()
    def run() -> Any:
        return torch.cat([sums(problem, rows, y) for rows in x.split(ROWS)])

    return run
