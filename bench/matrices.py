# bench/matrices.py - the problem of a Gaussian kernel matrix and its products.
"""The matrix exp(-|x_i - x_j|²/2l²) of uniform points, float32."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bench.points import ROWS

TEXT = "exp(-|x_i - x_j|²/2l²)"


@dataclass(frozen=True)
class MatrixProblem:
    """K of x with itself, or K @ b."""

    n: int
    d: int
    product: bool

    @property
    def pairs(self) -> float:
        """Elements of the matrix."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type."""
        return {"N": self.n, "D": self.d, "dtype": "float32"}

    @property
    def length(self) -> float:
        """Exponents are about -1 in any dimension."""
        return 0.5 * (self.d / 3) ** 0.5

    @property
    def scale(self) -> float:
        """The factor of the squared distances in the exponent."""
        return -1 / (2 * self.length**2)

    @cached_property
    def x(self) -> Any:
        """The points."""
        random = np.random.default_rng(20)
        return random.random((self.n, self.d), np.float32)

    @cached_property
    def b(self) -> Any:
        """What the matrix is multiplied by."""
        random = np.random.default_rng(21)
        return random.standard_normal(self.n, np.float32)

    def error(self, result: Any) -> float:
        """Largest |r - o| of the sampled rows; of K @ b by Σ_j |k_ij b_j|."""
        found = np.asarray(result)
        if found.shape != (self.n,) * (1 if self.product else 2):
            raise ValueError(f"shape {found.shape} for N = {self.n}")
        rows = np.linspace(0, self.n - 1, ROWS).astype(np.int64)
        exact, sizes = self._rows(rows), 1.0
        if self.product:
            sizes = exact @ np.abs(self.b.astype(np.float64))
            exact = exact @ self.b.astype(np.float64)
        errors = np.abs(found[rows].astype(np.float64) - exact) / sizes
        return float(np.nan_to_num(errors, nan=np.inf).max())

    def _rows(self, rows: Any) -> Any:
        """Rows of the matrix in float64."""
        x = self.x.astype(np.float64)
        squares = [((row - x) ** 2).sum(1) for row in x[rows]]
        return np.exp(np.array(squares) / (-2 * self.length**2))
