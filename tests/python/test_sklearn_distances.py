# tests/python/test_sklearn_distances.py - matrices of distances as X, and the
# metrics of a density, against scikit-learn.
from __future__ import annotations

import numpy as np
import pytest
import sklearn.neighbors
from scipy.spatial.distance import cdist
from sklearn.model_selection import cross_val_score

import tilefold.sklearn
from tilefold.sklearn import (
    KernelDensity,
    KMeans,
    KMedoids,
    KNeighborsClassifier,
    NearestNeighbors,
)

RANDOM = np.random.default_rng(0)
X, QUERIES = RANDOM.random((60, 3)), RANDOM.random((20, 3))
LABELS, TARGETS = (X[:, 0] > 0.5).astype(int), RANDOM.random(60)
DISTANCES, ASKED = cdist(X, X), cdist(QUERIES, X)

# ---- neighbours -------------------------------------------------------------

ESTIMATORS = {
    "NearestNeighbors": {},
    "KNeighborsClassifier": {"weights": "distance"},
    "KNeighborsRegressor": {},
    "RadiusNeighborsClassifier": {"radius": 0.6},
    "RadiusNeighborsRegressor": {"radius": 0.6, "weights": "distance"},
    "KNeighborsTransformer": {},
    "RadiusNeighborsTransformer": {"radius": 0.4},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_distances_are_taken_as_scikit_learn_takes_them(name):
    own, other = (
        getattr(library, name)(metric="precomputed", **ESTIMATORS[name]).fit(
            DISTANCES, LABELS if "Classifier" in name else TARGETS
        )
        for library in (tilefold.sklearn, sklearn.neighbors)
    )
    for given in (ASKED, None):
        if hasattr(own, "kneighbors"):
            found, wanted = own.kneighbors(given), other.kneighbors(given)
            np.testing.assert_array_equal(found[0], wanted[0])
            np.testing.assert_array_equal(found[1], wanted[1])
        if hasattr(own, "radius_neighbors"):
            for mode in ("distance", "connectivity"):
                found, wanted = (
                    model.radius_neighbors_graph(given, 0.5, mode)
                    for model in (own, other)
                )
                assert found.nnz == wanted.nnz
                assert abs(found - wanted).max() == 0
    for method in ("predict", "predict_proba"):
        if hasattr(own, method):
            np.testing.assert_allclose(
                getattr(own, method)(ASKED), getattr(other, method)(ASKED)
            )
    if hasattr(own, "transform"):
        found, wanted = own.transform(ASKED), other.transform(ASKED)
        assert abs(found - wanted).max() == 0


def test_cross_validation_takes_rows_and_columns_of_distances():
    found, wanted = (
        cross_val_score(
            library.KNeighborsClassifier(metric="precomputed"),
            DISTANCES,
            LABELS,
        )
        for library in (tilefold.sklearn, sklearn.neighbors)
    )
    np.testing.assert_array_equal(found, wanted)
    assert not KNeighborsClassifier().__sklearn_tags__().input_tags.pairwise


def test_distances_of_float32_stay_float32():
    search = NearestNeighbors(metric="precomputed")
    search.fit(DISTANCES.astype(np.float32))
    assert search.kneighbors()[0].dtype == np.float32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: NearestNeighbors(metric="precomputed").fit(ASKED),
            r"a square matrix of distances, and X has the shape \(20, 60\)",
        ),
        (
            lambda: NearestNeighbors(metric="precomputed").fit(-DISTANCES),
            "of a similarity s that is at most 1, pass 1 - s",
        ),
        (
            lambda: (
                NearestNeighbors(metric="precomputed")
                .fit(DISTANCES)
                .kneighbors(ASKED[:, :9])
            ),
            "9 features",
        ),
        (
            lambda: KMedoids(2, metric="precomputed").fit(DISTANCES),
            "pass the points and a metric",
        ),
        (
            lambda: KMeans(2, metric="precomputed").fit(DISTANCES),
            "pass the points and a metric",
        ),
        (
            lambda: KernelDensity(metric="precomputed").fit(DISTANCES),
            "pass the points and a metric",
        ),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- densities --------------------------------------------------------------

KERNELS = [
    "gaussian",
    "tophat",
    "epanechnikov",
    "exponential",
    "linear",
    "cosine",
]
METRICS = {
    "euclidean": {},
    "manhattan": {},
    "chebyshev": {},
    "canberra": {},
    "minkowski": {"p": 3},
    "seuclidean": {"V": X.var(axis=0)},
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weights", [None, TARGETS])
def test_a_density_by_a_metric_is_that_of_scikit_learn(kernel, metric, weights):
    found, wanted = (
        kind(
            bandwidth=0.7,
            kernel=kernel,
            metric=metric,
            metric_params=METRICS[metric] or None,
        )
        .fit(X, sample_weight=weights)
        .score_samples(QUERIES)
        for kind in (KernelDensity, sklearn.neighbors.KernelDensity)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


@pytest.mark.parametrize(
    ("metric", "parameters"),
    [
        (lambda u, v: abs(u - v).sum(), None),
        ("manhattan(x_i, y_j)", None),
        ("h*sum(abs(x_i - y_j))", {"h": 1.0}),
    ],
    ids=["function", "formula", "parameter"],
)
def test_a_density_takes_the_metrics_of_neighbours(metric, parameters):
    found, wanted = (
        KernelDensity(bandwidth=0.5, metric=given, metric_params=values)
        .fit(X)
        .score_samples(QUERIES)
        for given, values in ((metric, parameters), ("manhattan", None))
    )
    np.testing.assert_allclose(found, wanted)


def test_a_metric_beside_a_formula_is_refused():
    density = KernelDensity(kernel="exp(-|x_i - y_j|/h)", metric="manhattan")
    with pytest.raises(ValueError, match="write the distance into it"):
        density.fit(X)


def test_no_points_are_drawn_by_another_metric():
    density = KernelDensity(metric="manhattan").fit(X)
    with pytest.raises(NotImplementedError, match="metric='euclidean'"):
        density.sample()


def test_a_metric_of_a_density_that_is_none_is_refused():
    with pytest.raises(ValueError, match="unknown metric 'nonesuch'"):
        KernelDensity(metric="nonesuch").fit(X)
