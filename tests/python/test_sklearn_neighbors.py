# tests/python/test_sklearn_neighbors.py - neighbours are scikit-learn's.
"""The same answers, scikit-learn's own checks, and its tools around."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
import sklearn.neighbors as reference
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import DataConversionWarning
from sklearn.inspection import permutation_importance
from sklearn.manifold import Isomap
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklearn_cases
from tilefold.sklearn import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    RadiusNeighborsTransformer,
)

FORMULA = {
    "metric": "sum(w*abs(x_i - y_j))",
    "metric_params": {"w": 0.5},
}
ESTIMATORS = [
    kind(**arguments)
    for kind in (
        NearestNeighbors,
        KNeighborsClassifier,
        KNeighborsRegressor,
        KNeighborsTransformer,
        RadiusNeighborsClassifier,
        RadiusNeighborsRegressor,
        RadiusNeighborsTransformer,
    )
    for arguments in ({}, FORMULA)
]
WITH_ARRAYS = [
    NearestNeighbors(),
    KNeighborsClassifier(weights="distance"),
    KNeighborsRegressor(**FORMULA),
    RadiusNeighborsClassifier(radius=9.0),
    RadiusNeighborsRegressor(radius=9.0, weights="distance"),
]


@pytest.fixture
def random():
    return np.random.default_rng(5)


@pytest.fixture
def points(random):
    return random.random((300, 4)) + 0.1


@pytest.fixture
def queries(random, points):
    """Some are points themselves."""
    return np.concatenate([random.random((60, 4)) + 0.1, points[:5]])


# ---- scikit-learn's checks --------------------------------------------------


@pytest.mark.sample(0.3)
@pytest.mark.filterwarnings("ignore")  # of which checks make many
@pytest.mark.parametrize(
    ("estimator", "check"), list(sklearn_cases.checks(ESTIMATORS))
)
def test_an_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_arrays_of_other_libraries_pass_the_checks():
    passed = sklearn_cases.passed_with_arrays("test_sklearn_neighbors")
    assert len(passed) == len(WITH_ARRAYS)


# ---- metrics ----------------------------------------------------------------

NAMES = [
    ("euclidean", {}),
    ("l2", {}),
    ("sqeuclidean", {}),
    ("manhattan", {}),
    ("cityblock", {}),
    ("chebyshev", {}),
    ("minkowski", {"p": 1}),
    ("minkowski", {"p": 2}),
    ("minkowski", {"p": 3}),
    ("minkowski", {"p": 1.5}),
    ("minkowski", {"p": 3, "metric_params": {"w": [1, 2, 3, 0.5]}}),
    ("cosine", {}),
    ("canberra", {}),
    ("braycurtis", {}),
    ("correlation", {}),
    ("seuclidean", {"metric_params": {"V": [1, 2, 3, 0.5]}}),
    ("haversine", {}),
]
MEANT = {name for name, _ in NAMES} - {"seuclidean", "correlation"}


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize(("name", "arguments"), NAMES)
def test_a_metric_of_scikit_learn_finds_what_it_finds(
    name, arguments, kind, points, queries
):
    if name == "haversine":
        points, queries = points[:, :2], queries[:, :2]
    points, queries = points.astype(kind), queries.astype(kind)
    expected = reference.NearestNeighbors(
        n_neighbors=7, metric=name, algorithm="brute", **arguments
    ).fit(points)
    found = NearestNeighbors(
        n_neighbors=7,
        metric=name,
        algorithm="kd_tree",
        leaf_size=9,
        **arguments,
    )
    found.fit(points)
    distances, places = found.kneighbors(queries)
    wanted, where = expected.kneighbors(queries)
    assert distances.dtype == kind
    tolerance = 1e-6 if kind == "float64" else 3e-4
    np.testing.assert_allclose(distances, wanted, tolerance, tolerance)
    if kind == "float64":
        assert (places == where).all()
        assert (found.kneighbors()[1] == expected.kneighbors()[1]).all()
    radius = float(np.median(wanted[:, 3])) * 1.0001
    graph = found.radius_neighbors_graph(queries, radius, "distance")
    same = expected.radius_neighbors_graph(queries, radius, "distance")
    assert graph.shape == same.shape
    assert abs(graph - same).max() <= tolerance
    if kind == "float64":
        assert graph.nnz == same.nnz


@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
@pytest.mark.parametrize("name", sorted(MEANT | {"hamming", "jaccard"}))
def test_a_metric_has_its_meaning_for_all_signs(name, random):
    """And for components, and vectors, of zeros."""
    count = 2 if name == "haversine" else 4
    points = random.normal(size=(60, count)).round(1)
    points[::5] = 0
    points[1::4, 1] = 0
    queries = np.concatenate([points[:9], -points[3:20]])
    found = NearestNeighbors(n_neighbors=60, metric=name).fit(points)
    for algorithm in ("brute", "ball_tree"):
        if name not in reference.VALID_METRICS[algorithm]:
            continue
        wanted = reference.NearestNeighbors(
            n_neighbors=60, metric=name, algorithm=algorithm
        ).fit(points)
        assert np.allclose(
            found.kneighbors(queries)[0],
            wanted.kneighbors(queries)[0],
            atol=1e-7,
        )


def test_hamming_counts_components_that_differ(random):
    x, y = random.integers(0, 3, (40, 5)), random.integers(0, 3, (50, 5))
    search = NearestNeighbors(n_neighbors=50, metric="hamming").fit(y)
    distances, places = search.kneighbors(x)
    dense = cdist(x, y, "hamming")
    order = np.argsort(dense, axis=1, kind="stable")
    assert (places == order).all()
    assert np.allclose(distances, np.take_along_axis(dense, order, 1))


def test_a_vector_of_zeros_is_at_1_by_the_cosine(points):
    points[0] = 0
    search = NearestNeighbors(n_neighbors=300, metric="cosine").fit(points)
    distances, places = search.kneighbors([[0, 0, 0, 0], [1, 2, 3, 4]])
    assert (distances[0] == 1).all()
    assert distances[1][places[1] == 0] == 1


def scaled(u, v, w):
    return np.sqrt((w * (u - v) ** 2).sum())


SCALE = 2.0
OWN = [
    ("sum(w*abs(x_i - y_j))", {"w": [1.0, 2, 3, 4]}),
    ("√(d·d) with d = (x_i - y_j)*w", {"w": [1.0, 2, 3, 4]}),
    ("σ*|x_i - y_j|", {"σ": 3.0}),
    ("hellinger", None),
    ("mahalanobis", {"A": np.diag([1.0, 2, 3, 4])}),
    (scaled, {"w": np.array([1.0, 2, 3, 4])}),
    (lambda a, b: abs(a - b).max() / SCALE, None),
]
DENSE = [
    lambda x, y: cdist(x, y, "cityblock", w=[1, 2, 3, 4]),
    lambda x, y: cdist(x * [1, 2, 3, 4], y * [1, 2, 3, 4]),
    lambda x, y: 3 * cdist(x, y),
    lambda x, y: cdist(np.sqrt(x), np.sqrt(y)) / np.sqrt(2),
    lambda x, y: cdist(x, y, "mahalanobis", VI=np.diag([1.0, 2, 3, 4])),
    lambda x, y: cdist(x, y, scaled, w=np.array([1.0, 2, 3, 4])),
    lambda x, y: cdist(x, y, "chebyshev") / 2,
]


@pytest.mark.parametrize("case", range(len(OWN)))
def test_an_own_metric_finds_what_its_matrix_says(case, points, queries):
    metric, parameters = OWN[case]
    search = NearestNeighbors(
        n_neighbors=6, metric=metric, metric_params=parameters
    ).fit(points)
    distances, places = search.kneighbors(queries)
    dense = DENSE[case](queries, points)
    order = np.argsort(dense, axis=1, kind="stable")[:, :6]
    assert (places == order).all()
    near = np.take_along_axis(dense, order, 1)
    np.testing.assert_allclose(distances, near, 1e-9, 1e-12)


def test_a_function_is_never_called_for_a_pair(points):
    calls = []

    def metric(x, y):
        calls.append(type(x))
        return abs(x - y).sum()

    search = NearestNeighbors(metric=metric).fit(points)
    search.kneighbors(points)
    assert len(calls) == 1


def branching(x, y):
    return 1.0 if x[0] > y[0] else 0.0


REFUSED = [
    ({"metric": "manhatten"}, "unknown metric 'manhatten'; pass one of"),
    ({"metric": "gaussian"}, "unknown metric 'gaussian'"),
    ({"metric": "precomputed"}, "takes a square matrix"),
    ({"metric": "sum(abs(x_i - y_j)"}, "is no formula"),
    ({"metric": "sum_j |x_i - y_j|"}, "no distance of the points"),
    ({"metric": "|x_i|"}, "no distance of the points x_i and y_j"),
    ({"metric": "|x_i - y_j| + i"}, "reads i or j"),
    ({"metric": "x_i - y_j"}, "has 4 components for a pair"),
    ({"metric": "w*|x_i - y_j|"}, r"metric_params=\{'w': …\}"),
    ({"metric": "euclidean", "metric_params": {"q": 1}}, "has 'q'"),
    ({"metric": "minkowski", "metric_params": {"q": 1}}, "has 'q'"),
    ({"metric": "minkowski", "metric_params": {"p": -1}}, "greater than 0"),
    ({"metric": "haversine"}, "only valid in 2 dimensions"),
    ({"metric": branching}, "branching cannot be read as a formula"),
    ({"metric": cdist}, "cdist cannot be read as a formula"),
    ({"metric": 3}, "'metric' parameter of NearestNeighbors"),
    ({"n_neighbors": 0}, "'n_neighbors' parameter of NearestNeighbors"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_is_no_metric_is_refused(arguments, message, points):
    with pytest.raises(ValueError, match=message):
        NearestNeighbors(**arguments).fit(points)


def test_a_metric_that_is_nan_is_refused(points):
    search = NearestNeighbors(metric="log(x_i[0] - y_j[0])").fit(points)
    with pytest.raises(ValueError, match="NaN for some pairs"):
        search.kneighbors(points)


def test_a_similarity_has_no_points_within_a_radius(points):
    search = NearestNeighbors(metric="x_i·y_j").fit(points)
    with pytest.raises(ValueError, match="a kernel that is no distance"):
        search.radius_neighbors(points)


# ---- searches ---------------------------------------------------------------


def test_of_equal_distances_the_lower_index_is_first(random):
    grid = random.integers(0, 3, (400, 2)).astype(float)
    search = NearestNeighbors(n_neighbors=30).fit(grid)
    dense = cdist(grid, grid, "sqeuclidean")
    order = np.argsort(dense, axis=1, kind="stable")
    assert (search.kneighbors(grid)[1] == order[:, :30]).all()
    np.fill_diagonal(dense, np.inf)
    order = np.argsort(dense, axis=1, kind="stable")
    assert (search.kneighbors()[1] == order[:, :30]).all()


def test_more_neighbours_than_a_reduction_keeps(random):
    points = random.integers(0, 20, (1500, 2)).astype(float)
    search = NearestNeighbors().fit(points)
    distances, places = search.kneighbors(points[:40], 1100)
    dense = cdist(points[:40], points)
    order = np.argsort(dense, axis=1, kind="stable")[:, :1100]
    assert (places == order).all()
    assert np.allclose(distances, np.take_along_axis(dense, order, 1))


def test_lists_within_a_radius(points, queries):
    expected = reference.NearestNeighbors(radius=0.3).fit(points)
    found = NearestNeighbors(radius=0.3).fit(points)
    for given in queries, None:
        wanted = expected.radius_neighbors(given, sort_results=True)
        lists = found.radius_neighbors(given, sort_results=True)
        for ours, theirs in zip(*lists, strict=True):
            assert len(ours) == len(theirs)
        for k in range(len(wanted[0])):
            assert (lists[1][k] == wanted[1][k]).all()
            assert np.allclose(lists[0][k], wanted[0][k])
    places = found.radius_neighbors(queries, return_distance=False)
    assert all((np.diff(place) > 0).all() for place in places)
    with pytest.raises(ValueError, match="return_distance must be True"):
        found.radius_neighbors(queries, None, False, True)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("is_query", [True, False])
def test_graphs_are_those_of_scikit_learn(mode, is_query, points, queries):
    given = queries if is_query else None
    expected = reference.NearestNeighbors(radius=0.3).fit(points)
    found = NearestNeighbors(radius=0.3).fit(points)
    for name in "kneighbors_graph", "radius_neighbors_graph":
        ours = getattr(found, name)(given, mode=mode)
        theirs = getattr(expected, name)(given, mode=mode)
        assert type(ours) is type(theirs)
        assert ours.nnz == theirs.nnz
        assert abs(ours - theirs).max() < 1e-6
    for ours, theirs in (
        (KNeighborsTransformer, reference.KNeighborsTransformer),
        (RadiusNeighborsTransformer, reference.RadiusNeighborsTransformer),
    ):
        one = ours(mode=mode).fit(points).transform(queries)
        other = theirs(mode=mode).fit(points).transform(queries)
        assert one.nnz == other.nnz
        assert abs(one - other).max() < 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, x: s.kneighbors(x, 301), "n_neighbors <= n_samples_fit"),
        (lambda s, _: s.kneighbors(None, 300), "n_neighbors < n_samples_fit"),
        (lambda s, x: s.kneighbors(x, -1), "Expected n_neighbors > 0"),
        (lambda s, x: s.kneighbors_graph(x, mode="a"), "Unsupported mode"),
        (lambda s, x: s.radius_neighbors(x, -1), "radius == -1, must be >= 0"),
        (lambda s, x: s.kneighbors(x[:, :2]), "expecting 4 features"),
        (lambda s, x: s.kneighbors(scipy.sparse.csr_matrix(x)), "Sparse data"),
    ],
)
def test_a_search_refuses_what_scikit_learn_refuses(call, message, points):
    search = NearestNeighbors().fit(points)
    with pytest.raises((ValueError, TypeError), match=message):
        call(search, points)


def test_the_number_of_threads_changes_no_bit(points, queries):
    results = [
        NearestNeighbors(n_jobs=jobs).fit(points).kneighbors(queries)
        for jobs in (None, 1, 2, -1)
    ]
    for distances, places in results[1:]:
        assert distances.tobytes() == results[0][0].tobytes()
        assert places.tobytes() == results[0][1].tobytes()


# ---- predictions ------------------------------------------------------------


def near(distances):
    """Weights of one array, or of an array of them."""
    if distances.dtype != object:
        return np.exp(-distances)
    weights = np.empty(len(distances), dtype=object)
    weights[:] = [np.exp(-one) for one in distances]
    return weights


def targets_of(random, is_several):
    one = random.integers(0, 3, 300)
    if not is_several:
        return np.array(["a", "b", "c"])[one]
    return np.stack([one, random.integers(5, 9, 300)], axis=1)


def assert_same_shares(ours, theirs, is_several):
    pairs = zip(ours, theirs, strict=True) if is_several else [(ours, theirs)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, 1e-9, 1e-12)


@pytest.mark.parametrize("is_several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("weights", ["uniform", "distance", near, None])
def test_classifiers_predict_as_scikit_learn_does(
    weights, is_several, random, points, queries
):
    labels = targets_of(random, is_several)
    outliers = {"outlier_label": "most_frequent", "radius": 0.3}
    for ours, theirs, more in (
        (KNeighborsClassifier, reference.KNeighborsClassifier, {}),
        (
            RadiusNeighborsClassifier,
            reference.RadiusNeighborsClassifier,
            outliers,
        ),
    ):
        found = ours(weights=weights, **more).fit(points, labels)
        expected = theirs(weights=weights, **more).fit(points, labels)
        for given in queries, None:
            assert (found.predict(given) == expected.predict(given)).all()
            assert_same_shares(
                found.predict_proba(given),
                expected.predict_proba(given),
                is_several,
            )
        for known, other in zip(found.classes_, expected.classes_, strict=True):
            assert np.array_equal(known, other)


@pytest.mark.filterwarnings("ignore:One or more samples have no")
@pytest.mark.parametrize("is_several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("weights", ["uniform", "distance", near, None])
def test_regressors_predict_as_scikit_learn_does(
    weights, is_several, random, points, queries
):
    targets = random.normal(size=(300, 70) if is_several else 300)
    for ours, theirs, more in (
        (KNeighborsRegressor, reference.KNeighborsRegressor, {}),
        (
            RadiusNeighborsRegressor,
            reference.RadiusNeighborsRegressor,
            {"radius": 0.3},
        ),
    ):
        found = ours(weights=weights, **more).fit(points, targets)
        expected = theirs(weights=weights, **more).fit(points, targets)
        for given in queries, None:
            np.testing.assert_allclose(
                found.predict(given), expected.predict(given), 1e-9, 1e-12
            )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_float32_points_take_no_digits_of_large_targets(weights):
    points = np.arange(500, dtype="float32")[:, None] / 256
    given, times = points[:50] + np.float32(1 / 1024), 1.7e9 + np.arange(500)
    found = RadiusNeighborsRegressor(0.1, weights=weights)
    right = reference.RadiusNeighborsRegressor(0.1, weights=weights)
    expected = right.fit(points, times).predict(given)
    for targets in times, times.astype(int):
        found.fit(points, targets)
        assert abs(found.predict(given) - expected).max() < 1e-5
    found = RadiusNeighborsClassifier(0.1, weights=weights)
    right = reference.RadiusNeighborsClassifier(0.1, weights=weights)
    expected = right.fit(points, np.arange(500) % 3).predict_proba(given)
    shares = found.fit(points, np.arange(500) % 3).predict_proba(given)
    assert abs(shares - expected).max() < 1e-6


def test_a_query_without_neighbours(random, points):
    labels = random.integers(0, 3, 300)
    far = np.full((1, 4), 50.0)
    with pytest.raises(ValueError, match="No neighbors found for test"):
        RadiusNeighborsClassifier().fit(points, labels).predict(far)
    known = RadiusNeighborsClassifier(outlier_label=2).fit(points, labels)
    assert known.predict(far) == [2]
    assert (known.predict_proba(far) == [0, 0, 1]).all()
    other = RadiusNeighborsClassifier(outlier_label=7).fit(points, labels)
    with pytest.warns(UserWarning, match="label 7 is not in training"):
        assert other.predict(far) == [7]
    with pytest.warns(UserWarning, match="label 7 is not in training"):
        assert (other.predict_proba(far) == 0).all()
    mean = RadiusNeighborsRegressor().fit(points, labels)
    with pytest.warns(UserWarning, match="predicting NaN"):
        assert np.isnan(mean.predict(far)).all()


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([1, 2], "inconsistent with the output length: 1"),
        ([[1]], "supposed to be a scalar"),
        ("a", "dtype of outlier_label a is inconsistent"),
    ],
)
def test_an_outlier_label_that_does_not_fit(label, message, random, points):
    labels = random.integers(0, 3, 300)
    with pytest.raises((ValueError, TypeError), match=message):
        RadiusNeighborsClassifier(outlier_label=label).fit(points, labels)


def test_weights_that_are_all_zero_are_refused(random, points):
    labels = random.integers(0, 3, 300)
    search = KNeighborsClassifier(weights=np.zeros_like).fit(points, labels)
    with pytest.raises(ValueError, match="zero weights"):
        search.predict(points)


def test_a_column_of_labels_is_warned_about(random, points):
    labels = random.integers(0, 3, (300, 1))
    with pytest.warns(DataConversionWarning, match="A column-vector y"):
        fitted = KNeighborsClassifier().fit(points, labels)
    assert fitted.predict(points).shape == (300,)


# ---- scikit-learn's tools ---------------------------------------------------


def test_a_search_over_metrics_in_other_processes():
    digits, labels = load_digits(return_X_y=True)
    digits, labels = digits[:400], labels[:400]
    grid = {
        "n_neighbors": [1, 3],
        "metric": ["manhattan", "|x_i - y_j|²", scaled],
        "metric_params": [None],
    }
    grid = [
        {**grid, "metric": grid["metric"][:2]},
        {**grid, "metric": [scaled], "metric_params": [{"w": np.ones(64)}]},
    ]
    with joblib.parallel_backend("loky"):
        search = GridSearchCV(KNeighborsClassifier(), grid, cv=3, n_jobs=2)
        search.fit(digits, labels)
    assert search.best_score_ > 0.93
    scores = search.cv_results_["mean_test_score"]
    assert scores[2] == scores[4]  # the same metric by text and by function


def test_read_only_memory_maps_of_other_processes(random):
    x = random.random((20_000, 8))  # joblib maps what is beyond 1 MB
    y = (x[:, 0] > 0.5).astype(int)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(n_jobs=1))
    two = cross_val_predict(model, x, y, cv=2, n_jobs=2)
    assert (two == cross_val_predict(model, x, y, cv=2)).all()
    assert (two == y).mean() > 0.9


def test_pipelines_clones_pickles_and_frames():
    frame, labels = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(**FORMULA))
    model.set_output(transform="pandas")
    fitted = clone(model).fit(frame, labels)
    assert list(fitted[-1].feature_names_in_) == list(frame.columns)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(frame) == fitted.predict(frame)).all()
    assert again.score(frame, labels) > 0.95
    importance = permutation_importance(
        fitted, frame, labels, n_repeats=2, random_state=0, n_jobs=2
    )
    assert importance.importances_mean.argmax() in (2, 3)  # of petals


def test_a_graph_takes_the_place_of_a_search(random):
    digits = load_digits().data[:200]
    digits += 0.01 * random.random(digits.shape)  # which have ties
    found, expected = (
        make_pipeline(
            graph, Isomap(n_neighbors=12, metric="precomputed")
        ).fit_transform(digits)
        for graph in (
            KNeighborsTransformer(n_neighbors=12, metric="|x_i - y_j|"),
            reference.KNeighborsTransformer(n_neighbors=12),
        )
    )
    tolerance = 1e-6 * abs(found).max()  # axes have no sign
    assert np.allclose(abs(found), abs(expected), atol=tolerance)


def test_sparse_points_are_refused_as_scikit_learn_does(points):
    sparse = scipy.sparse.csr_matrix(points)
    for estimator in ESTIMATORS[::2]:
        with pytest.raises(TypeError, match="Sparse data was passed"):
            clone(estimator).fit(sparse, np.arange(300) % 2)


@pytest.mark.sample(0.34)
@pytest.mark.parametrize(
    "work",
    [
        "NearestNeighbors().fit(points).kneighbors(queries)",
        "RadiusNeighborsClassifier(0.3).fit(points, points[:, 0] > 0.5)"
        ".predict(queries)",
        "KNeighborsRegressor(1500).fit(points, points).predict(queries[:99])",
    ],
    ids=["nearest", "radius", "many"],
)
def test_memory_is_that_of_the_result(work):
    assert sklearn_cases.megabytes(work) < 200
