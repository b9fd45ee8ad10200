# tests/python/test_neighbors.py - points within a radius, against SciPy and
# scikit-learn.
from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

import tilefold

_random = np.random.default_rng(8)
X, Y = _random.random((700, 3)), _random.random((900, 3))


def as_lists(found):
    return [
        found.indices[start:stop]
        for start, stop in zip(found.indptr[:-1], found.indptr[1:], strict=True)
    ]


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.3, 2.0, np.inf])
def test_neighbours_are_those_of_a_tree(radius):
    found = tilefold.radius_neighbors(X, Y, radius)
    assert found.indptr.dtype == np.int64
    assert found.indices.dtype == np.int64
    assert found.distances is None
    assert found.indptr.shape == (701,)
    limit = min(radius, 10.0)
    wanted = cKDTree(Y).query_ball_point(X, limit, return_sorted=True)
    for mine, theirs in zip(as_lists(found), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


METRICS = {"euclidean": "euclidean", "manhattan": "manhattan",
           "chebyshev": "chebyshev", "canberra": "canberra"}  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_neighbours_and_distances_are_those_of_scikit_learn(metric):
    model = NearestNeighbors(algorithm="brute", metric=METRICS[metric]).fit(Y)
    wanted = model.radius_neighbors_graph(X, 0.4, mode="distance")
    wanted.sort_indices()
    found = tilefold.radius_neighbors(
        X, Y, 0.4, metric=metric, return_distance=True
    )
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_allclose(found.distances, wanted.data, rtol=1e-10)
    matrix = scipy.sparse.csr_matrix(
        (found.distances, found.indices, found.indptr), shape=(700, 900)
    )
    assert abs(matrix - wanted).max() < 1e-12


def test_points_among_themselves():
    found = tilefold.radius_neighbors(X, radius=0.0, return_distance=True)
    np.testing.assert_array_equal(found.indices, np.arange(700))
    np.testing.assert_array_equal(found.distances, np.zeros(700))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_a_kernel_has_neighbours_on_both_axes(axis):
    kernel = tilefold.kernel("|x_i - y_j|", x=X, y=Y)
    near = pairwise_distances(X, Y) <= 0.2
    if axis in (0, -2):
        near = near.T
    for each, found in [
        (near, kernel.radius_neighbors(0.2, axis)),
        (near.T, kernel.T.radius_neighbors(0.2, axis)),
    ]:
        wanted = scipy.sparse.csr_matrix(each)
        np.testing.assert_array_equal(found.indptr, wanted.indptr)
        np.testing.assert_array_equal(found.indices, wanted.indices)


def test_columns_beyond_one_panel():
    """16384 columns are searched at a time."""
    x, y = np.arange(7.0), np.arange(40_000.0) / 5000
    found = tilefold.kernel("|x_i - y_j|", x=x, y=y).radius_neighbors(0.5)
    near = np.abs(x[:, None] - y) <= 0.5
    wanted = scipy.sparse.csr_matrix(near)
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "bool"])
def test_other_dtypes(dtype):
    x, y = ((a * 3).astype(dtype) for a in (X[:, 0], Y[:, 0]))
    found = tilefold.kernel("abs(x_i - y_j)", x=x, y=y).radius_neighbors(
        0.5, return_distance=True
    )
    dense = np.abs(x.astype("f8")[:, None] - y.astype("f8"))
    wanted = scipy.sparse.csr_matrix(dense <= 0.5)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    assert (found.distances <= 0.5).all()


def test_any_number_of_threads_finds_the_same():
    all_found = []
    for threads in (1, 2, 3, 8):
        session = tilefold.Session(tilefold.Options(threads=threads))
        kernel = tilefold.kernel("|x_i - y_j|", x=X, y=Y, session=session)
        all_found.append(kernel.radius_neighbors(0.3, return_distance=True))
    for found in all_found[1:]:
        for mine, first in zip(found, all_found[0], strict=True):
            np.testing.assert_array_equal(mine, first)


def test_nothing_is_near():
    for x, y in [(X, Y + 9), (X[:0], Y), (X, Y[:0])]:
        found = tilefold.radius_neighbors(x, y, 0.5, return_distance=True)
        np.testing.assert_array_equal(found.indptr, np.zeros(len(x) + 1))
        assert found.indices.shape == found.distances.shape == (0,)


def test_nan_is_no_neighbour():
    x = np.array([0.0, np.nan, 1.0])
    found = tilefold.kernel("|x_i - x_j|", x=x).radius_neighbors(np.inf)
    np.testing.assert_array_equal(found.indices, [0, 2, 0, 2])


def test_blocks_of_a_kernel():
    kernel = tilefold.kernel("|x_i - y_j|", x=X, y=Y)[100:200, ::3]
    near = pairwise_distances(X[100:200], Y[::3]) <= 0.2
    wanted = scipy.sparse.csr_matrix(near)
    found = kernel.radius_neighbors(0.2)
    np.testing.assert_array_equal(found.indices, wanted.indices)


def test_tensors_give_tensors():
    x = torch.tensor(X, requires_grad=True)
    found = tilefold.radius_neighbors(x, radius=0.1, return_distance=True)
    assert found.indices.dtype == torch.int64
    assert not found.distances.requires_grad
    wanted = scipy.sparse.csr_matrix(pairwise_distances(X) <= 0.1)
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)


def test_the_best_values_and_where():
    kernel = tilefold.kernel("|x_i - y_j|", x=X, y=Y)
    values, places = kernel.topk(5, axis=1, largest=False)
    wanted = NearestNeighbors(n_neighbors=5).fit(Y).kneighbors(X)
    np.testing.assert_allclose(values, wanted[0], rtol=1e-12)
    np.testing.assert_array_equal(places, wanted[1])


def test_memory_is_that_of_the_result():
    """Of 10⁹ pairs the distances would take 4 GB."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    x = _random.random((30_000, 2)).astype("float32")
    found = tilefold.radius_neighbors(x, radius=0.002)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tree = cKDTree(x.astype("f8"))
    count = tree.count_neighbors(tree, 0.002)
    assert abs(len(found.indices) - count) <= 1e-4 * count
    assert after - before < 200_000  # KiB


def test_a_progress_callback_can_stop_it():
    told = []

    def stop(done, total):
        told.append((done, total))
        return False

    x = _random.random((60_000, 3))
    options = tilefold.Options(progress=stop)
    kernel = tilefold.kernel("|x_i - x_j|", x=x, options=options)
    with pytest.raises(tilefold.Cancelled):
        kernel.radius_neighbors(0.01)
    assert told


NO_DISTANCE = (
    "the neighbours of a kernel that is no distance: other values are below "
    "those where points coincide\n"
    "write a distance, as in |x_i - y_j|; of a similarity s that is at most 1, "
    "take 1 - s"
)


@pytest.mark.parametrize("text", ["exp(-|x_i - y_j|²)", "1/|x_i - y_j|",
                                  "-|x_i - y_j|", "x_i·y_j"])  # fmt: skip
@pytest.mark.parametrize("axis", [0, 1])
def test_what_is_no_distance_is_refused(text, axis):
    """It would list the points that are far away."""
    for arrays in (
        {"x": X, "y": Y},
        {"x": X.astype("f4"), "y": Y.astype("f4")},
    ):
        kernel = tilefold.kernel(text, arrays)
        with pytest.raises(tilefold.ArgumentError) as caught:
            kernel.radius_neighbors(0.5, axis)
        assert str(caught.value) == NO_DISTANCE
    one = tilefold.kernel(text.replace("y_j", "x_j"), x=torch.tensor(X))
    with pytest.raises(tilefold.ArgumentError, match="no distance"):
        one.radius_neighbors(0.5)


DISTANCES = {
    "1 - exp(-|x_i - y_j|²)": {},
    "|x_i - y_j|²/2l²": {"l": 0.5},
    "|(x_i - y_j)*s|": {"s": np.array([1.0, 2, 3])},
    "|x_i - y_j| - r_j": {"r": Y[:, 0]},  # to spheres: points do not tell
    "where(i == j, 0, 1) + |x_i - y_j|": {},
}


@pytest.mark.parametrize("text", DISTANCES)
def test_what_may_be_a_distance_is_taken(text):
    kernel = tilefold.kernel(text, DISTANCES[text], x=X, y=Y)
    wanted = scipy.sparse.csr_matrix(kernel.dense() <= 0.3)
    found = kernel.radius_neighbors(0.3)
    np.testing.assert_array_equal(found.indices, wanted.indices)


def test_a_distance_that_rounds_where_points_are_near_is_taken():
    """Of float32 it may be 6e-4 where points coincide, and 0 where they nearly
    do."""
    random = np.random.default_rng(1)
    x = np.repeat(random.standard_normal((8, 40)), 2, axis=0).astype("f4")
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[1::2] *= np.float32(1 + 2e-7)
    kernel = tilefold.kernel("sqrt(max(2 - 2x_i·x_j, 0))", x=x)
    dense = kernel.dense()
    assert (dense.diagonal()[:, None] > dense + 1e-4).any()
    found = kernel.radius_neighbors(0.01)
    wanted = scipy.sparse.csr_matrix(dense <= 0.01)
    np.testing.assert_array_equal(found.indices, wanted.indices)


def test_the_cure_for_a_similarity_works():
    kernel = tilefold.kernel("exp(-|x_i - y_j|²)", x=X, y=Y)
    near = (1 - kernel).radius_neighbors(0.3)
    wanted = scipy.sparse.csr_matrix(1 - kernel.dense() <= 0.3)
    np.testing.assert_array_equal(near.indices, wanted.indices)


REFUSALS = [
    (
        lambda: tilefold.radius_neighbors(X, Y, "far"),
        "the option radius cannot be a str\npass a number",
    ),
    (
        lambda: tilefold.radius_neighbors(X, Y, float("nan")),
        "the option radius cannot be nan\npass a number",
    ),
    (
        lambda: tilefold.kernel("x_i - y_j", x=X, y=Y).radius_neighbors(1),
        "the neighbours of a kernel whose values have the shape (700, 900, 3)\n"
        "give one distance for each pair, and no batch dimensions",
    ),
    (
        lambda: tilefold.radius_neighbors(X[None], Y, 1),
        "the neighbours of a kernel whose values have the shape (1, 700, 900)\n"
        "give one distance for each pair, and no batch dimensions",
    ),
]


@pytest.mark.parametrize(("use", "message"), REFUSALS)
def test_what_is_refused(use, message):
    with pytest.raises(tilefold.Error) as caught:
        use()
    assert str(caught.value) == message


def test_an_unknown_metric_names_the_known_ones():
    with pytest.raises(tilefold.ArgumentError) as caught:
        tilefold.radius_neighbors(X, Y, 1, metric="minkowski")
    text = str(caught.value)
    for similarity in ("linear", "energy", "cosine_similarity", "student"):
        with pytest.raises(tilefold.ArgumentError, match="pass one of eucl"):
            tilefold.radius_neighbors(X, Y, 1, metric=similarity)
    assert text.startswith("the option metric cannot be 'minkowski'\npass one")
    assert "euclidean" in text
    assert "manhattan" in text
    assert "minkowski," not in text
