# examples/unbalanced_transport.py - transport between unequal masses.
"""Carries one measure to another which is neither as heavy nor quite alike.

Unbalanced optimal transport lets mass appear and vanish at a price:

    min_π  Σ_ij π_ij |x_i - y_j|²/2 + ε KL(π | a⊗b)
           + ρ KL(π1 | a) + ρ KL(πᵀ1 | b)

Its dual is solved by Sinkhorn's iterations, damped by ρ/(ρ + ε):

    f_i = -ρε/(ρ + ε) log Σ_j b_j exp((g_j - |x_i - y_j|²/2)/ε)

each of which is one log-sum-exp (Chizat, Peyré, Schmitzer and Vialard 2018). A
number that is added to f and taken from g, the best there is, spares most of
them (Séjourné, Vialard and Peyré 2022). Mass travels where the cost is below
about 2ρ; what has no counterpart that near, an outlier, say, is left behind.

Usage: python examples/unbalanced_transport.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

SOFT_MINIMUM = tilefold.compile(
    "-ρ*ε/(ρ + ε)*logsumexp_j(log(b_j) + (g_j - |x_i - y_j|²/2)/ε)"
)
CARRIED_MASS = tilefold.compile(
    "sum_j a_i b_j exp((f_i + g_j - |x_i - y_j|²/2)/ε)"
)


def potentials(
    a: Array,
    x: Array,
    b: Array,
    y: Array,
    ε: float,
    ρ: float,
    tolerance: float = 1e-6,
) -> tuple[Array, Array]:
    """Duals f (N,) and g (M,) of masses a at x (N, D) and b at y (M, D)."""
    f, g = np.zeros(len(a)), np.zeros(len(b))
    for _ in range(10_000):
        before = f
        f = SOFT_MINIMUM(x=x, y=y, b=b, g=g, ε=ε, ρ=ρ)
        g = SOFT_MINIMUM(x=y, y=x, b=a, g=f, ε=ε, ρ=ρ)
        left = (a @ np.exp(-f / ρ)) / (b @ np.exp(-g / ρ))
        f, g = f + ρ / 2 * np.log(left), g - ρ / 2 * np.log(left)
        if np.abs(f - before).max() < tolerance:
            break
    return f, g


def carried_mass(
    a: Array, x: Array, b: Array, y: Array, f: Array, g: Array, ε: float
) -> Array:
    """How much of each a_i is carried somewhere, (N,): the marginal π1."""
    return CARRIED_MASS(a=a, x=x, b=b, y=y, f=f, g=g, ε=ε)


def cost(a: Array, b: Array, f: Array, g: Array, ε: float, ρ: float) -> float:
    """The least cost, by its dual, given that π1 = a exp(-f/ρ)."""
    carried = a @ np.exp(-f / ρ)
    saved = a @ -np.expm1(-f / ρ) + b @ -np.expm1(-g / ρ)
    return float(ρ * saved + ε * (a.sum() * b.sum() - carried))


def main() -> None:
    """Two blobs to two blobs of other weights, and an outlier."""
    random = np.random.default_rng(0)
    x, y = random.normal(scale=0.1, size=(2, 1000, 2))
    x[600:] += [1, 0]
    y[350:] += [1, 0.2]
    x[-10:] += [0, 3]  # far from all of y
    a, b = np.full(1000, 1.0 / 1000), np.full(1000, 1.5 / 1000)
    ε = 0.02
    print("   ρ    carried of 1 and 1.5    of the outlier     cost")
    for ρ in (0.03, 0.3, 3.0):
        f, g = potentials(a, x, b, y, ε, ρ)
        carried = carried_mass(a, x, b, y, f, g, ε)
        outlier = carried[-10:].sum() / a[-10:].sum()
        least = cost(a, b, f, g, ε, ρ)
        print(f"{ρ:5.2f} {carried.sum():18.3f} {outlier:18.1%} {least:12.4f}")


if __name__ == "__main__":
    main()
