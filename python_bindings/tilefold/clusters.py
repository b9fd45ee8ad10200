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

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.kernel_matrix import kernel
from tilefold.ranges import Ranges, intervals

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike

__all__ = ["Clusters"]


class Clusters:
    """Points sorted into tiles: cells of a grid, or what labels say.

    Of T tiles, those that are near one another are the ``Ranges`` of a
    reduction.

    Parameters
    ----------
    points : array
        Shape (N, D) or (N,), finite, of any dtype that NumPy reads.
    size : float, optional
        The edge of a cubic cell, in the units of the points.
    labels : array of integers, optional
        The tile of each point, shape (N,). Either this or a size is given.

    Raises
    ------
    ArgumentError
        Where both or neither of size and labels are given, or do not fit.

    See Also
    --------
    Ranges

    Examples
    --------
    >>> x = np.array([[0.1], [5.2], [0.3]])
    >>> a = tilefold.Clusters(x, size=1.0)
    >>> a.order, a.offsets
    (array([0, 2, 1]), array([0, 2, 3]))
    >>> ranges = a.near(a, distance=1.0)
    >>> sums = tilefold.reduce(
    ...     "sum_j exp(-|x_i - y_j|²)", x=a.points, y=a.points, ranges=ranges
    ... )
    >>> a.unsort(sums).shape
    (3,)
    """

    __module__ = "tilefold"  # where it is found

    __slots__ = {  # noqa: RUF023 - in the order in which they are told
        "__weakref__": "What weak references keep.",
        "order": "The numbers of the points, tile after tile: int64, (N,).",
        "offsets": "Where each of T tiles begins: int64, (T + 1,).",
        "points": "The points in the order of the tiles, as they were given.",
        "centroids": "The middle of each tile: float64, (T, D).",
        "radii": "The farthest point from each middle: float64, (T,).",
    }

    def __init__(
        self,
        points: ArrayLike,
        size: float | None = None,
        labels: ArrayLike | None = None,
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
        self.order: Any = np.argsort(names, kind="stable")
        _, counts = np.unique(names, return_counts=True)
        self.offsets: Any = np.concatenate([[0], np.cumsum(counts)])
        self.points: Any = given[self.order]
        flat, starts = flat[self.order], self.offsets[:-1]
        self.centroids: Any = np.zeros((0, flat.shape[1]))
        self.radii: Any = np.zeros(0)
        if len(counts):
            self.centroids = (
                np.add.reduceat(flat, starts, axis=0) / counts[:, None]
            )
            offsets = flat - np.repeat(self.centroids, counts, axis=0)
            distances = np.sqrt((offsets**2).sum(1))
            self.radii = np.maximum.reduceat(distances, starts)

    def sort(self, values: Any) -> Any:
        """Puts values of the points into the order of the tiles.

        Parameters
        ----------
        values : array of shape (N, ...)
            One for each point, of any dtype, in the order in which the points
            were given.

        Returns
        -------
        array of shape (N, ...)
            The same values, tile after tile: ``values[order]``.

        Raises
        ------
        ArgumentError
            For fewer or more values than points.

        Examples
        --------
        >>> a = tilefold.Clusters(np.array([0.1, 5.2, 0.3]), size=1.0)
        >>> a.sort(np.array([10, 20, 30]))
        array([10, 30, 20])
        """
        self._require_one_each(values)
        return values[self.order]

    def unsort(self, values: Any) -> Any:
        """Puts values back into the order in which the points were given.

        Parameters
        ----------
        values : array of shape (N, ...)
            One for each point, of any dtype, tile after tile.

        Returns
        -------
        array of shape (N, ...)
            The same values, in the order in which the points were given.

        Raises
        ------
        ArgumentError
            For fewer or more values than points.

        Examples
        --------
        >>> a = tilefold.Clusters(np.array([0.1, 5.2, 0.3]), size=1.0)
        >>> a.unsort(np.array([10, 30, 20]))
        array([10, 20, 30])
        """
        self._require_one_each(values)
        back = np.empty_like(self.order)
        back[self.order] = np.arange(len(back))
        return values[back]

    def _require_one_each(self, values: Any) -> None:
        if len(values) != len(self.order):
            _core.fail(
                "BadOption",
                "values",
                f"an array of {len(values)}",
                f"pass one for each of the {len(self.order)} points",
            )

    def near(self, other: Clusters, distance: float) -> Ranges:
        """Finds the pairs of tiles that may have points within a distance.

        All pairs of points within it meet; tiles whose bounding spheres are
        further apart do not. It takes the memory of the pairs that are near,
        not of all.

        Parameters
        ----------
        other : Clusters
            The tiles of the points on j; these here are on i.
        distance : float
            Euclidean, in the units of the points.

        Returns
        -------
        Ranges
            For reductions of both ``points``.

        Raises
        ------
        ShapeError
            For points of another number of components.
        DTypeError
            For a distance that is no number.

        Examples
        --------
        >>> a = tilefold.Clusters(np.array([0.1, 5.2, 0.3]), size=1.0)
        >>> a.near(a, distance=1.0).pairs
        5
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

    def ranges(self, other: Clusters, visit: ArrayLike) -> Ranges:
        """Makes the ranges of pairs of tiles that are named.

        Parameters
        ----------
        other : Clusters
            The U tiles of the points on j; the T tiles here are on i.
        visit : array of bool, shape (T, U)
            Which pairs of tiles meet.

        Returns
        -------
        Ranges
            For reductions of both ``points``.

        Raises
        ------
        ArgumentError
            For another shape.
        DTypeError
            For another dtype.

        Examples
        --------
        >>> a = tilefold.Clusters(np.array([0.1, 5.2, 0.3]), size=1.0)
        >>> a.ranges(a, np.eye(2, dtype=bool)).pairs
        5
        """
        return Ranges(self.offsets, other.offsets, visit)

    def __repr__(self) -> str:
        """Tells how many points and tiles there are."""
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
