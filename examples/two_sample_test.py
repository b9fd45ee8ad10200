# examples/two_sample_test.py - whether two samples are from one distribution.
"""Tests that x and y are from the same distribution, by their MMD.

    MMD² = Σ_{i≠j} k(x_i, x_j)/N(N-1) + Σ_{i≠j} k(y_i, y_j)/M(M-1)
           - 2 Σ_ij k(x_i, y_j)/NM

the maximum mean discrepancy (Gretton et al. 2012), unbiased, with a Gaussian k
as wide as the median distance. How large it gets by chance is seen by
permuting the labels of the points: all permutations are a batch of samples,
of shape (B, N, D), and three calls in all.

Usage: python examples/two_sample_test.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

WITHIN = tilefold.compile("sum_ij [i ≠ j] exp(-|x_i - x_j|²/2l²)/(N*(N - 1))")
BETWEEN = tilefold.compile("mean_ij exp(-|x_i - y_j|²/2l²)")


def squared_mmd(x: Array, y: Array, l: float) -> Array:
    """Of x (…, N, D) and y (…, M, D), for each batch: (…)."""
    return WITHIN(x=x, l=l) + WITHIN(x=y, l=l) - 2 * BETWEEN(x=x, y=y, l=l)


def median_distance(x: Array) -> float:
    """Of pairs of x (N, D)."""
    distances = tilefold.kernel("|x_i - x_j|", x=x).dense()
    return float(np.median(distances[np.triu_indices(len(x), 1)]))


def permutation_test(
    x: Array, y: Array, permutations: int, random: np.random.Generator
) -> tuple[float, float]:
    """MMD² of x (N, D) and y (M, D), and its p-value."""
    pooled = np.concatenate([x, y])
    l = median_distance(pooled[:: len(pooled) // 500 or 1])
    shuffled = random.permuted(
        np.tile(np.arange(len(pooled)), (permutations, 1)), axis=1
    )
    samples = pooled[shuffled]
    by_chance = squared_mmd(samples[:, : len(x)], samples[:, len(x) :], l)
    found = squared_mmd(x, y, l)
    as_large = np.sum(by_chance >= found)
    return float(found), float((1 + as_large) / (1 + permutations))


def main() -> None:
    """Gaussian samples against others of the same mean and variances."""
    random = np.random.default_rng(0)
    x, alike, mixed = random.standard_normal((3, 800, 2))
    correlated = mixed @ np.linalg.cholesky([[1, 0.5], [0.5, 1]]).T
    angle = 2 * np.pi * random.random(800)
    ring = np.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)], 1)
    for name, y in (
        ("alike", alike),
        ("correlated", correlated),
        ("ring", ring),
    ):
        found, p = permutation_test(x, y, 99, random)
        print(f"{name:10}  MMD² = {found:+.5f}  p = {p:.3f}")


if __name__ == "__main__":
    main()
