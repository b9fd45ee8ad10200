# tests/python/torch_cases.py - formulas, and the same in torch.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch


def uniform(*shape):
    """Numbers in float64, the same for each run."""
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.rand(shape, generator=generator, dtype=torch.float64)


def squares(x, y):
    """|x_i - y_j|²."""
    return ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)


class Case(NamedTuple):
    """A formula; `dense` computes it of the same values, in their order."""

    text: str
    arguments: dict[str, Any]
    dense: Callable[..., Any]


X, Y, B, A = uniform(4, 3), uniform(5, 3), uniform(5), uniform(3, 3)

CASES = {
    "number": Case(
        "sum_j exp(-|x_i - y_j|²/2l²) b_j",
        {"x": X, "y": Y, "b": B, "l": uniform() + 0.5},
        lambda x, y, b, l: torch.exp(-squares(x, y) / (2 * l**2)) @ b,
    ),
    "vectors": Case(
        "sum_j exp(-|x_i - y_j|²) b_j",
        {"x": X, "y": Y, "b": uniform(5, 2)},
        lambda x, y, b: torch.exp(-squares(x, y)) @ b,
    ),
    "vector": Case(
        "sum_j exp(-|(x_i - y_j)/l|²) b_j",
        {"x": X, "y": Y, "b": B, "l": uniform(3) + 0.5},
        lambda x, y, b, l: torch.exp(-squares(x / l, y / l)) @ b,
    ),
    "matrix": Case(
        "sum_j exp(-|A@(x_i - y_j)|²) b_j",
        {"x": X, "y": Y, "b": B, "A": A},
        lambda x, y, b, A: torch.exp(-squares(x @ A.T, y @ A.T)) @ b,
    ),
    "no axis": Case(
        "sum_ij exp(-|x_i - y_j|²)",
        {"x": X, "y": Y},
        lambda x, y: torch.exp(-squares(x, y)).sum(),
    ),
    "on j": Case(
        "sum_i exp(-|x_i - y_j|²) a_i",
        {"x": X, "y": Y, "a": uniform(4)},
        lambda x, y, a: a @ torch.exp(-squares(x, y)),
    ),
    "softmax": Case(
        "softmax_j(x_i·y_j, b_j)",
        {"x": X, "y": Y, "b": uniform(5, 2)},
        lambda x, y, b: torch.softmax(x @ y.T, -1) @ b,
    ),
    "logsumexp": Case(
        "logsumexp_j(-|x_i - y_j|²)",
        {"x": X, "y": Y},
        lambda x, y: torch.logsumexp(-squares(x, y), -1),
    ),
    "minimum": Case(
        "min_j |x_i - y_j|²",
        {"x": X, "y": Y},
        lambda x, y: squares(x, y).min(-1).values,
    ),
}


def assert_same(found, expected, tolerance=1e-11):
    """Trees of tensors, each within `tolerance` of the largest number."""
    leaves = torch.utils._pytree.tree_leaves
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        scale = other.abs().max().clamp(min=1e-30) if other.numel() else 1
        assert ((one - other).abs() <= tolerance * scale).all()
