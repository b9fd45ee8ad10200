# tests/python/test_keops_cluster.py - cells of points, as pykeops has them.
import numpy as np
import pytest
import torch

from tilefold.compat.pykeops.numpy import cluster as of_numpy
from tilefold.compat.pykeops.torch import cluster as of_torch


class Side:
    """One backend's module, with arrays to and from NumPy."""

    def __init__(self, name):
        self.module = {"numpy": of_numpy, "torch": of_torch}[name]
        self.is_torch = name == "torch"

    def __getattr__(self, name):
        function = getattr(self.module, name)

        def call(*arguments, **named):
            arguments = [self.to(each) for each in arguments]
            named = {key: self.to(each) for key, each in named.items()}
            return self.back(function(*arguments, **named))

        return call

    def to(self, value):
        if self.is_torch and isinstance(value, np.ndarray):
            return torch.from_numpy(value.copy())
        return value

    def back(self, value):
        if isinstance(value, tuple):
            return tuple(self.back(each) for each in value)
        return value.numpy() if isinstance(value, torch.Tensor) else value


@pytest.fixture(params=["numpy", "torch"])
def side(request):
    return Side(request.param)


def labels_by_hand(x, size, from_least):
    """The number of each point's cell among those sorted as tuples."""
    low = x.min(axis=0) if from_least else 0
    cells = [tuple(row) for row in np.floor((x - low) / size)]
    order = {cell: k for k, cell in enumerate(sorted(set(cells)))}
    return np.array([order[cell] for cell in cells])


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("by_axis", [False, True])
def test_labels_are_those_of_sorted_cells(side, dimension, by_axis):
    rng = np.random.default_rng(dimension)
    x = rng.normal(size=(300, dimension))
    size = np.linspace(0.5, 0.9, dimension) if by_axis else 0.7
    labels = side.grid_cluster(x, size)
    assert labels.dtype == (np.int32 if side.is_torch else np.int64)
    np.testing.assert_array_equal(
        labels, labels_by_hand(x, size, side.is_torch)
    )


def test_far_cells_stay_apart(side):
    # KeOps numbers cells in steps of 1024 an axis: these two meet there.
    x = np.array([[0.5, 1024.5, 0.5], [1.5, 0.5, 0.5], [1.5, 0.5, 2e12]])
    np.testing.assert_array_equal(side.grid_cluster(x, 1.0), [0, 1, 2])


def test_points_of_more_components_are_refused(side):
    with pytest.raises(NotImplementedError, match="1 to 3 components"):
        side.grid_cluster(np.zeros((5, 4)), 1.0)


def test_no_points_have_no_labels(side):
    assert side.grid_cluster(np.zeros((0, 2)), 1.0).shape == (0,)


def test_sorted_points_keep_their_order_and_kind(side):
    labels = np.array([1, 0, 1, 0, 2, 0])
    x = np.arange(12.0).reshape(6, 2)
    points, lab = side.sort_clusters(x, labels)
    order = [1, 3, 5, 0, 2, 4]
    np.testing.assert_array_equal(lab, labels[order])
    np.testing.assert_array_equal(points, x[order])
    both, _ = side.module.sort_clusters(
        (side.to(x), side.to(x[:, 0])), side.to(labels)
    )
    assert type(both) is tuple
    np.testing.assert_array_equal(side.back(both[1]), x[order, 0])
    several, _ = side.module.sort_clusters([side.to(x)], side.to(labels))
    assert type(several) is list


def test_ranges_of_clusters(side):
    labels = np.array([2, 0, 0, 3, 2, 2])  # none of 1
    expected = [[0, 2], [2, 2], [2, 5], [5, 6]]
    found = side.cluster_ranges(labels)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)
    counts = np.array([2.0, 0.0, 3.0, 1.0], dtype=np.float32)
    np.testing.assert_array_equal(side.cluster_ranges(labels, counts), expected)


def test_ranges_of_many_points_are_exact(side):
    counts = np.array([2**24 + 1, 1, 2**31])
    ends = np.cumsum(counts)
    found = side.cluster_ranges(np.array([0]), counts)
    np.testing.assert_array_equal(found[:, 1], ends)
    np.testing.assert_array_equal(found[:, 0], ends - counts)


@pytest.mark.parametrize("weighted", [False, True])
def test_centroids(side, weighted):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 3)).astype(np.float32)
    labels = rng.integers(0, 5, size=60)
    w = rng.uniform(size=60).astype(np.float32)
    of = [labels == k for k in range(5)]
    weights = w if weighted else np.ones(60)
    means = [np.average(x[k], axis=0, weights=weights[k]) for k in of]
    sums = [weights[k].sum() for k in of]
    given = {"weights": w} if weighted else {}
    centroids = side.cluster_centroids(x, labels, **given)
    assert centroids.dtype == np.float32
    np.testing.assert_allclose(centroids, means, rtol=1e-4, atol=1e-6)
    ranges, again, total = side.cluster_ranges_centroids(x, labels, **given)
    np.testing.assert_array_equal(ranges, side.cluster_ranges(labels))
    np.testing.assert_array_equal(again, centroids)
    np.testing.assert_allclose(total, sums, rtol=1e-5)
    known = {"weights_c": total} if weighted else {"Nlab": total}
    again = side.cluster_centroids(x, labels, **given, **known)
    np.testing.assert_allclose(again, centroids, rtol=1e-6)


def test_long_sums_are_in_float64():
    # In float32, 2²⁴ + 1 is 2²⁴.
    x = torch.tensor([[2.0**25], [1.0], [1.0], [1.0], [1.0]])
    mean = of_torch.cluster_centroids(x, torch.zeros(5, dtype=torch.int64))
    assert mean.item() == np.float32((2.0**25 + 4) / 5)


def test_centroids_may_be_differentiated():
    x = torch.tensor([[1.0], [3.0], [5.0]], requires_grad=True)
    w = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
    labels = torch.tensor([0, 0, 1])
    mean = of_torch.cluster_centroids(x, labels, weights=w)
    mean[0, 0].backward()
    np.testing.assert_allclose(x.grad, [[0.25], [0.75], [0.0]])
    # (x − mean) / Σ w, of mean 2.5
    np.testing.assert_allclose(w.grad, [-1.5 / 4, 0.5 / 4, 0.0])


def pairs(ranges, slices, reduced, shape):
    """The (i, j) that the first or second half of `ranges` names."""
    kept = np.zeros(shape, dtype=int)
    begin = 0
    for (start, end), stop in zip(ranges, slices, strict=True):
        for low, high in reduced[begin:stop]:
            kept[start:end, low:high] += 1
        begin = stop
    return kept


def test_ranges_of_a_matrix(side):
    rng = np.random.default_rng(6)
    ranges_i = np.array([[0, 3], [3, 3], [3, 8]])
    ranges_j = np.array([[0, 2], [2, 5], [5, 6], [6, 9]])
    keep = rng.uniform(size=(3, 4)) < 0.5
    six = side.from_matrix(ranges_i, ranges_j, keep)
    assert all(each.dtype == np.int64 for each in six)
    dense = np.repeat(keep, ranges_i[:, 1] - ranges_i[:, 0], axis=0)
    dense = np.repeat(dense, ranges_j[:, 1] - ranges_j[:, 0], axis=1)
    np.testing.assert_array_equal(pairs(*six[:3], (8, 9)), dense)
    np.testing.assert_array_equal(pairs(*six[3:], (9, 8)), dense.T)
    swapped = side.module.swap_axes(six)
    assert swapped == (*six[3:], *six[:3])
    assert side.module.swap_axes(None) is None


def test_a_matrix_of_another_shape_is_refused(side):
    ranges = np.array([[0, 3]])
    with pytest.raises(ValueError, match=r"keep has shape \(2, 1\)"):
        side.from_matrix(ranges, ranges, np.ones((2, 1), dtype=bool))


def test_ranges_of_tensors_keep_their_dtype():
    ranges = torch.tensor([[0, 3], [3, 4]], dtype=torch.int32)
    six = of_torch.from_matrix(ranges, ranges, torch.ones(2, 2).bool())
    kinds = [each.dtype for each in six[:3]]
    assert kinds == [torch.int32, torch.int64, torch.int32]
