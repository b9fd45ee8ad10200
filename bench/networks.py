# bench/networks.py - a small network on pairs of points.
"""sum_j w·z_L with z_0 = [x_i, y_j] and z_k = f(W_k z_(k-1) + c_k)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bench.points import Array

DIMENSION = 3  # of the points
ROWS = 16  # compared with float64


@dataclass(frozen=True)
class NetworkProblem:
    """A network whose layers have equally many units."""

    n: int
    units: int
    layers: int
    activation: str = "tanh"  # of all layers; or "relu"
    arrays: dict[str, Array] = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(20)
        arrays = {
            "x": random.random((self.n, DIMENSION)),
            "y": random.random((self.n, DIMENSION)),
            "w": random.random(self.units),  # so that sums do not cancel
        }
        width = 2 * DIMENSION
        for k in range(1, self.layers + 1):
            scale = 1 / np.sqrt(width)
            normal = random.standard_normal((self.units, width))
            arrays[f"W{k}"] = np.abs(normal) * scale if k > 1 else normal
            arrays[f"c{k}"] = random.random(self.units)
            width = self.units
        single = {name: a.astype("float32") for name, a in arrays.items()}
        object.__setattr__(self, "arrays", single)

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(self.n) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """What is written down."""
        return {
            "N": self.n,
            "M": self.n,
            "units": self.units,
            "layers": self.layers,
            "dtype": "float32",
        }

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        inside = "[x_i, y_j]"
        for k in range(1, self.layers + 1):
            inside = f"{self.activation}(W{k} @ {inside} + c{k})"
        return f"sum_j w·{inside}"

    @property
    def arguments(self) -> dict[str, Any]:
        """As tilefold takes them."""
        return dict(self.arrays)

    @property
    def products(self) -> int:
        """Of a pair, with weights between layers and after the last one."""
        return (self.layers - 1) * self.units**2 + self.units

    @property
    def first(self) -> tuple[Array, Array]:
        """What the first layer's weights make of rows and of columns, as one
        hoists it by hand; the bias is with the rows."""
        w = self.arrays["W1"]
        rows = self.arrays["x"] @ w[:, :DIMENSION].T + self.arrays["c1"]
        return rows, self.arrays["y"] @ w[:, DIMENSION:].T

    def error(self, result: Any) -> float:
        """The largest relative error of the sampled rows."""
        found = np.asarray(result).reshape(self.n)[self._rows]
        errors = np.abs(found.astype(np.float64) / self._exact - 1)
        return float(np.nan_to_num(errors, nan=np.inf).max())

    @cached_property
    def _rows(self) -> Array:
        return np.linspace(0, self.n - 1, ROWS).astype(np.int64)

    @cached_property
    def _exact(self) -> Array:
        exact = {n: a.astype(np.float64) for n, a in self.arrays.items()}
        apply = np.tanh if self.activation == "tanh" else _relu
        sums = []
        for point in exact["x"][self._rows]:
            rows = np.broadcast_to(point, exact["y"].shape)
            units = np.concatenate([rows, exact["y"]], 1)
            for k in range(1, self.layers + 1):
                units = apply(units @ exact[f"W{k}"].T + exact[f"c{k}"])
            sums.append((units @ exact["w"]).sum())
        return np.array(sums)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)
