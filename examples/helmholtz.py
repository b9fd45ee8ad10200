# examples/helmholtz.py - the sound of a vibrating disc.
"""Computes the sound in front of a loudspeaker, a complex field.

    u(x_i) = Σ_j exp(im k r)/(4π r) q_j,    r = |x_i - y_j|

sums the waves of monopoles q_j at y_j, the solution of Helmholtz' equation
Δu + k²u = -q. Sources all over a disc of radius a, each with the area it stands
for, are Rayleigh's integral for a piston. On its axis the integral is known,

    u(z) = (exp(im k z) - exp(im k √(z² + a²)))/(-2 im k),

with zeros near the disc and one beam far away (Morse and Ingard 1968, § 7.4).

Usage: python examples/helmholtz.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]
Field = np.ndarray[Any, np.dtype[np.complex128]]

FIELD = tilefold.compile("sum_j exp(im*k*r)/(4π*r)*q_j with r = |x_i - y_j|")


def disc(radius: float, rings: int) -> tuple[Array, Array]:
    """Points (M, 3) of a disc at z = 0, and the area of each, (M,)."""
    nodes, weights = np.polynomial.legendre.leggauss(rings)
    r, dr = radius * (1 + nodes) / 2, radius * weights / 2
    count = 4 * rings
    angle = 2 * np.pi * (np.arange(count) + 0.5) / count
    x, y = np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle))
    areas = np.repeat(r * dr * 2 * np.pi / count, count)
    return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], 1), areas


def field(x: Array, y: Array, q: Array | Field, k: float) -> Field:
    """At x (N, 3), of sources q (M,) at y (M, 3), with wave number k; (N,)."""
    return FIELD(x=x, y=y, q=q, k=k)


def on_axis(z: Array, radius: float, k: float) -> Field:
    """What a piston's field is at the height z above its centre."""
    edge = np.sqrt(z**2 + radius**2)
    return (np.exp(1j * k * edge) - np.exp(1j * k * z)) / (2j * k)


def main() -> None:
    """A disc of three wave lengths across, near by and far away."""
    radius, k = 1.0, 3 * np.pi
    y, areas = disc(radius, rings=40)
    z = np.linspace(0.2, 5, 1000)
    axis = np.stack([0 * z, 0 * z, z], 1)
    sound = field(axis, y, areas, k)
    error = np.abs(sound - on_axis(z, radius, k)).max()
    print(f"{len(y):,} sources; error on the axis {error:.1e}")
    print(f"loudest at z = {z[np.abs(sound).argmax()]:.2f}")
    angle = np.linspace(0, np.pi / 2, 2000)
    far = 1000 * np.stack([np.sin(angle), 0 * angle, np.cos(angle)], 1)
    beam = np.abs(field(far, y, areas, k))
    dark = np.argmax(np.diff(beam) > 0)
    print(
        f"first dark ring at {np.degrees(angle[dark]):.2f}°, "
        f"by theory at {np.degrees(np.arcsin(3.8317 / (k * radius))):.2f}°"
    )


if __name__ == "__main__":
    main()
