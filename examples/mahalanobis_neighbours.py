# examples/mahalanobis_neighbours.py - nearest neighbours in the right metric.
"""Classifies points by their nearest neighbours in Mahalanobis distance.

    d(x, y)² = (x - y)ᵀ Σ⁻¹ (x - y),    Σ the covariance within the classes

(Mahalanobis 1936; Hastie, Tibshirani and Friedman, The Elements of Statistical
Learning, § 13.3). Measurements in different units that are correlated, too,
make Euclidean distance see the largest of them only. Here two of ten components
tell the classes apart, and they are the smallest.

Usage: python examples/mahalanobis_neighbours.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]


def precision_within(y: Array, labels: Labels) -> Array:
    """Σ⁻¹, (D, D), of the classes' deviations from their means."""
    deviations = y.copy()
    for label in np.unique(labels):
        deviations[labels == label] -= y[labels == label].mean(0)
    return np.linalg.inv(np.cov(deviations.T))


def neighbours(x: Array, y: Array, A: Array, k: int) -> tuple[Array, Labels]:
    """Distances to the k nearest of y (M, D) of each x (N, D), and which."""
    distances = tilefold.kernel("mahalanobis", x=x, y=y, A=A)
    return distances.topk(k, axis=1, largest=False)


def classify(nearest: Labels, labels: Labels) -> Labels:
    """The commonest label among the (N, k) nearest, (N,)."""
    votes = labels[nearest][..., None] == np.arange(labels.max() + 1)
    return votes.sum(1).argmax(1)


def measurements(
    count: int, random: np.random.Generator
) -> tuple[Array, Labels]:
    """Two classes of ten correlated components of very different size."""
    labels = random.integers(0, 2, count)
    hidden = random.standard_normal((count, 10))
    angle = 2 * np.pi * random.random(count)
    ring = np.stack([np.cos(angle), np.sin(angle)], 1)
    hidden[:, :2] = ring * (1 + 2 * labels[:, None]) + 0.7 * hidden[:, :2]
    mixing = np.random.default_rng(1).standard_normal((10, 10))
    mixing[:2] *= 0.05
    return hidden @ mixing, labels


def main() -> None:
    """Rings that ten units hide."""
    random = np.random.default_rng(0)
    y, labels = measurements(20_000, random)
    x, truth = measurements(2_000, random)
    for name, A in (
        ("Euclidean", np.eye(10)),
        ("Mahalanobis", precision_within(y, labels)),
    ):
        _, nearest = neighbours(x, y, A, k=15)
        right = np.mean(classify(nearest, labels) == truth)
        print(f"{name:12} distance: {right:.1%} of {len(x):,} points are right")


if __name__ == "__main__":
    main()
