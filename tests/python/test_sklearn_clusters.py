# tests/python/test_sklearn_clusters.py - densities and clusters are
# scikit-learn's.
"""The same answers, scikit-learn's own checks, and its tools around."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster as reference
import sklearn.neighbors
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklearn_cases
from tilefold.sklearn import KernelDensity, KMeans, KMedoids, MeanShift

ESTIMATORS = [
    KernelDensity(),
    KernelDensity(kernel="exp(-|x_i - y_j|/h)/v", kernel_params={"v": 2.0}),
    KMeans(),
    KMeans(metric="w*|x_i - y_j|²", metric_params={"w": 2.0}),
    KMedoids(),
    KMedoids(metric="sum(abs(x_i - y_j))"),
    MeanShift(),
    MeanShift(bandwidth=1.0, kernel="exp(-|x_i - y_j|²/2h²)"),
]
WITH_ARRAYS = ESTIMATORS[:7]
# What scikit-learn expects of its own KMeans: other points, other draws.
FAILS = "check_sample_weight_equivalence_on_dense_data"


@pytest.fixture
def random():
    return np.random.default_rng(5)


# ---- scikit-learn's checks --------------------------------------------------


@pytest.mark.sample(0.3)
@pytest.mark.filterwarnings("ignore")  # of which checks make many
@pytest.mark.parametrize(
    ("estimator", "check"), list(sklearn_cases.checks(ESTIMATORS))
)
def test_an_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    is_seeded = isinstance(estimator, KMeans | KMedoids)
    if is_seeded and sklearn_cases.name_of(check) == FAILS:
        with pytest.raises(AssertionError, match="is not equivalent"):
            check(estimator)
    else:
        check(estimator)


def test_arrays_of_other_libraries_pass_the_checks():
    passed = sklearn_cases.passed_with_arrays("test_sklearn_clusters")
    assert len(passed) == len(WITH_ARRAYS)


# ---- KernelDensity ----------------------------------------------------------

KERNELS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear"]


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("bandwidth", [0.2, "scott", "silverman"])
@pytest.mark.parametrize("kernel", [*KERNELS, "cosine"])
def test_a_density_is_that_of_scikit_learn(
    kernel, bandwidth, is_weighted, random
):
    weights = random.random(200) if is_weighted else None
    # What scikit-learn normalises cosines by is wrong for even dimensions.
    for features in (1, 3) if kernel == "cosine" else (1, 2, 5):
        x, q = random.random((200, features)), random.random((50, features))
        both = (
            kind(bandwidth=bandwidth, kernel=kernel, **exact)
            for kind, exact in (
                (KernelDensity, {}),
                (sklearn.neighbors.KernelDensity, {"rtol": 0, "atol": 0}),
            )
        )
        ours, theirs = (one.fit(x, sample_weight=weights) for one in both)
        assert ours.bandwidth_ == theirs.bandwidth_
        # Its sums of logarithms leave 1e-14 where the density is 0.
        found, expected = (
            np.exp(one.score_samples(q)) for one in (ours, theirs)
        )
        np.testing.assert_allclose(found, expected, 1e-6, 1e-9)
        if kernel in ("gaussian", "exponential"):
            assert np.isclose(ours.score(q), theirs.score(q), rtol=1e-6)


@pytest.mark.parametrize("kernel", [*KERNELS, "cosine"])
@pytest.mark.parametrize("features", [2, 4, 9])
def test_a_kernel_integrates_to_1(kernel, features):
    centre = np.zeros((1, features))
    density = KernelDensity(bandwidth=0.7, kernel=kernel).fit(centre)

    def shell(radius):
        point = centre.copy()
        point[0, 0] = radius
        return np.exp(density.score_samples(point)[0]) * radius**features

    ball = np.pi ** (features / 2) / np.exp(
        scipy.special.gammaln(features / 2 + 1)
    )
    end = 0.7 if kernel not in ("gaussian", "exponential") else 40
    integral = quad(lambda r: shell(r) / r, 0, end, limit=200)[0]
    assert np.isclose(integral * features * ball, 1, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_a_weight_of_0_leaves_a_point_out(kernel, random):
    x, q, weights = random.random((50, 2)), random.random((9, 2)), np.ones(50)
    weights[::3] = 0
    one, other = KernelDensity(kernel=kernel), KernelDensity(kernel=kernel)
    one.fit(x, sample_weight=weights)
    other.fit(x[weights > 0])
    assert np.allclose(one.score_samples(q), other.score_samples(q))


def test_far_from_all_points_the_logarithm_stays_exact():
    density = KernelDensity(bandwidth=0.01).fit([[0.0], [1.0]])
    found = density.score_samples([[5.0]])
    exact = -(4**2) / (2 * 0.01**2) - np.log(2 * 0.01 * np.sqrt(2 * np.pi))
    assert np.isclose(found, exact, rtol=1e-12)
    compact = KernelDensity(kernel="tophat").fit([[0.0], [1.0]])
    assert compact.score_samples([[5.0]]) == -np.inf


@pytest.mark.parametrize("kernel", ["gaussian", "tophat"])
def test_draws_of_a_seed_are_those_of_scikit_learn(kernel, random):
    x, weights = random.random((80, 3)), random.random(80)
    for given in None, weights:
        ours, theirs = (
            kind(bandwidth=0.3, kernel=kernel)
            .fit(x, sample_weight=given)
            .sample(20, random_state=3)
            for kind in (KernelDensity, sklearn.neighbors.KernelDensity)
        )
        np.testing.assert_allclose(ours, theirs, 1e-12)


def test_a_formula_is_a_kernel(random):
    x, q, weights = (
        random.random((80, 3)),
        random.random((9, 3)),
        random.random(80),
    )
    dense = np.exp(-cdist(q, x, "cityblock") / 0.4) * 3
    density = KernelDensity(
        bandwidth=0.4,
        kernel="a*exp(-sum(abs(x_i - y_j))/h)",
        kernel_params={"a": 3.0},
    ).fit(x, sample_weight=weights)
    np.testing.assert_allclose(
        density.score_samples(q), np.log(dense @ weights / weights.sum()), 1e-9
    )
    named = KernelDensity(bandwidth=0.4, kernel="matern32").fit(x)
    r = np.sqrt(3) * cdist(q, x) / 0.4
    np.testing.assert_allclose(
        named.score_samples(q), np.log(((1 + r) * np.exp(-r)).mean(1)), 1e-9
    )
    with pytest.raises(NotImplementedError, match="no points are drawn"):
        named.sample()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "gausian"}, "neither one of gaussian"),
        ({"kernel": "exp(-|x_i - y_j|²/2"}, "neither one of gaussian"),
        ({"kernel": "sum_j |x_i - y_j|"}, "no formula of the points"),
        ({"kernel": "x_i - y_j"}, "has 3 components"),
        ({"kernel": "a*|x_i - y_j|"}, r"kernel_params=\{'a': …\}"),
        ({"kernel_params": {"a": 1}}, "has 'a'"),
        ({"kernel_params": {"h": 2.0}}, "takes from bandwidth; leave it away"),
        ({"kernel": "exp(im*(x_i·y_j))"}, "complex where a real number"),
        ({"bandwidth": -1.0}, "'bandwidth' parameter of KernelDensity"),
        ({"bandwidth": "wide"}, "'bandwidth' parameter of KernelDensity"),
    ],
)
def test_what_is_no_density_is_refused(arguments, message, random):
    with pytest.raises(ValueError, match=message):
        KernelDensity(**arguments).fit(random.random((9, 3)))


def test_a_bandwidth_is_given_once(random):
    x = random.random((9, 2))
    given = {"kernel": "gaussian", "kernel_params": {"h": 2.0}}
    with pytest.raises(ValueError, match="pass bandwidth=…"):
        MeanShift(bandwidth=1.0, **given).fit(x)
    own = KernelDensity(kernel="exp(-|x_i - y_j|²/2h²)", kernel_params={"h": 2})
    named = KernelDensity(bandwidth=2.0).fit(x)
    assert np.allclose(
        own.fit(x).score_samples(x) - np.log(2 * np.pi * 4),
        named.score_samples(x),
    )


@pytest.mark.parametrize("weights", [None, np.ones(9)])
def test_a_negative_density_has_no_logarithm(weights, random):
    x = random.random((9, 2))
    model = KernelDensity(kernel="9 - |x_i - y_j|").fit(x, None, weights)
    far = np.concatenate([x[:1], x[:2] + 9])
    with pytest.raises(ValueError, match="negative at 2 of 3 points"):
        model.score_samples(far)
    cure = KernelDensity(kernel="max(9 - |x_i - y_j|, 0)").fit(x, None, weights)
    found = cure.score_samples(far)
    assert np.isfinite(found[0])
    assert (found[1:] == -np.inf).all()


def test_no_density_of_a_name_rounds_below_0():
    width = 5.859986653010826
    near = np.nextafter(np.float32(width), np.float32(0))
    model = KernelDensity(kernel="cosine", bandwidth=width)
    model.fit(np.zeros((1, 1), np.float32))
    assert model.score_samples(np.array([[near]])) == -np.inf


@pytest.mark.parametrize("kernel", ["tophat", "cosine", "|x_i - y_j| < h"])
def test_logarithms_have_the_dtype_of_the_points(kernel, random):
    for kind in ("float32", "float64"):
        x = random.random((9, 2)).astype(kind)
        found = KernelDensity(kernel=kernel).fit(x).score_samples(x)
        assert found.dtype == kind


def test_negative_weights_of_a_density_are_refused(random):
    with pytest.raises(ValueError, match="Negative values in data"):
        KernelDensity().fit(random.random((3, 2)), sample_weight=[1, -1, 1])


# ---- KMeans -----------------------------------------------------------------


def assert_same_means(ours, theirs):
    assert (ours.labels_ == theirs.labels_).all()
    assert np.isclose(ours.inertia_, theirs.inertia_, rtol=1e-10)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(
        ours.cluster_centers_, theirs.cluster_centers_, 1e-9, 1e-9
    )


def some_centers(x, n_clusters, random_state):
    return x[random_state.permutation(len(x))[:n_clusters]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("init", ["k-means++", "random", some_centers])
def test_means_are_those_of_scikit_learn(init, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(400, 3)) * [1, 2, 3] + 10
    weights = random.random(400) if seed % 2 else None
    arguments = {
        "n_clusters": int(random.integers(2, 14)),
        "init": init,
        "random_state": seed,
        "max_iter": 4 if seed == 3 else 300,
    }
    ours = KMeans(**arguments).fit(x, sample_weight=weights)
    theirs = reference.KMeans(**arguments).fit(x, sample_weight=weights)
    assert_same_means(ours, theirs)
    q = random.normal(size=(50, 3)) + 10
    assert (ours.predict(q) == theirs.predict(q)).all()
    np.testing.assert_allclose(ours.transform(q), theirs.transform(q), 1e-7)
    assert np.isclose(ours.score(q), theirs.score(q))


@pytest.mark.parametrize("seed", range(5))
def test_empty_clusters_are_filled_as_scikit_learn_does(seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(60, 2))
    far = np.full((4, 2), 50.0) + np.arange(4)[:, None]
    arguments = {"init": np.concatenate([x[:4], far]), "n_init": 1}
    ours, theirs = (
        kind(8, **arguments).fit(x) for kind in (KMeans, reference.KMeans)
    )
    assert_same_means(ours, theirs)


def test_fewer_points_than_clusters(random):
    x = np.repeat(random.random((3, 2)), 5, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"\(3\) found smaller"):
        model = KMeans(5, random_state=0).fit(x)
    assert model.inertia_ == pytest.approx(0, abs=1e-20)
    with pytest.raises(ValueError, match="n_samples=15 should be >="):
        KMeans(16).fit(x)


def test_single_precision_stays_single(random):
    x = random.random((500, 4), np.float32)
    model = KMeans(4, random_state=0).fit(x)
    assert model.cluster_centers_.dtype == np.float32
    assert model.transform(x).dtype == np.float32
    expected = reference.KMeans(4, random_state=0).fit(x)
    assert np.isclose(model.inertia_, expected.inertia_, rtol=1e-5)


def test_means_of_another_divergence(random):
    x = random.dirichlet(np.ones(4), 300)
    divergence = "sum(x_i*log(x_i/y_j) - x_i + y_j)"  # Kullback and Leibler
    model = KMeans(5, metric=divergence, random_state=0, tol=0).fit(x)
    c = model.cluster_centers_
    dense = (x[:, None] * np.log(x[:, None] / c) - x[:, None] + c).sum(-1)
    assert (model.labels_ == dense.argmin(1)).all()
    assert np.isclose(model.inertia_, dense.min(1).sum())
    for k in range(5):
        np.testing.assert_allclose(c[k], x[model.labels_ == k].mean(0), 1e-9)
    np.testing.assert_allclose(model.transform(x), dense, 1e-9, 1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"init": np.zeros((3, 2))}, "does not match the number of clusters"),
        ({"init": np.zeros((4, 3))}, "does not match the number of features"),
        ({"init": "kmeans"}, "'init' parameter of KMeans"),
        ({"metric": "manhatten"}, "unknown metric"),
    ],
)
def test_what_makes_no_means_is_refused(arguments, message, random):
    with pytest.raises(ValueError, match=message):
        KMeans(4, **arguments).fit(random.random((9, 2)))


def test_centers_that_are_given_start_once(random):
    x = random.random((30, 2))
    with pytest.warns(RuntimeWarning, match="performing only one init"):
        model = KMeans(3, init=x[:3], n_init=4).fit(x)
    assert_same_means(model, reference.KMeans(3, init=x[:3], n_init=1).fit(x))


# ---- KMedoids ---------------------------------------------------------------


def alternated(dense, weights, medoids):
    """Plain steps on a matrix of distances: medoids, labels, steps."""
    for step in range(1, 301):
        labels = dense[:, medoids].argmin(1)
        moved = medoids.copy()
        for k in np.unique(labels):
            own = np.flatnonzero(labels == k)
            cost = dense[np.ix_(own, own)] @ weights[own]
            moved[k] = own[cost.argmin()]
        if (moved == medoids).all():
            return medoids, labels, step
        medoids = moved
    raise AssertionError("no end")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("euclidean", "euclidean"),
        ("manhattan", "cityblock"),
        ("max(abs(x_i - y_j))", "chebyshev"),
        ("minkowski", "euclidean"),
    ],
)
def test_medoids_are_those_of_plain_steps(metric, name, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(200, 3))
    weights = random.random(200)
    start = random.permutation(200)[:5]
    model = KMedoids(5, metric=metric, init=start)
    model.fit(x, sample_weight=weights)
    dense = cdist(x, x, name)
    medoids, labels, steps = alternated(dense, weights, start)
    assert (model.medoid_indices_ == medoids).all()
    assert (model.labels_ == labels).all()
    assert model.n_iter_ == steps
    assert (model.cluster_centers_ == x[medoids]).all()
    inertia = (dense[:, medoids].min(1) * weights).sum()
    assert np.isclose(model.inertia_, inertia)
    q = random.normal(size=(9, 3))
    assert np.allclose(model.transform(q), cdist(q, x[medoids], name))
    assert (model.predict(q) == cdist(q, x[medoids], name).argmin(1)).all()


@pytest.mark.parametrize("init", ["k-medoids++", "random"])
def test_medoids_start_from_points_and_find_blobs(init):
    centers = [[0, 0], [0, 9], [9, 0], [9, 9], [18, 0], [18, 9]]
    x, y = make_blobs(600, centers=centers, random_state=1)
    inertia = [
        KMedoids(6, init=init, random_state=seed).fit(x).inertia_
        for seed in range(20)
    ]
    model = KMedoids(6, init=init, random_state=int(np.argmin(inertia)))
    labels = model.fit_predict(x)
    assert all(len(np.unique(labels[y == k])) == 1 for k in range(6))


def test_what_makes_no_medoids_is_refused(random):
    x = random.random((9, 2))
    for start in [0, 1, 2], [0, 1, 2, 9], [0, 1, 2, 0.5]:
        with pytest.raises(ValueError, match="init must be 4 numbers of"):
            KMedoids(4, init=start).fit(x)
    with pytest.raises(ValueError, match="n_samples=9 should be >="):
        KMedoids(10).fit(x)
    with pytest.warns(ConvergenceWarning, match="medoids still moved"):
        KMedoids(2, init=[0, 1], max_iter=1).fit(x)
    with pytest.warns(ConvergenceWarning, match="found smaller"):
        KMedoids(4, random_state=0).fit(np.ones((9, 2)))


# ---- MeanShift --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"bandwidth": 3.0},
        {"bandwidth": 2.0, "bin_seeding": True},
        {"bandwidth": 2.0, "bin_seeding": True, "min_bin_freq": 4},
        {"bandwidth": 2.0, "cluster_all": False, "bin_seeding": True},
        {"bandwidth": 2.0, "max_iter": 2},
        {"bandwidth": 2.0, "seeds": np.array([[0.0, 0], [5, 5], [99, 99]])},
    ],
    ids=str,
)
def test_modes_are_those_of_scikit_learn(arguments, seed):
    x, _ = make_blobs(200, 2, centers=3, cluster_std=1.5, random_state=seed)
    ours = MeanShift(**arguments).fit(x)
    theirs = reference.MeanShift(**arguments).fit(x)
    np.testing.assert_allclose(
        ours.cluster_centers_, theirs.cluster_centers_, 1e-9, 1e-9
    )
    assert (ours.labels_ == theirs.labels_).all()
    assert ours.n_iter_ == theirs.n_iter_
    q = np.random.default_rng(0).normal(size=(50, 2)) * 5
    assert (ours.predict(q) == theirs.predict(q)).all()


@pytest.mark.parametrize("kernel", ["gaussian", "exp(-|x_i - y_j|²/2l²)"])
def test_modes_of_a_smooth_density(kernel):
    x, y = make_blobs(300, 2, centers=3, cluster_std=0.8, random_state=4)
    model = MeanShift(bandwidth=1.0, kernel=kernel, cluster_all=False).fit(x)
    assert len(model.cluster_centers_) == 3
    # At a mode the weighted mean of the differences is 0.
    weights = np.exp(-cdist(model.cluster_centers_, x, "sqeuclidean") / 2)
    means = weights @ x / weights.sum(1, keepdims=True)
    assert abs(means - model.cluster_centers_).max() < 1e-2
    assert (np.diff(weights.sum(1)) <= 0).all()
    near = model.labels_ >= 0
    assert 0.2 < near.mean() < 1
    for label in range(3):
        assert len(np.unique(y[model.labels_ == label])) == 1


def test_seeds_without_points_are_refused(random):
    model = MeanShift(bandwidth=1.0, seeds=[[50.0, 50.0]])
    with pytest.raises(ValueError, match="No point was within bandwidth=1"):
        model.fit(random.random((9, 2)))
    with pytest.raises(ValueError, match="neither one of flat, gaussian"):
        MeanShift(bandwidth=1.0, kernel="flatt").fit(random.random((9, 2)))


# ---- scikit-learn's tools ---------------------------------------------------


def test_a_search_for_a_bandwidth_in_other_processes(random):
    x = random.normal(size=(150, 1))
    grid = {"bandwidth": [0.03, 0.3, 3.0], "kernel": ["gaussian"]}
    search = GridSearchCV(KernelDensity(), grid, n_jobs=2).fit(x)
    assert search.best_params_["bandwidth"] == 0.3


def test_weights_are_routed_and_frames_come_back():
    frame, _ = load_iris(return_X_y=True, as_frame=True)
    weights = np.linspace(0, 1, 150)
    with config_context(enable_metadata_routing=True):
        means = KMeans(3, random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = make_pipeline(scaler, means).set_output(transform="pandas")
        model.fit(frame, sample_weight=weights)
    scaled = StandardScaler().fit_transform(frame)
    alone = KMeans(3, random_state=0).fit(scaled, sample_weight=weights)
    assert (model[-1].labels_ == alone.labels_).all()
    made = model.transform(frame)
    assert list(made.columns) == ["kmeans0", "kmeans1", "kmeans2"]
    assert list(made.index) == list(frame.index)


def test_fitted_estimators_go_through_pickles(random):
    x = random.random((60, 3))
    for estimator in ESTIMATORS:
        fitted = clone(estimator).fit(x)
        again = pickle.loads(pickle.dumps(fitted))
        method = "predict" if hasattr(fitted, "predict") else "score_samples"
        one, other = (getattr(e, method)(x) for e in (fitted, again))
        assert one.tobytes() == other.tobytes()


def test_the_number_of_threads_changes_no_bit(random):
    x = random.random((500, 3))
    for kind, attribute in (
        (KMeans, "cluster_centers_"),
        (KMedoids, "medoid_indices_"),
    ):
        one, two = (
            getattr(kind(random_state=0, n_jobs=jobs).fit(x), attribute)
            for jobs in (1, 2)
        )
        assert one.tobytes() == two.tobytes()


def test_sparse_points_are_refused_as_scikit_learn_does(random):
    sparse = scipy.sparse.csr_matrix(random.random((9, 2)))
    for estimator in ESTIMATORS[::2]:
        with pytest.raises(TypeError, match="Sparse data was passed"):
            clone(estimator).fit(sparse)


@pytest.mark.sample(0.34)
@pytest.mark.parametrize(
    "work",
    [
        "KernelDensity().fit(points).score_samples(queries)",
        "KMeans(50, random_state=0, max_iter=3).fit(points)",
        "KMedoids(200, init=np.arange(200), max_iter=2).fit(points[:50_000])"
        " if len(points) > 9999 else KMedoids(2).fit(points)",
        "MeanShift(bandwidth=0.2, seeds=queries[:500]).fit(points)",
    ],
    ids=["density", "means", "medoids", "modes"],
)
def test_memory_is_that_of_the_result(work):
    assert sklearn_cases.megabytes(work) < 200
