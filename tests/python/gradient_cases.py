# tests/python/gradient_cases.py - formulas, and the same in PyTorch, dense.
"""Each case: a formula, a function of float64 tensors, and its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable

_random = np.random.default_rng(0)
N, M, D = 17, 23, 3
X = _random.standard_normal((N, D))
Y = _random.standard_normal((M, D))
B = _random.standard_normal(M)
WIDE = _random.standard_normal((M, 2))
C = _random.standard_normal(N)
W = _random.random(M) + 0.1
SCALE = 0.7


class Case(NamedTuple):
    text: str
    dense: Callable[..., torch.Tensor]
    arguments: dict[str, Any]


def squares(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """|x_i - y_j|², (N, M)."""
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)


def gaussian(x, y, scale):
    return torch.exp(-squares(x, y) / (2 * scale * scale))


CASES = {
    "gaussian": Case(
        "sum_j exp(-|x_i - y_j|²/2l²) b_j",
        lambda x, y, b, l: gaussian(x, y, l) @ b,
        {"x": X, "y": Y, "b": B, "l": SCALE},
    ),
    "wide": Case(
        "sum_j exp(-|x_i - y_j|²/2l²) b_j",
        lambda x, y, b, l: gaussian(x, y, l) @ b,
        {"x": X, "y": Y, "b": WIDE, "l": SCALE},
    ),
    "one array on both axes": Case(
        "sum_j exp(-|x_i - x_j|²/2l²) c_j",
        lambda x, c, l: gaussian(x, x, l) @ c,
        {"x": X, "c": C, "l": SCALE},
    ),
    "kept j": Case(
        "sum_i exp(-|x_i - y_j|²/2l²) c_i",
        lambda x, y, c, l: gaussian(x, y, l).T @ c,
        {"x": X, "y": Y, "c": C, "l": SCALE},
    ),
    "energy": Case(
        "sum_ij exp(-|x_i - y_j|²/2l²) c_i b_j",
        lambda x, y, b, c, l: c @ gaussian(x, y, l) @ b,
        {"x": X, "y": Y, "b": B, "c": C, "l": SCALE},
    ),
    "length scales": Case(
        "sum_j exp(-|(x_i - y_j)/l|²/2) b_j",
        lambda x, y, b, l: gaussian(x / l, y / l, 1) @ b,
        {"x": X, "y": Y, "b": B, "l": np.array([0.5, 0.7, 1.1])},
    ),
    "matrix": Case(
        "sum_j exp(-|A@(x_i - y_j)|²/2) b_j",
        lambda x, y, b, A: gaussian(x @ A.T, y @ A.T, 1) @ b,
        {"x": X, "y": Y, "b": B, "A": _random.standard_normal((2, 3))},
    ),
    "mean": Case(
        "mean_j (exp(-|x_i - y_j|) b_j)",
        lambda x, y, b: (torch.exp(-squares(x, y).sqrt()) * b).mean(1),
        {"x": X, "y": Y, "b": B},
    ),
    "prod": Case(
        "prod_j (1 + b_j x_i[0]/10)",
        lambda x, b: (1 + b * x[:, :1] / 10).prod(1),
        {"x": X, "b": B},
    ),
    "max": Case(
        "max_j |x_i - y_j|² b_j",
        lambda x, y, b: (squares(x, y) * b).max(1)[0],
        {"x": X, "y": Y, "b": B},
    ),
    "min over i": Case(
        "min_i |x_i - y_j|² b_j",
        lambda x, y, b: (squares(x, y) * b).min(0)[0],
        {"x": X, "y": Y, "b": B},
    ),
    "max over both": Case(
        "max_ij (|x_i - y_j|² b_j)",
        lambda x, y, b: (squares(x, y) * b).max(),
        {"x": X, "y": Y, "b": B},
    ),
    "kmin": Case(
        "kmin_j(|x_i - y_j|² l, 4)",
        lambda x, y, l: torch.topk(squares(x, y) * l, 4, largest=False)[0],
        {"x": X, "y": Y, "l": SCALE},
    ),
    "logsumexp": Case(
        "logsumexp_j(b_j - |x_i - y_j|²/2l)",
        lambda x, y, b, l: torch.logsumexp(b - squares(x, y) / (2 * l), 1),
        {"x": X, "y": Y, "b": B, "l": SCALE},
    ),
    "weighted logsumexp": Case(
        "logsumexp_j(-|x_i - y_j|²/2l, w_j)",
        lambda x, y, w, l: torch.log(torch.exp(-squares(x, y) / (2 * l)) @ w),
        {"x": X, "y": Y, "w": W, "l": SCALE},
    ),
    "softmax": Case(
        "softmax_j(x_i·y_j/l, v_j)",
        lambda x, y, v, l: torch.softmax(x @ y.T / l, 1) @ v,
        {"x": X, "y": Y, "v": WIDE, "l": SCALE},
    ),
    "softmax of scalars": Case(
        "softmax_j(x_i·y_j/l, b_j)",
        lambda x, y, b, l: torch.softmax(x @ y.T / l, 1) @ b,
        {"x": X, "y": Y, "b": B, "l": SCALE},
    ),
    "two reductions and an epilogue": Case(
        "c_i + (sum_j k(x_i,y_j) b_j)/(sum_j k(x_i,y_j))"
        " with k(u,v) = exp(-|u-v|²/2l²)",
        lambda x, y, b, c, l: (
            c + gaussian(x, y, l) @ b / gaussian(x, y, l).sum(1)
        ),
        {"x": X, "y": Y, "b": B, "c": C, "l": SCALE},
    ),
    "a map": Case(
        "sin(x_i)*1.1 + l",
        lambda x, l: torch.sin(x) * 1.1 + l,
        {"x": X, "l": SCALE},
    ),
    "points of one axis": Case(
        "sum_i sin(x_i)*w",
        lambda x, w: torch.sin(x).sum(0) * w,
        {"x": X, "w": SCALE},
    ),
    "components": Case(
        "sum_j [x_i[0], 2y_j]·[b_j, x_i[1:3], x_i[0]]",
        lambda x, y, b: (
            x[:, :1] * b
            + 2 * y[:, 0] * x[:, 1:2]
            + 2 * y[:, 1] * x[:, 2:3]
            + 2 * y[:, 2] * x[:, :1]
        ).sum(1),
        {"x": X, "y": Y, "b": B},
    ),
    # ---- reductions of reductions -------------------------------------------
    "hausdorff": Case(
        "max_i min_j |x_i - y_j|²",
        lambda x, y: squares(x, y).min(1)[0].max(),
        {"x": X, "y": Y},
    ),
    "hausdorff of both": Case(
        "max(max_i min_j d, max_j min_i d) with d = l*|x_i - y_j|²",
        lambda x, y, l: torch.maximum(
            (l * squares(x, y)).min(1)[0].max(),
            (l * squares(x, y)).min(0)[0].max(),
        ),
        {"x": X, "y": Y, "l": SCALE},
    ),
    "squares of sums": Case(
        "sum_i (sum_j exp(-|x_i - y_j|²/2l²) b_j)²",
        lambda x, y, b, l: ((gaussian(x, y, l) @ b) ** 2).sum(),
        {"x": X, "y": Y, "b": B, "l": SCALE},
    ),
    "logarithms of sums": Case(
        "sum_i c_i log(sum_j exp(-|x_i - y_j|²/2l²))",
        lambda x, y, c, l: c @ torch.log(gaussian(x, y, l).sum(1)),
        {"x": X, "y": Y, "c": C, "l": SCALE},
    ),
    "the largest sum": Case(
        "max_j sum_i exp(-|x_i - y_j|²/2l²)",
        lambda x, y, l: gaussian(x, y, l).sum(0).max(),
        {"x": X, "y": Y, "l": SCALE},
    ),
    "a sum of soft maxima": Case(
        "sum_i |x_i[:2] - softmax_j(x_i·y_j/l, v_j)|²",
        lambda x, y, v, l: (
            (x[:, :2] - torch.softmax(x @ y.T / l, 1) @ v) ** 2
        ).sum(),
        {"x": X, "y": Y, "v": WIDE, "l": SCALE},
    ),
    "normalised by columns": Case(
        "sum_j k/(sum_i k)*b_j with k = exp(-|x_i - y_j|²/2l²)",
        lambda x, y, b, l: (
            (gaussian(x, y, l) / gaussian(x, y, l).sum(0, keepdim=True)) @ b
        ),
        {"x": X, "y": Y, "b": B, "l": SCALE},
    ),
    "normalised by rows": Case(
        "sum_j (k/(sum_j k))*y_j with k = exp(-|x_i - y_j|²/2l²)",
        lambda x, y, l: (
            (gaussian(x, y, l) / gaussian(x, y, l).sum(1, keepdim=True)) @ y
        ),
        {"x": X, "y": Y, "l": SCALE},
    ),
    "three levels": Case(
        "logsumexp_i(c_i*log(sum_j b_j² k/(sum_i k)))"
        " with k = exp(-|x_i - y_j|²/2l²)",
        lambda x, y, b, c, l: torch.logsumexp(
            c
            * torch.log(
                (b**2 * gaussian(x, y, l) / gaussian(x, y, l).sum(0)).sum(1)
            ),
            0,
        ),
        {"x": X, "y": Y, "b": B, "c": C, "l": SCALE},
    ),
    "centred": Case(
        "l*x_i/(1 + max_i |x_i|) - mean_i(x_i)",
        lambda x, l: l * x / (1 + x.norm(dim=1).max()) - x.mean(0),
        {"x": X, "l": SCALE},
    ),
    "variance of sums": Case(
        "var_i (sum_j exp(-|x_i - y_j|²/2l²) b_j)",
        lambda x, y, b, l: (gaussian(x, y, l) @ b).var(correction=0),
        {"x": X, "y": Y, "b": B, "l": SCALE},
    ),
    "smallest of smallest": Case(
        "kmin_i(min_j |x_i - y_j|², 4)",
        lambda x, y: torch.topk(squares(x, y).min(1)[0], 4, largest=False)[0],
        {"x": X, "y": Y},
    ),
    "product of sums": Case(
        "(sum_i x_i c_i)·(sum_j y_j b_j)*l",
        lambda x, y, b, c, l: (c @ x) @ (b @ y) * l,
        {"x": X, "y": Y, "b": B, "c": C, "l": SCALE},
    ),
}
