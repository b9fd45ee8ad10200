# python_bindings/tilefold/compat/pykeops/numpy/cluster.py - tiles of points.
"""Points sorted into cells, and the `ranges` of pairs of cells.

    labels = grid_cluster(x, 0.1)
    ranges, centroids, _ = cluster_ranges_centroids(x, labels)
    x, labels = sort_clusters(x, labels)
    near = ((centroids[:, None] - centroids[None]) ** 2).sum(-1) < 0.05
    K.ranges = from_matrix(ranges, ranges, near)

M is the number of points, D that of their components, C that of clusters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "cluster_centroids",
    "cluster_ranges",
    "cluster_ranges_centroids",
    "from_matrix",
    "grid_cluster",
    "sort_clusters",
    "swap_axes",
]

MOST_COMPONENTS = 3


def grid_cluster(x: Any, size: Any) -> Any:
    """The cell of a grid in which each point lies: labels (M,), int64.

    `x` (M, D), D ≤ 3; `size` the edge of a cell, a number or (D,). Labels
    count the cells that are not empty, 0 … C − 1, in lexicographic order of
    ⌊x/size⌋. Raises NotImplementedError for D > 3.
    """
    if x.ndim != 2 or not 1 <= x.shape[1] <= MOST_COMPONENTS:
        raise NotImplementedError(
            f"x has shape {x.shape}; points of 1 to 3 components are sorted "
            "into cells: (M, 1), (M, 2) or (M, 3)"
        )
    cells = np.floor(x / size)
    labels = np.zeros(len(x), dtype=np.int64)
    # One axis after the other, so that numbers of cells never overflow.
    for column in cells.T:
        _, place = np.unique(column, return_inverse=True)
        count = int(place.max(initial=0)) + 1
        _, labels = np.unique(labels * count + place, return_inverse=True)
    return labels.astype(np.int64, copy=False)


def sort_clusters(x: Any, lab: Any) -> tuple[Any, Any]:
    """Points in the order of their labels, and the sorted labels.

    `x` an array (M, …), or a tuple or list of some, which gives the same;
    points of one cluster keep their order.
    """
    lab = np.asarray(lab).reshape(-1)
    order = np.argsort(lab, kind="stable")
    if isinstance(x, tuple | list):
        return type(x)([each[order] for each in x]), lab[order]
    return x[order], lab[order]


def cluster_ranges(lab: Any, Nlab: Any = None) -> Any:  # noqa: N803
    """[start, end) of each cluster once sorted: (C, 2), int64.

    `Nlab` (C,): the numbers of points, where they are known already. A
    class without points has start = end.
    """
    counts = np.bincount(lab) if Nlab is None else np.asarray(Nlab)
    ends = np.cumsum(counts.astype(np.int64))
    return np.stack([ends - counts.astype(np.int64), ends], axis=1)


def cluster_centroids(
    x: Any,
    lab: Any,
    Nlab: Any = None,  # noqa: N803
    weights: Any = None,
    weights_c: Any = None,
) -> Any:
    """The weighted mean of the points of each cluster: (C, D), of x's dtype.

    `weights` (M,), 1 by default; `weights_c` (C,) their sums and `Nlab` (C,)
    the numbers of points, where they are known already. NaN where a class
    has no points.
    """
    counts = np.bincount(lab) if Nlab is None else np.asarray(Nlab)
    size = len(counts)
    total = counts
    if weights is not None:
        weights = np.asarray(weights).reshape(-1)
        total = weights_c
        if total is None:
            total = np.bincount(lab, weights=weights, minlength=size)
    columns = [
        np.bincount(
            lab,
            weights=column if weights is None else column * weights,
            minlength=size,
        )
        for column in x.T
    ]
    with np.errstate(invalid="ignore"):
        means = np.stack(columns, axis=1) / np.reshape(total, (-1, 1))
    return means.astype(x.dtype, copy=False)


def cluster_ranges_centroids(
    x: Any, lab: Any, weights: Any = None, min_weight: float = 0.0
) -> tuple[Any, Any, Any]:
    """(`cluster_ranges`, `cluster_centroids`, weights (C,) of the clusters).

    Without `weights` the last are the numbers of points, as floats; weights
    below `min_weight` count as that.
    """
    counts = np.bincount(lab)
    ranges = cluster_ranges(lab, counts)
    if weights is None:
        centroids = cluster_centroids(x, lab, counts)
        return ranges, centroids, counts.astype(np.float64)
    weights = np.maximum(np.asarray(weights).reshape(-1), min_weight)
    total = np.bincount(lab, weights=weights)
    centroids = cluster_centroids(x, lab, counts, weights, total)
    return ranges, centroids, total


def from_matrix(ranges_i: Any, ranges_j: Any, keep: Any) -> tuple[Any, ...]:
    """The `ranges` of the pairs of clusters that a matrix keeps.

    `ranges_i` (Ci, 2) and `ranges_j` (Cj, 2) as `cluster_ranges` gives them,
    `keep` (Ci, Cj) booleans. Returns six arrays of int64: (ranges_i,
    slices_i, redranges_j) for reductions over j, and the same of j for those
    over i.
    """
    keep = np.asarray(keep, dtype=bool)
    ranges_i, ranges_j = np.asarray(ranges_i), np.asarray(ranges_j)
    if keep.shape != (len(ranges_i), len(ranges_j)):
        raise ValueError(
            f"keep has shape {keep.shape}, and should have one row for each "
            f"range of i and one column for each of j: "
            f"{(len(ranges_i), len(ranges_j))}"
        )
    six = (
        ranges_i,
        np.cumsum(keep.sum(axis=1)),
        ranges_j[np.nonzero(keep)[1]],
        ranges_j,
        np.cumsum(keep.sum(axis=0)),
        ranges_i[np.nonzero(keep.T)[1]],
    )
    return tuple(each.astype(np.int64, copy=False) for each in six)


def swap_axes(ranges: Any) -> Any:
    """The `ranges` with i and j exchanged; None stays None."""
    return None if ranges is None else (*ranges[3:6], *ranges[0:3])
