# bench/tasks/few_points/read_only.py - the time to read the inputs.
"""a read-only pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("torch",)
COMPARED = False


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """torch.max has threads, NumPy's has not."""
    torch.set_num_threads(cores())
    inputs = (problem.x, problem.y, problem.b)
    flat = [torch.from_numpy(array).view(-1) for array in inputs]
    return lambda: [torch.max(part) for part in flat]
