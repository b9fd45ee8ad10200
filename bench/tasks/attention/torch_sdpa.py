# bench/tasks/attention/torch_sdpa.py - PyTorch's own attention.
"""torch, scaled_dot_product_attention."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores
from torch.nn.functional import scaled_dot_product_attention

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.attention.task import AttentionProblem

PACKAGES = ("torch",)


def prepare(problem: AttentionProblem) -> Callable[[], Any]:
    """A batch of one head; its scale is 1/√64 by itself."""
    torch.set_num_threads(cores())
    q, k, v = (torch.from_numpy(a)[None, None] for a in problem.arrays.values())
    return partial(scaled_dot_product_attention, q, k, v)
