# examples/n_body.py - stars that attract each other, leapfrogged in place.
"""Lets a star cluster move under its own gravity, and watches its energy.

    a_i = Σ_j m_j (x_j - x_i) / (|x_i - x_j|² + ε²)^(3/2)

moves the stars, in units where G = 1, by the leapfrog scheme: half a kick,
a drift, half a kick. It is symplectic: its error of the energy oscillates
and does not grow. The stars start as a Plummer sphere in equilibrium (Aarseth,
Hénon and Wielen 1974), so that their half-mass radius should stay what it is.

A bound formula reads its arrays where they are: a step moves `x` in place
and calls it again, with nothing to check and nothing to allocate.

Usage: python examples/n_body.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

ACCELERATION = tilefold.compile(
    "sum_j m_j (x_j - x_i)/(|x_i - x_j|² + ε²)^(3/2)"
)
POTENTIAL_ENERGY = tilefold.compile(
    "-sum_ij [i < j] m_i m_j/√(|x_i - x_j|² + ε²)"
)


def leapfrog(
    x: Array, v: Array, m: Array, ε: float, dt: float, steps: int
) -> None:
    """Moves the (N, 3) places x and velocities v by `steps` of dt, in place."""
    acceleration = ACCELERATION.bind(x=x, m=m, ε=ε)
    a = acceleration()
    for _ in range(steps):
        v += dt / 2 * a
        x += dt * v
        a = acceleration()
        v += dt / 2 * a


def energy(x: Array, v: Array, m: Array, ε: float) -> float:
    """Kinetic and potential energy of all."""
    kinetic = (m * (v**2).sum(1)).sum() / 2
    return kinetic + POTENTIAL_ENERGY(x=x, m=m, ε=ε)


def plummer_sphere(
    count: int, random: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Places, velocities and masses, of mass 1 and scale length 1."""
    radius = (random.uniform(0, 0.99, count) ** (-2 / 3) - 1) ** -0.5
    q = np.empty(0)  # speeds over that of escape, of density q²(1-q²)^(7/2)
    while len(q) < count:
        tried, height = random.random(count), random.uniform(0, 0.1, count)
        q = np.append(q, tried[height < tried**2 * (1 - tried**2) ** 3.5])
    speed = q[:count] * np.sqrt(2) * (1 + radius**2) ** -0.25
    directions = random.standard_normal((2, count, 3))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    x, v = directions * np.stack([radius, speed])[..., None]
    return x - x.mean(0), v - v.mean(0), np.full(count, 1 / count)


def half_mass_radius(x: Array) -> float:
    """Within which half of the stars are."""
    return float(np.median(np.linalg.norm(x, axis=1)))


def main() -> None:
    """Follows 3,000 stars over some crossing times."""
    x, v, m = plummer_sphere(3000, np.random.default_rng(0))
    ε, dt = 0.05, 0.05
    before = energy(x, v, m, ε)
    print(f"{len(x):,} stars, energy {before:.5f}")
    for time in (2, 4, 6, 8):
        leapfrog(x, v, m, ε, dt, steps=40)
        drift = energy(x, v, m, ε) / before - 1
        print(
            f"time {time}: half of the mass within {half_mass_radius(x):.3f}, "
            f"energy off by {drift:+.1e}"
        )
    print(f"momentum {np.abs(m @ v).max():.1e}")


if __name__ == "__main__":
    main()
