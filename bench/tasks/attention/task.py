# bench/tasks/attention/task.py - softmax(q kᵀ/8) v, one head.
"""softmax(q kᵀ/8) v of one head with 64 components, 4,096 queries and as
many keys, standard normal, float32. The error of a component is taken beside
the weighted mean of |v|."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from bench.case import Case
from bench.goals import times_best_peer
from bench.points import ROWS

TITLE = "Attention"
TABLE = "times"
TEXT = "softmax_j(q_i·k_j/8, v_j)"
WIDTH = 64  # components; 8 in the formula is its root


@dataclass(frozen=True)
class AttentionProblem:
    """As many queries as keys; a result has the shape of q."""

    n: int

    @property
    def pairs(self) -> float:
        """Pairs of a query and a key."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """N, M, D and the type."""
        return {"N": self.n, "M": self.n, "D": WIDTH, "dtype": "float32"}

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """q, k and v."""
        random = np.random.default_rng(8)
        shape = (self.n, WIDTH)
        return {k: random.standard_normal(shape, np.float32) for k in "qkv"}

    def error(self, result: Any) -> float:
        """Largest |r - o| / Σ_j p_j |v_j| over the sampled rows."""
        found = np.asarray(result, np.float64).reshape(self.n, WIDTH)
        rows = np.linspace(0, self.n - 1, ROWS).astype(np.int64)
        q, k, v = (a.astype(np.float64) for a in self.arrays.values())
        scores = q[rows] @ k.T / 8
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        errors = np.abs(found[rows] - weights @ v) / (weights @ np.abs(v))
        return float(np.nan_to_num(errors, nan=np.inf).max())


def _make(quick: bool) -> AttentionProblem:
    return AttentionProblem(300 if quick else 4096)


CASES = [
    Case(
        name="attention_d64",
        goals=(times_best_peer(1.15),),
        title="one head, N = M = 4,096, D = 64, float32",
        problem=_make,
        tolerance=1e-5,
    )
]
