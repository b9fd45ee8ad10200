# examples/radial_distribution.py - how atoms stand around atoms.
"""Computes the radial distribution function of atoms in a periodic box.

    g(r) = V/N² Σ_{i≠j} [r <= |d_ij| < r + w] / (4π/3 ((r + w)³ - r³))

of the nearest images, d_ij = x_i - x_j - L round((x_i - x_j)/L). It is 1 where
atoms take no notice of each other, and has peaks at the shells of neighbours
(Allen and Tildesley, Computer Simulation of Liquids, § 2.6). The histogram is
one sum, of vectors that count one pair each.

Usage: python examples/radial_distribution.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

BINS = 100
COUNTS = tilefold.compile(
    f"""sum_ij [i < j] onehot(floor(|d - L*round(d/L)|/w), {BINS})
    with d = x_i - x_j"""
)


def pair_counts(x: Array, length: float) -> Array:
    """How many pairs of x (N, 3) lie in each bin up to L/2, (BINS,)."""
    return COUNTS(x=x, L=length, w=length / 2 / BINS)


def radial_distribution(x: Array, length: float) -> tuple[Array, Array]:
    """The bins' edges, (BINS + 1,), and g in them, (BINS,)."""
    edges = np.linspace(0, length / 2, BINS + 1)
    shells = 4 / 3 * np.pi * np.diff(edges**3)
    pairs = len(x) ** 2 / 2 * shells / length**3
    return edges, pair_counts(x, length) / pairs


def crystal(cells: int, jitter: float, random: np.random.Generator) -> Array:
    """A face-centred cubic crystal of cells of side 1, in a warm moment."""
    corners = np.stack(np.meshgrid(*[np.arange(cells)] * 3), -1).reshape(-1, 3)
    basis = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2
    x = (corners[:, None] + basis).reshape(-1, 3)
    return x + jitter * random.standard_normal(x.shape)


def main() -> None:
    """A gas, and a crystal of as many atoms."""
    random = np.random.default_rng(0)
    cells = 11
    solid = crystal(cells, 0.03, random)
    gas = cells * random.random(solid.shape)
    _, g = radial_distribution(gas, cells)
    print(f"gas: g between {g[20:].min():.3f} and {g[20:].max():.3f}")
    edges, g = radial_distribution(solid, cells)
    near = edges[1:] < 0.85  # between the shells at √½ and 1
    peak = edges[g[near].argmax() :][:2]
    neighbours = 2 * pair_counts(solid, cells)[near].sum() / len(solid)
    print(f"crystal: first peak between {peak[0]:.2f} and {peak[1]:.2f}")
    print(f"         {neighbours:.2f} neighbours in it")


if __name__ == "__main__":
    main()
