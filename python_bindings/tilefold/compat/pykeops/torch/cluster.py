# python_bindings/tilefold/compat/pykeops/torch/cluster.py - tiles of points.
"""`pykeops.numpy.cluster` of tensors.

M is the number of points, D that of their components, C that of clusters.
Everything stays on the device of the points.
"""

from __future__ import annotations

from typing import Any

import torch

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
    """The cell of a grid in which each point lies: labels (M,), int32.

    `x` (M, D), D ≤ 3; `size` the edge of a cell, a number or (D,). The grid
    begins at the least x of each axis. Labels count the cells that are not
    empty, 0 … C − 1, in lexicographic order. Raises NotImplementedError for
    D > 3.
    """
    if x.ndim != 2 or not 1 <= x.shape[1] <= MOST_COMPONENTS:
        raise NotImplementedError(
            f"x has shape {tuple(x.shape)}; points of 1 to 3 components are "
            "sorted into cells: (M, 1), (M, 2) or (M, 3)"
        )
    labels = torch.zeros(len(x), dtype=torch.int64, device=x.device)
    if len(x) == 0:
        return labels.int()
    with torch.no_grad():
        cells = torch.floor((x - x.amin(dim=0, keepdim=True)) / size)
        # One axis after the other, so that numbers of cells never overflow.
        for column in cells.unbind(dim=1):
            _, place = torch.unique(column, return_inverse=True)
            pairs = labels * (place.max() + 1) + place
            _, labels = torch.unique(pairs, return_inverse=True)
    return labels.int()


def sort_clusters(x: Any, lab: Any) -> tuple[Any, Any]:
    """Points in the order of their labels, and the sorted labels.

    `x` a tensor (M, …), or a tuple or list of some, which gives the same;
    points of one cluster keep their order.
    """
    lab, order = torch.sort(lab.reshape(-1), stable=True)
    if isinstance(x, tuple | list):
        return type(x)([each[order] for each in x]), lab
    return x[order], lab


def cluster_ranges(lab: Any, Nlab: Any = None) -> Any:  # noqa: N803
    """[start, end) of each cluster once sorted: (C, 2), int64.

    `Nlab` (C,): the numbers of points, where they are known already. A
    class without points has start = end.
    """
    counts = (torch.bincount(lab) if Nlab is None else Nlab).long()
    ends = counts.cumsum(0)
    return torch.stack([ends - counts, ends], dim=1)


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
    has no points. Points and weights may be differentiated by.
    """
    total = torch.bincount(lab) if Nlab is None else Nlab
    size = len(total)
    values = x.double()
    if weights is not None:
        weights = weights.reshape(-1, 1).double()
        values = values * weights
        total = weights_c
        if total is None:
            total = _sums(weights, lab, size)
    means = _sums(values, lab, size) / total.reshape(-1, 1)
    return means.to(x.dtype)


def _sums(values: Any, lab: Any, size: int) -> Any:
    """The sums (C, D) of float64 values (M, D) with equal labels."""
    zeros = values.new_zeros((size, values.shape[1]))
    return zeros.index_add(0, lab.long(), values)


def cluster_ranges_centroids(
    x: Any, lab: Any, weights: Any = None, min_weight: float = 1e-9
) -> tuple[Any, Any, Any]:
    """(`cluster_ranges`, `cluster_centroids`, weights (C,) of the clusters).

    Without `weights` the last are the numbers of points, as floats; weights
    below `min_weight` count as that.
    """
    counts = torch.bincount(lab)
    ranges = cluster_ranges(lab, counts)
    if weights is None:
        return ranges, cluster_centroids(x, lab, counts), counts.float()
    weights = weights.reshape(-1).clamp(min=min_weight)
    total = _sums(weights.reshape(-1, 1).double(), lab, len(counts))
    centroids = cluster_centroids(x, lab, counts, weights, total)
    return ranges, centroids, total.reshape(-1).to(weights.dtype)


def from_matrix(ranges_i: Any, ranges_j: Any, keep: Any) -> tuple[Any, ...]:
    """The `ranges` of the pairs of clusters that a matrix keeps.

    `ranges_i` (Ci, 2) and `ranges_j` (Cj, 2) as `cluster_ranges` gives them,
    whose dtype stays; `keep` (Ci, Cj) booleans. Returns (ranges_i, slices_i,
    redranges_j) for reductions over j, and the same of j for those over i.
    """
    if tuple(keep.shape) != (len(ranges_i), len(ranges_j)):
        raise ValueError(
            f"keep has shape {tuple(keep.shape)}, and should have one row for "
            f"each range of i and one column for each of j: "
            f"{(len(ranges_i), len(ranges_j))}"
        )
    keep = keep.bool()
    return (
        ranges_i,
        keep.sum(1).cumsum(0),
        ranges_j[keep.nonzero()[:, 1]],
        ranges_j,
        keep.sum(0).cumsum(0),
        ranges_i[keep.t().nonzero()[:, 1]],
    )


def swap_axes(ranges: Any) -> Any:
    """The `ranges` with i and j exchanged; None stays None."""
    return None if ranges is None else (*ranges[3:6], *ranges[0:3])
