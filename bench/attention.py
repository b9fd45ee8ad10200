# bench/attention.py - queries, keys and values, and their exact attention.
"""softmax(q kᵀ/√D) v, of one head or of a batch, causal or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bench.points import ROWS

BFLOAT16 = "bfloat16"


@dataclass(frozen=True)
class AttentionProblem:
    """As many queries as keys; a result has the shape of q.

    Without batches q, k and v are matrices of their own; a batch has them as
    views of one (batches, n, 3, width) array. Numbers are standard normal.
    """

    n: int
    width: int = 64
    dtype: str = "float32"
    batches: int = 0
    causal: bool = False

    @property
    def pairs(self) -> float:
        """Pairs of a query and a key it may see."""
        one = self.n * (self.n + 1) / 2 if self.causal else float(self.n) ** 2
        return one * max(1, self.batches)

    @property
    def sizes(self) -> dict[str, Any]:
        """The batches, N, M, D and the type."""
        sizes = {"B": self.batches} if self.batches else {}
        sizes |= {"N": self.n, "M": self.n, "D": self.width}
        return {**sizes, "dtype": self.dtype}

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        score = f"q_i·k_j/√{self.width}"
        if self.causal:
            score = f"where(j <= i, {score}, -inf)"
        return f"softmax_j({score}, v_j)"

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """q, k and v in float32; of bfloat16, numbers that it has."""
        random = np.random.default_rng(8)
        if self.batches:
            shape = (self.batches, self.n, 3, self.width)
            whole = random.standard_normal(shape, np.float32)
            return {name: whole[:, :, k] for k, name in enumerate("qkv")}
        one = (self.n, self.width)
        arrays = {k: random.standard_normal(one, np.float32) for k in "qkv"}
        if self.dtype == BFLOAT16:
            return {k: _halved(array) for k, array in arrays.items()}
        return arrays

    @property
    def arguments(self) -> dict[str, Any]:
        """q, k and v of the type: arrays, or tensors of bfloat16."""
        return self.tensors if self.dtype == BFLOAT16 else self.arrays

    @cached_property
    def tensors(self) -> dict[str, Any]:
        """The same as tensors of the type, with the same strides."""
        import torch

        kind = getattr(torch, self.dtype)
        return {
            name: torch.from_numpy(array).to(kind)
            for name, array in self.arrays.items()
        }

    def error(self, result: Any) -> float:
        """Largest |r - o| / Σ_j p_j |v_j| over sampled rows of two batches."""
        found = _as_double(result).reshape(-1, self.n, self.width)
        return max(self._error(found, b) for b in {0, len(found) - 1})

    def _error(self, found: Any, batch: int) -> float:
        rows = np.linspace(0, self.n - 1, ROWS).astype(np.int64)
        q, k, v = (
            (array[batch] if self.batches else array).astype(np.float64)
            for array in self.arrays.values()
        )
        scores = q[rows] @ k.T / self.width**0.5
        if self.causal:
            scores[np.arange(self.n) > rows[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        exact, sizes = weights @ v, weights @ np.abs(v)
        errors = np.abs(found[batch, rows] - exact) / sizes
        return float(np.nan_to_num(errors, nan=np.inf).max())


def _halved(array: Any) -> Any:
    """The nearest numbers of bfloat16, in float32."""
    bits = array.view(np.uint32)
    nearest = bits + 0x7FFF + ((bits >> 16) & 1)
    return (nearest & 0xFFFF0000).astype(np.uint32).view(np.float32)


def _as_double(result: Any) -> Any:
    if hasattr(result, "double"):  # a tensor, perhaps of bfloat16
        result = result.double()
    return np.asarray(result, np.float64)
