# python_bindings/tilefold/clusters.py - points in tiles, for ranges.
"""`Clusters`: points sorted into compact tiles, and which tiles are near.

    a, b = tilefold.Clusters(x, size=0.5), tilefold.Clusters(y, size=0.5)
    ranges = a.near(b, distance=2.0)
    out = a.unsort(tilefold.reduce("sum_j exp(-|x_i - y_j|²) b_j",
                                   x=a.points, y=b.points, b=b.sort(w),
                                   ranges=ranges))

All pairs of points within `distance` meet; pairs of tiles that are further
apart, by their bounding spheres, do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilefold import _core
from tilefold.kernel import kernel
from tilefold.ranges import Ranges, intervals

__all__ = ["Clusters"]


class Clusters:
    """Points in tiles: cells of a grid, or what labels say.

    `points` has shape (N, D) or (N,). Either `size`, the edge of a cubic
    cell, or `labels` of shape (N,), integers, tells the tiles. Of T tiles:

    `order` (N,): the numbers of the points, tile after tile;
    `offsets` (T + 1,): where each tile begins;
    `centroids` (T, D) and `radii` (T,): a sphere around each;
    `points`: the points in that order.
    """

    __slots__ = (
        "__weakref__",
        "centroids",
        "offsets",
        "order",
        "points",
        "radii",
    )

    def __init__(
        self, points: Any, size: float | None = None, labels: Any = None
    ) -> None:
        given = np.asarray(points)
        width = int(np.prod(given.shape[1:]))
        flat = given.reshape(len(given), width)
        flat = flat.astype(np.float64)
        if (size is None) == (labels is None):
            _core.fail("ClusterLabels", "size and labels")
        if labels is None:
            names: Any = _cells(flat, size)
        else:
            names = np.asarray(labels)
            if names.shape != (len(given),):
                _core.fail("ClusterLabels", f"labels of shape {names.shape}")
        self.order = np.argsort(names, kind="stable")
        _, counts = np.unique(names, return_counts=True)
        self.offsets = np.concatenate([[0], np.cumsum(counts)])
        self.points = given[self.order]
        flat, starts = flat[self.order], self.offsets[:-1]
        self.centroids = np.zeros((0, flat.shape[1]))
        self.radii = np.zeros(0)
        if len(counts):
            self.centroids = (
                np.add.reduceat(flat, starts, axis=0) / counts[:, None]
            )
            offsets = flat - np.repeat(self.centroids, counts, axis=0)
            distances = np.sqrt((offsets**2).sum(1))
            self.radii = np.maximum.reduceat(distances, starts)

    def sort(self, values: Any) -> Any:
        """Values of the points (N, …) in the order of the tiles."""
        return values[self.order]

    def unsort(self, values: Any) -> Any:
        """Values in the order of the tiles (N, …) as the points were given."""
        back = np.empty_like(self.order)
        back[self.order] = np.arange(len(back))
        return values[back]

    def near(self, other: Clusters, distance: float) -> Ranges:
        """Pairs of tiles of which some points may be within `distance`.

        Takes the memory of the pairs that are near, not of all.
        """
        if not len(self.radii) or not len(other.radii):
            return self.ranges(
                other, np.zeros((len(self.radii), len(other.radii)), bool)
            )
        # What cannot be compared, since a square overflows, meets.
        apart = kernel(
            "where(|x_i - y_j| > s*(d + r_i + t_j), 1, 0)",
            x=self.centroids,
            y=other.centroids,
            r=self.radii,
            t=other.radii,
            d=distance,
            s=1 + 1e-12,
        )
        near = apart.radius_neighbors(0.5)
        return Ranges.from_intervals(
            intervals("i", self.offsets),
            near.indptr,
            intervals("j", other.offsets)[near.indices],
        )

    def ranges(self, other: Clusters, visit: Any) -> Ranges:
        """`Ranges` of the tiles; `visit` is bool (T, tiles of the other)."""
        return Ranges(self.offsets, other.offsets, visit)

    def __repr__(self) -> str:
        tiles = len(self.offsets) - 1
        return f"tilefold.Clusters: {len(self.order)} points in {tiles} tiles"


def _cells(points: Any, size: Any) -> Any:
    """A number for the cell of each point, cells being numbered in order."""
    if not np.isfinite(size) or size <= 0:
        _core.fail("ClusterLabels", f"size {size}")
    if not np.isfinite(points).all():
        _core.fail("ClusterLabels", "points that are not finite")
    cells = np.floor(points / size).clip(-(2.0**62), 2.0**62).astype(np.int64)
    if not len(cells):
        return np.zeros(0, np.int64)
    _, numbers = np.unique(cells, axis=0, return_inverse=True)
    return numbers.ravel()
