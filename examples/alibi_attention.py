# examples/alibi_attention.py - attention that looks back, the nearer the more.
"""Causal attention with linear biases, of any length, without its matrix.

    o_i = Σ_{j≤i} softmax_j( q_i·k_j/√D - m (i - j) ) v_j

Train Short, Test Long (Press, Smith and Lewis 2022): instead of position
embeddings, head h of H subtracts the distance times m = 2^(-8h/H). Heads are a
batch. The mask is one of i and j alone: tiles of pairs that lie above the
diagonal are left out.

Usage: python examples/alibi_attention.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float32]]

ATTENTION = tilefold.compile(
    "softmax_j(where(j <= i, q_i·k_j/√D - m*(i - j), -inf), v_j)"
)


def slopes(heads: int) -> Array:
    """The slope m of each head, (H, 1, 1): one number a batch."""
    powers = np.arange(1, heads + 1, dtype=np.float32)
    return np.exp2(-8 * powers / heads).reshape(-1, 1, 1)


def attention(q: Array, k: Array, v: Array) -> Array:
    """Of queries, keys and values (…, H, L, D), shaped like them."""
    return ATTENTION(q=q, k=k, v=v, m=slopes(q.shape[-3]))


def main() -> None:
    """Eight heads of 4,096 tokens; the first ones never see the others."""
    random = np.random.default_rng(0)
    q, k, v = random.standard_normal((3, 8, 4096, 32), np.float32)
    attention(q[:, :8], k[:, :8], v[:, :8])  # compiles
    before, start = tilefold.stats(), time.perf_counter()
    out = attention(q, k, v)
    seconds, after = time.perf_counter() - start, tilefold.stats()
    left_out = after.tiles_skipped - before.tiles_skipped
    met = after.tiles_visited - before.tiles_visited
    share = left_out / (met + left_out)
    print(f"{seconds:.2f} s, {share:.0%} of tiles left out")
    beginning = attention(q[:, :100], k[:, :100], v[:, :100])
    change = np.abs(out[:, :100] - beginning).max()
    print(f"the first 100 tokens alone differ by {change:.1e}")


if __name__ == "__main__":
    main()
