# bench/spectra.py - what SciPy's solvers are given of a Gaussian kernel.
"""Points, and how far eigenvectors and products of their kernel are off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

TEXT = "exp(-|x_i - x_j|²/2)"
ROWS = 64  # compared with float64
COUNT = 6  # eigenvalues
TOLERANCE = 1e-4  # of eigsh
COLUMNS = 16

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Points:
    """Normal ones in three dimensions, float32."""

    n: int

    @property
    def pairs(self) -> float:
        """Of one product."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type."""
        return {"N": self.n, "D": 3, "dtype": "float32"}

    @cached_property
    def x(self) -> Array:
        """The points, (N, 3)."""
        random = np.random.default_rng(20)
        return random.standard_normal((self.n, 3)).astype(np.float32)

    @cached_property
    def columns(self) -> Array:
        """What is multiplied, (N, 16)."""
        random = np.random.default_rng(21)
        return random.standard_normal((self.n, COLUMNS)).astype(np.float32)

    def rows(self) -> tuple[Array, Array]:
        """Numbers of some rows, and these rows in float64."""
        some = np.arange(0, self.n, max(self.n // ROWS, 1))
        wide = self.x.astype(np.float64)
        squares = ((wide[some, None] - wide) ** 2).sum(-1)
        return some, np.exp(-squares / 2)


@dataclass(frozen=True)
class Spectrum(Points):
    """The largest eigenvalues and their vectors: (6,), (N, 6)."""

    def error(self, result: Any) -> float:
        """The largest |K v - λ v| on some rows, beside the largest λ |v|."""
        values, vectors = (np.asarray(part, np.float64) for part in result)
        if values.shape != (COUNT,) or vectors.shape != (self.n, COUNT):
            raise ValueError(f"shapes {values.shape}, {vectors.shape}")
        some, rows = self.rows()
        left = np.abs(rows @ vectors - vectors[some] * values)
        return float(left.max() / np.abs(vectors * values).max())


@dataclass(frozen=True)
class Products(Points):
    """K V for 16 columns: (N, 16)."""

    def error(self, result: Any) -> float:
        """|r - o| / Σ|terms|, the largest of some rows."""
        some, rows = self.rows()
        wide = self.columns.astype(np.float64)
        found = np.asarray(result, np.float64)[some]
        return float((np.abs(found - rows @ wide) / (rows @ abs(wide))).max())
