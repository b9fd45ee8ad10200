# bench/kernel_machines.py - what kernel machines are given, and what is right.
"""Regression, features and clusters of points, with float64 beside them.

Nothing of N×N is made to compare: the equations that a result has to solve are
checked on some rows, or by the Gram matrix of few centres.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bench.points import Array

GAMMA, DIMENSION = 1.0, 8
ROWS = 64  # compared
BLOCK = 5_000  # rows of a matrix in memory


def gaussian(x: Array, y: Array) -> Array:
    """exp(-gamma |x_i - y_j|²) in float64."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    squares = (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T
    values: Array = np.exp(-GAMMA * np.maximum(squares, 0))
    return values


@dataclass(frozen=True)
class Machine:
    """Points in a cube and a noisy function of them."""

    n: int
    dtype: str = "float64"
    centres: int = 0

    @property
    def pairs(self) -> float:
        """Pairs of points that a product goes through."""
        return float(self.n) * (self.centres or self.n)

    @property
    def sizes(self) -> dict[str, Any]:
        """N, M, D and the type."""
        return {
            "N": self.n,
            "M": self.centres or self.n,
            "D": DIMENSION,
            "dtype": self.dtype,
        }

    @cached_property
    def data(self) -> tuple[Array, Array]:
        """X (n, 8) and y (n,)."""
        random = np.random.default_rng(9)
        x = random.random((self.n, DIMENSION))
        y = np.sin(5 * x).sum(1) + 0.1 * random.standard_normal(self.n)
        return x.astype(self.dtype), y.astype(self.dtype)

    @cached_property
    def rows(self) -> Array:
        """Some of the points."""
        return np.linspace(0, self.n - 1, ROWS).astype(int)


@dataclass(frozen=True)
class Ridge(Machine):
    """The coefficients (n,) of kernel ridge regression."""

    alpha: float = 1.0

    def error(self, result: Array) -> float:
        """|K c + alpha c - y| / |y| on some rows."""
        x, y = self.data
        product = gaussian(x[self.rows], x) @ result.astype(np.float64)
        wanted = y[self.rows].astype(np.float64)
        difference = product + self.alpha * result[self.rows] - wanted
        return float(np.linalg.norm(difference) / np.linalg.norm(wanted))


@dataclass(frozen=True)
class Features(Machine):
    """Nystroem's features (n, centres), of the same centres."""

    def error(self, result: Array) -> float:
        """Of products of some rows, beside the largest."""
        x, _ = self.data
        random = np.random.RandomState(0)
        chosen = x[random.permutation(self.n)[: self.centres]]
        cross = gaussian(x[self.rows], chosen)
        block = gaussian(chosen, chosen)
        wanted = cross @ np.linalg.solve(block, cross.T)
        rows = np.asarray(result[self.rows], np.float64)
        return float(abs(rows @ rows.T - wanted).max() / wanted.max())


@dataclass(frozen=True)
class OnCentres(Machine):
    """Values (64,) of ridge regression on centres, at some points."""

    alpha: float = 1e-4
    steps: int = 20

    @cached_property
    def chosen(self) -> Array:
        """The centres."""
        return np.random.RandomState(0).permutation(self.n)[: self.centres]

    @cached_property
    def wanted(self) -> Array:
        """By the normal equations, in float64."""
        x, y = self.data
        centres = x[self.chosen]
        size = len(centres)
        matrix, side = np.zeros((size, size)), np.zeros(size)
        for first in range(0, self.n, BLOCK):
            part = slice(first, first + BLOCK)
            block = gaussian(x[part], centres)
            matrix += block.T @ block
            side += block.T @ y[part].astype(np.float64)
        matrix += self.n * self.alpha * gaussian(centres, centres)
        weights = np.linalg.lstsq(matrix, side)[0]
        found: Array = gaussian(x[self.rows], centres) @ weights
        return found

    def error(self, result: Any) -> float:
        """Beside the largest value."""
        found = np.asarray(result, np.float64)
        return float(abs(found - self.wanted).max() / abs(self.wanted).max())


@dataclass(frozen=True)
class Clusters:
    """The labels (n,) of two circles."""

    n: int

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type."""
        return {"N": self.n, "D": 2, "dtype": "float64"}

    @cached_property
    def data(self) -> tuple[Array, Array]:
        """Points (n, 2), and on which circle they are."""
        from sklearn.datasets import make_circles

        x, labels = make_circles(self.n, factor=0.4, noise=0.05, random_state=0)
        return x, labels

    def error(self, result: Array) -> float:
        """The share of points that are with the wrong ones."""
        wrong = float((np.asarray(result) != self.data[1]).mean())
        return min(wrong, 1 - wrong)
