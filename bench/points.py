# bench/points.py - points, values and their exact Gaussian sum.
"""The problem most tasks share: out_i = Σ_j exp(-|x_i - y_j|²/2l²) b_j."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

TEXT = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
ROWS = 64  # compared with float64, of a large result

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class GaussianSizes:
    """What a Gaussian problem is made of."""

    n: int
    m: int
    d: int
    dtype: str
    offset: float = 0.0  # added to every coordinate
    positive: bool = False  # values b in (0, 1), else standard normal
    columns: int = 0  # of b; 0: b is a vector
    steps: int = 0  # coordinates are multiples of 1/steps; 0: any


@dataclass(frozen=True)
class GaussianProblem:
    """Uniform points in the unit cube, the same ones in every process.

    The length scale grows with √d, as distances do: about as many terms
    matter in every dimension.
    """

    given: GaussianSizes
    x: Array = field(init=False)
    y: Array = field(init=False)
    b: Array = field(init=False)
    length: float = field(init=False)

    def __post_init__(self) -> None:
        made = self.given
        random = np.random.default_rng(20)
        x = _coordinates(random, (made.n, made.d), made.steps) + made.offset
        y = _coordinates(random, (made.m, made.d), made.steps) + made.offset
        plain = random.random if made.positive else random.standard_normal
        shape = (made.m, made.columns) if made.columns else made.m
        arrays = {"x": x, "y": y, "b": plain(shape)}
        for name, array in arrays.items():
            object.__setattr__(self, name, array.astype(made.dtype))
        object.__setattr__(self, "length", 0.5 * (made.d / 3) ** 0.5)

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(self.given.n) * self.given.m

    @property
    def sizes(self) -> dict[str, Any]:
        """N, M, D, the type, and E where b has columns."""
        made = self.given
        sizes = {"N": made.n, "M": made.m, "D": made.d, "dtype": made.dtype}
        return sizes | ({"E": made.columns} if made.columns else {})

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        return TEXT

    @property
    def arguments(self) -> dict[str, Any]:
        """As tilefold takes them."""
        return {"x": self.x, "y": self.y, "b": self.b, "l": self.length}

    @property
    def scale(self) -> float:
        """1/2l², as others take it."""
        return 1 / (2 * self.length**2)

    def error(self, result: Any) -> float:
        """Largest |r_i - o_i| / Σ_j |k_ij b_j| over the sampled rows.

        With positive values that is the relative error.
        """
        found = np.asarray(result)
        if found.size != self.given.n * max(1, self.given.columns):
            raise ValueError(f"shape {found.shape} for N = {self.given.n}")
        found = found.reshape(self.given.n, -1)[self._rows]
        sums, sizes = self._oracle
        errors = np.abs(found.astype(np.float64) - sums) / sizes
        return float(np.nan_to_num(errors, nan=np.inf).max())

    @cached_property
    def _rows(self) -> Array:
        count = min(ROWS, self.given.n)
        return np.linspace(0, self.given.n - 1, count).astype(np.int64)

    @cached_property
    def _oracle(self) -> tuple[Array, Array]:
        """The sampled rows and the sums of their absolute terms, float64."""
        y = self.y.astype(np.float64)
        b = self.b.astype(np.float64).reshape(len(y), -1)
        sums, sizes = [], []
        for row in self.x[self._rows].astype(np.float64):
            kernel = np.exp(-((row - y) ** 2).sum(1) * self.scale)
            sums.append(kernel @ b)
            sizes.append(kernel @ np.abs(b))
        return np.array(sums), np.array(sizes)


def _coordinates(
    random: np.random.Generator, shape: tuple[int, int], steps: int
) -> Array:
    """Uniform in [0, 1); of a grid, the first two points are its corners."""
    points = random.random(shape)
    if steps:
        points = np.floor(points * steps) / steps
        points[:2] = [[0.0], [1 - 1 / steps]]
    return points
