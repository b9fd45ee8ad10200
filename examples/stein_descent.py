# examples/stein_descent.py - a posterior as a cloud of particles.
"""Moves particles until they are a sample of a posterior (SVGD).

    x_i ← x_i + η/N Σ_j ( k(x_j, x_i) ∇log p(x_j) + ∇_{x_j} k(x_j, x_i) )

Stein variational gradient descent (Liu and Wang 2016): the first term pulls
particles to where p is large, the second pushes them apart. The posterior is
that of a logistic regression with a normal prior; its score, too, is a sum over
pairs, of particles and data. `grad` inside the formula writes the second term.

Usage: python examples/stein_descent.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

DIRECTION = tilefold.compile(
    "mean_j (k*s_j + grad(k, x_j)) with k = exp(-|x_i - x_j|²/2h²)"
)
LIKELIHOOD_SCORE = tilefold.compile("sum_j (t_j - sigmoid(x_i·z_j)) z_j")


def score(x: Array, z: Array, t: Array, prior: float) -> Array:
    """∇log p at weights x (N, D), given inputs z (M, D) and classes t (M,)."""
    return LIKELIHOOD_SCORE(x=x, z=z, t=t) - x / prior**2


def width(x: Array) -> float:
    """The median heuristic: h² = median²/2 log(N + 1)."""
    median = np.median(tilefold.kernel("|x_i - x_j|", x=x).dense())
    return float(median / np.sqrt(2 * np.log(len(x) + 1)))


def descend(
    x: Array, z: Array, t: Array, prior: float, rate: float, steps: int
) -> Array:
    """The particles (N, D) after so many steps."""
    for _ in range(steps):
        s = score(x, z, t, prior)
        x = x + rate * DIRECTION(x=x, s=s, h=width(x))
    return x


def laplace(z: Array, t: Array, prior: float) -> tuple[Array, Array]:
    """The mode, by Newton's method, and standard deviations there, (D,)."""
    w = np.zeros(z.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-z @ w))
        hessian = (z.T * (p * (1 - p))) @ z + np.eye(len(w)) / prior**2
        w = w + np.linalg.solve(hessian, z.T @ (t - p) - w / prior**2)
    return w, np.sqrt(np.diag(np.linalg.inv(hessian)))


def main() -> None:
    """300 particles in five dimensions, and the normal approximation."""
    random = np.random.default_rng(0)
    z = random.standard_normal((500, 5))
    weights = np.array([1.5, -1, 0.5, 0, 0])
    t = (random.random(500) < 1 / (1 + np.exp(-z @ weights))).astype(float)
    x = random.standard_normal((300, 5))
    x = descend(x, z, t, prior=2.0, rate=0.05, steps=300)
    mode, deviations = laplace(z, t, prior=2.0)
    print("weight   particles        normal approximation")
    for k in range(5):
        print(
            f"{weights[k]:6.1f} {x[:, k].mean():7.3f} ± {x[:, k].std():.3f}"
            f" {mode[k]:10.3f} ± {deviations[k]:.3f}"
        )


if __name__ == "__main__":
    main()
