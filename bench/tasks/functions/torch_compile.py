# bench/tasks/functions/torch_compile.py - torch, fused by torch.compile.
"""torch.compile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores
from bench.tasks.functions.torch_eager import sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.functions import FunctionProblem

PACKAGES = ("torch",)


def prepare(problem: FunctionProblem) -> Callable[[], Any]:
    """Compiles for these very sizes."""
    torch.set_num_threads(cores())
    x, y = torch.from_numpy(problem.x), torch.from_numpy(problem.y)
    compiled = torch.compile(partial(sums, problem), dynamic=False)
    compiled(x, y)
    return lambda: compiled(x, y)
