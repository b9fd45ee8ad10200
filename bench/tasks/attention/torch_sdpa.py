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

    from bench.attention import AttentionProblem

PACKAGES = ("torch",)


def prepare(problem: AttentionProblem) -> Callable[[], Any]:
    """A batch of one head, or batches of one; its scale is 1/√D by itself."""
    torch.set_num_threads(cores())
    q, k, v = (
        tensor.unsqueeze(1) if problem.batches else tensor[None, None]
        for tensor in problem.tensors.values()
    )
    return partial(
        scaled_dot_product_attention, q, k, v, is_causal=problem.causal
    )
