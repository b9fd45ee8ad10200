# bench/neighbors.py - the nearest points, and whether they are the nearest.
"""The K nearest of y for each of x. Places of ties differ between tools, and
so do the rounded distances by which they order; what is compared is how far
away the points that were found truly are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bench.points import Array, GaussianProblem

TEXT = "argkmin_j(|x_i - y_j|², {count})"
TOLERANCE = 1e-3  # of the distance to the last


@dataclass(frozen=True)
class NeighborProblem(GaussianProblem):
    """Results are places in y, nearest first, of shape (N, count)."""

    count: int = 10

    @property
    def text(self) -> str:
        """As tilefold takes it."""
        return TEXT.format(count=self.count)

    @property
    def arguments(self) -> dict[str, Any]:
        """As tilefold takes them."""
        return {"x": self.x, "y": self.y}

    @property
    def sizes(self) -> dict[str, Any]:
        """N, M, D, the type and K."""
        return {**super().sizes, "K": self.count}

    def error(self, result: Any) -> float:
        """Largest |s_k - t_k| / t_K over the sampled rows.

        s and t are the squared distances, found and true, in order; infinite
        where a place is named twice.
        """
        places = np.asarray(result).reshape(self.given.n, self.count)
        places = places[self._rows].astype(np.int64)
        ordered = np.sort(places, 1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            return float("inf")
        found = np.take_along_axis(self._squares, places, 1)
        true = np.sort(self._squares, 1)[:, : self.count]
        return float((np.abs(found - true) / true[:, -1:]).max())

    @cached_property
    def _squares(self) -> Array:
        """|x_i - y_j|² of the sampled rows, float64."""
        rows = self.x[self._rows].astype(np.float64)
        y = self.y.astype(np.float64)
        return np.array([((row - y) ** 2).sum(1) for row in rows])
