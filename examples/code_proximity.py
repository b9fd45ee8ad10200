# examples/code_proximity.py - near-duplicates by the integers of their codes.
"""Finds documents that nearly are the same, by codes of small integers.

    J(A, B) = |A∩B|/|A∪B| ≈ 1/D Σ_k [a_k = b_k],    a_k = min of h_k over A

The Jaccard similarity of two sets is the chance that a random hash has its
minimum at the same element: so the fraction of equal components of two MinHash
codes estimates it (Broder 1997), or 1 - their Hamming distance/D. Integers are
compared as integers, whatever their size; all codes meet all.

Usage: python examples/code_proximity.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Codes = np.ndarray[Any, np.dtype[np.uint16]]
Array = np.ndarray[Any, np.dtype[Any]]


def minhash(
    documents: list[Array], size: int, random: np.random.Generator
) -> Codes:
    """The codes, (N, size), of sets of numbers below 2³¹.

    h_k(n) = a_k n + b_k mod p, of which the lowest 16 bits are kept.
    """
    prime = np.int64(2**31 - 1)
    a, b = random.integers(1, prime, (2, size))
    codes = [((np.outer(a, d) + b[:, None]) % prime).min(1) for d in documents]
    return (np.array(codes) & 0xFFFF).astype(np.uint16)


def similarity(a: Codes, b: Codes) -> tilefold.Kernel:
    """Of codes a (N, D) and b (M, D): lazy, (N, M)."""
    return tilefold.kernel("sum(a_i == b_j)/D", a=a, b=b)


def nearest_other(codes: Codes) -> tuple[Array, Array]:
    """The most similar other document of each, and how similar, (N,)."""
    S = tilefold.kernel("where(i ≠ j, sum(a_i == a_j)/D, -1)", a=codes)
    values, places = S.topk(1, axis=1)
    return places[:, 0], values[:, 0]


def jaccard(a: Array, b: Array) -> float:
    """Of two arrays of distinct numbers."""
    both = len(np.intersect1d(a, b))
    return both / (len(a) + len(b) - both)


def main() -> None:
    """5,000 sets of words, of which the last 500 are edited copies."""
    random = np.random.default_rng(0)
    words = random.integers(0, 2**31 - 1, (5000, 100))
    words[4500:] = words[:500]
    for source, copy in enumerate(words[4500:]):
        edits = 1 + source % 30
        copy[:edits] = random.integers(0, 2**31 - 1, edits)
    documents = [np.unique(w) for w in words]
    codes = minhash(documents, 128, random)
    places, values = nearest_other(codes)
    right = np.mean(places[4500:] == np.arange(500))
    truth = [jaccard(documents[k], documents[4500 + k]) for k in range(500)]
    error = np.sqrt(np.mean((values[4500:] - truth) ** 2))
    print(f"{right:.1%} of the copies find what they were made from")
    print(f"their similarity is right to {error:.3f}")
    print(f"that of others is at most {values[500:4500].max():.3f}")


if __name__ == "__main__":
    main()
