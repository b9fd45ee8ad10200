# tests/python/test_sklearn_kernel_answers.py - kernel machines give the
# answers of scikit-learn.
"""Ridge regression, Nystroem, spectral clusters, beside scikit-learn's."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn import cluster, kernel_approximation, kernel_ridge
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.inspection import permutation_importance
from sklearn.manifold._spectral_embedding import _spectral_embedding
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

import tilefold
from tilefold.sklearn import (
    KernelRidge,
    Nystroem,
    NystroemRidge,
    SpectralClustering,
)

WIDTH = 0.7


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(5)
    x = random.random((300, 4))
    y = np.stack([np.sin(5 * x).sum(1), x[:, 0] ** 2], 1)
    return x, y, random.random(300), random.random((60, 4))


def dense_gaussian(x, y):
    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
    return np.exp(-squares / (2 * WIDTH**2))


def named(kernel):
    """Parameters under which both libraries take a kernel by its name."""
    gamma = 0.8 if "chi2" in kernel else None
    return {"kernel": kernel, "gamma": gamma, "degree": 2, "coef0": 0.5}


# ---- ridge regression --------------------------------------------------------

DEFINITE = sorted(set(PAIRWISE_KERNEL_FUNCTIONS) - {"sigmoid", "additive_chi2"})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", DEFINITE)
def test_ridge_regression_by_a_name_is_that_of_scikit_learn(
    kernel, weighted, data
):
    x, y, weights, points = data
    weights = weights if weighted else None
    given = {"alpha": [0.1, 0.3], **named(kernel)}
    right = kernel_ridge.KernelRidge(**given).fit(x, y, weights)
    direct = KernelRidge(**given).fit(x, y, weights)
    assert direct.solver_ == "direct"
    scale = abs(right.dual_coef_).max()
    assert abs(direct.dual_coef_ - right.dual_coef_).max() < 1e-8 * scale
    assert abs(direct.predict(points) - right.predict(points)).max() < 1e-8
    by_products = KernelRidge(**given, direct_below=0, tol=1e-8)
    by_products.fit(x, y, weights)
    assert by_products.solver_ == "cg"
    assert by_products.n_iter_ > 0
    assert by_products.residual_ <= 1e-8
    found = by_products.predict(points)
    size = abs(right.predict(points)).max()
    assert abs(found - right.predict(points)).max() < 1e-6 * size


SPELLINGS = {
    "formula": ("exp(-|x_i - y_j|²/2l²)", {"l": WIDTH}),
    "other names": ("exp(-|u_i - v_j|²/(2σ²))", {"sigma": WIDTH}),
    "one name": ("exp(-|x_i - x_j|²/2l²)", {"l": WIDTH}),
    "bare points": ("exp(-|x-y|²/2l²)", {"l": WIDTH}),
    "head": ("k(u, v) = exp(-|u-v|²/s) with s = 2l²", {"l": WIDTH}),
    "catalogue": ("gaussian", {"l": WIDTH}),
    "vector": ("exp(-|(x_i - y_j)/l|²/2)", {"l": [WIDTH] * 4}),
    "function": (
        lambda a, b, l: np.exp(-((a - b) ** 2).sum() / (2 * l**2)),
        {"l": WIDTH},
    ),
    "closure": (
        lambda a, b: np.exp(-((a - b) ** 2).sum() / (2 * WIDTH**2)),
        None,
    ),
    "covariance": (RBF(WIDTH), None),
    "constructor": ("exp(-gamma*|x_i - y_j|²)", None),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_kernel_is_spelled_as_one_likes(spelling, data):
    x, y, _, points = data
    kernel, params = SPELLINGS[spelling]
    model = KernelRidge(
        0.1, kernel=kernel, kernel_params=params, gamma=0.5 / WIDTH**2
    )
    found = model.fit(x, y[:, 0]).predict(points)
    matrix = dense_gaussian(x, x) + 0.1 * np.eye(len(x))
    weights = np.linalg.solve(matrix, y[:, 0])
    assert found.shape == (60,)
    assert abs(found - dense_gaussian(points, x) @ weights).max() < 1e-9


def test_values_of_a_formula_come_before_the_constructor(data):
    x, y, _, _ = data
    formula = {"kernel": "exp(-gamma*|x_i - y_j|²)"}
    one = KernelRidge(**formula, gamma=9.0, kernel_params={"gamma": 2.0})
    two = KernelRidge(kernel="rbf", gamma=2.0, kernel_params={"gamma": 9.0})
    one.fit(x, y), two.fit(x, y)
    assert np.allclose(one.dual_coef_, two.dual_coef_, atol=1e-10)


def test_one_component_is_a_point(data):
    x, y, _, points = data
    kernel = {"kernel": "exp(-(x_i - y_j)²)"}
    found = KernelRidge(0.1, **kernel).fit(x[:, :1], y[:, 0])
    right = kernel_ridge.KernelRidge(0.1, kernel="rbf", gamma=1.0)
    right.fit(x[:, :1], y[:, 0])
    assert np.allclose(
        found.predict(points[:, :1]), right.predict(points[:, :1]), atol=1e-9
    )


def test_an_indefinite_kernel_goes_to_minres_and_says_so(data):
    x, y, _, points = data
    given = {"kernel": "sigmoid", "alpha": 0.01}
    with pytest.warns(UserWarning, match="Singular matrix"):
        right = kernel_ridge.KernelRidge(**given).fit(x, y)
    exact = KernelRidge(**given).fit(x, y)
    assert np.allclose(exact.predict(points), right.predict(points), atol=1e-8)
    model = KernelRidge(**given, direct_below=0, tol=1e-8, max_iter=3000)
    with pytest.warns(UserWarning, match="not positive definite.*minres"):
        model.fit(x, y)
    assert model.solver_ == "minres"
    assert model.residual_ <= 1e-8
    assert np.allclose(model.predict(points), right.predict(points), atol=1e-5)


def test_a_singular_matrix_is_solved_by_least_squares():
    x = np.ones((5, 2))
    y = np.arange(5.0)
    right = x @ x.T @ np.linalg.lstsq(x @ x.T, y)[0]
    with pytest.warns(UserWarning, match="Singular matrix"):
        found = KernelRidge(0).fit(x, y).predict(x)
    assert np.allclose(found, right)


def test_what_does_not_converge_says_so(data):
    x, y, _, _ = data
    stops = {"direct_below": 0, "max_iter": 1, "tol": 1e-12}
    model = KernelRidge(1e-6, kernel="rbf", gamma=3.0, **stops)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model.fit(x, y)
    assert model.n_iter_ == 1
    assert model.residual_ > 1e-12
    indefinite = KernelRidge(0.01, kernel="sigmoid", **stops | {"max_iter": 9})
    with (
        pytest.warns(UserWarning, match="is solved by solver='minres'"),
        pytest.warns(ConvergenceWarning, match="raise max_iter, alpha or tol"),
    ):
        indefinite.fit(x, y)
    forced = KernelRidge(0.01, kernel="sigmoid", solver="cg")
    with pytest.warns(ConvergenceWarning, match="solver='minres'"):
        forced.fit(x, y)
    with pytest.warns(ConvergenceWarning, match="n_components"):
        NystroemRidge(100, gamma=3.0, max_iter=1).fit(x, y)


REFUSALS = {
    "no kernel": ({"kernel": "foo"}, "is no kernel"),
    "no formula": ({"kernel": "exp(-|x_i"}, "is no formula"),
    "reduction": ({"kernel": "sum_j x_i·y_j"}, "without a reduction"),
    "numbers of points": ({"kernel": "x_i·y_j + (i == j)"}, "reads i or j"),
    "no value": ({"kernel": "exp(-|x_i - y_j|²/l)"}, "kernel_params={'l'"),
    "no name": (
        {"kernel": "x_i·y_j", "kernel_params": {"l": 1}},
        "kernel_params has 'l'",
    ),
    "vector": ({"kernel": "x_i - y_j"}, "no number for each pair"),
    "precomputed": ({"kernel": "precomputed"}, "has no formula"),
    "branch": (
        {"kernel": lambda a, b: 1.0 if a[0] > b[0] else 0.0},
        "cannot be read as a formula",
    ),
    "noise": ({"kernel": RBF() + WhiteKernel()}, "leave WhiteKernel away"),
    "Bessel": ({"kernel": Matern(nu=0.7)}, "has no formula here"),
    "penalties": ({"alpha": [1.0, 2.0, 3.0]}, "2 != 3"),
    "negative penalty": ({"alpha": [1.0, -2.0]}, "not be negative"),
    "chi2": ({"kernel": "chi2"}, "negative values"),
    "complex": ({"kernel": "exp(im*(x_i·y_j))"}, "complex where a real number"),
    "complex function": (
        {"kernel": lambda a, b: np.exp(1j * (a * b).sum(-1))},
        "complex where a real number",
    ),
    "complex value": (
        {"kernel": "exp(c*(x_i·y_j))", "kernel_params": {"c": 1j}},
        "complex where a real number",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_no_kernel_is_refused(case, data):
    x, y, _, _ = data
    given, message = REFUSALS[case]
    with pytest.raises(ValueError, match=message):
        KernelRidge(**given).fit(x - 0.5, y)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelRidge(direct_below=0),
        Nystroem(n_components=9),
        NystroemRidge(),
        SpectralClustering(2),
    ],
)
def test_no_machine_takes_a_complex_kernel(estimator, data):
    x, y, _, _ = data
    known = estimator.get_params()
    name = "kernel" if "kernel" in known else "affinity"
    wave = "exp(im*(x_i·y_j))"
    with pytest.raises(ValueError, match=r"take real\(…\), imag\(…\) or \|…\|"):
        estimator.set_params(**{name: wave}).fit(x, y)
    for cure in (f"real({wave})", f"|{wave}|"):
        KernelRidge(kernel=cure).fit(x, y)


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize(
    "estimator",
    [
        KernelRidge(300.0),
        KernelRidge(300.0, direct_below=0),
        Nystroem(n_components=1, random_state=0),
        NystroemRidge(1, 0.1, random_state=0),
        SpectralClustering(2, random_state=0),
    ],
    ids=["direct", "products", "features", "centres", "clusters"],
)
def test_what_is_true_or_not_is_1_or_0(estimator, kind, data):
    x, y, _, points = data
    x, points = x.astype(kind), points.astype(kind)
    name = "kernel" if "kernel" in estimator.get_params() else "affinity"
    found = []
    for kernel in ("|x_i - y_j| < 0.7", "where(|x_i - y_j| < 0.7, 1, 0)"):
        model = clone(estimator).set_params(**{name: kernel}).fit(x, y)
        if name == "affinity":
            found.append(model.labels_)
            continue
        method = "predict" if hasattr(model, "predict") else "transform"
        found.append(getattr(model, method)(points))
    assert name == "affinity" or found[0].dtype == kind
    assert np.allclose(*found, atol=1e-4)


def test_sparse_points_are_refused_by_scikit_learn(data):
    x, y, _, _ = data
    for estimator in (
        KernelRidge(),
        Nystroem(),
        NystroemRidge(),
        SpectralClustering(),
    ):
        with pytest.raises(TypeError, match="Sparse data was passed"):
            estimator.fit(scipy.sparse.csr_array(x), y)


def test_float32_stays_float32(data):
    x, y, _, points = data
    x, points = x.astype("f4"), points.astype("f4")
    for below in (0, 2000):
        model = KernelRidge(0.1, kernel="rbf", direct_below=below)
        model.fit(x, y)
        right = kernel_ridge.KernelRidge(0.1, kernel="rbf").fit(x, y)
        assert model.predict(points).dtype == np.float32
        assert np.allclose(
            model.predict(points), right.predict(points), atol=1e-3
        )


def test_threads_and_pickles_change_no_bit(data):
    x, y, _, points = data
    found = []
    for n_jobs in (1, 2, -1):
        model = KernelRidge(
            0.1, kernel="laplacian", direct_below=0, n_jobs=n_jobs
        ).fit(x, y)
        again = pickle.loads(pickle.dumps(model))
        found += [model.predict(points), again.predict(points)]
    assert all((found[0] == other).all() for other in found)


def test_fifty_shapes_are_one_kernel():
    session = tilefold.stats()
    random = np.random.default_rng(0)
    compiles = None
    for count in range(20, 70):
        x, y = random.random((count, 3)), random.random(count)
        model = KernelRidge(
            0.1,
            kernel="exp(-|x_i - y_j|²/c)",
            kernel_params={"c": count / 9},
            direct_below=0,
        )
        model.fit(x, y).predict(x[:7])
        session = tilefold.stats()
        if compiles is None:
            compiles = session.compiles
    assert session.compiles <= compiles + 2  # other loops for other sizes


# ---- some of the points ------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "cosine"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_features_are_those_of_scikit_learn(kernel, dtype, data):
    x, _, _, points = (np.asarray(part, dtype) for part in data)
    given = {"kernel": kernel, "n_components": 20, "random_state": 3}
    right = kernel_approximation.Nystroem(**given).fit(x)
    found = Nystroem(**given).fit(x)
    assert (found.component_indices_ == right.component_indices_).all()
    assert (found.components_ == right.components_).all()
    ours, theirs = found.transform(points), right.transform(points)
    assert ours.dtype == dtype
    tolerance = 1e-6 if dtype == "f8" else 2e-2
    products = theirs @ theirs.T
    assert abs(ours @ ours.T - products).max() < tolerance * abs(products).max()
    assert list(found.get_feature_names_out()[:2]) == ["nystroem0", "nystroem1"]


def test_more_features_than_points_are_all_of_them(data):
    x, _, _, _ = data
    with pytest.warns(UserWarning, match="all of them are taken"):
        found = Nystroem(n_components=500).fit(x)
    features = found.transform(x)
    right = np.exp(-((x[:, None] - x[None]) ** 2).sum(-1) / 4)
    assert np.allclose(features @ features.T, right, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_regression_on_centres_is_the_solution_of_its_equations(
    weighted, data
):
    x, y, weights, points = data
    model = NystroemRidge(
        40,
        alpha=1e-3,
        gamma=0.5 / WIDTH**2,
        random_state=1,
        max_iter=60,
        tol=1e-12,
    )
    model.fit(x, y, weights if weighted else None)
    w = weights if weighted else np.ones(len(x))
    centres = x[model.component_indices_]
    assert (centres == model.components_).all()
    cross, block = dense_gaussian(x, centres), dense_gaussian(centres, centres)
    matrix = cross.T @ (w[:, None] * cross) / w.sum() + 1e-3 * block
    right = np.linalg.solve(matrix, cross.T @ (w[:, None] * y) / w.sum())
    expected = dense_gaussian(points, centres) @ right
    assert abs(model.predict(points) - expected).max() < 1e-6
    assert model.residual_ <= 1e-12


def test_all_points_as_centres_are_kernel_ridge_regression(data):
    x, y, weights, points = data
    weights = np.where(weights > 0.3, weights, 0)
    some = NystroemRidge(alpha=1e-3, gamma=2.0, tol=1e-10, max_iter=50)
    some.fit(x, y, weights)
    assert len(some.components_) == (weights > 0).sum()
    all_ = KernelRidge(1e-3 * weights.sum(), kernel="rbf", gamma=2.0)
    right = all_.fit(x, y, weights).predict(points)
    assert abs(some.predict(points) - right).max() < 1e-7


# ---- clusters ----------------------------------------------------------------


@pytest.mark.parametrize("assign", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize("count", [200, 700])
def test_clusters_are_those_of_scikit_learn(assign, count):
    x, _ = make_blobs(count, centers=4, cluster_std=0.6, random_state=2)
    given = {"n_clusters": 4, "gamma": 0.5, "assign_labels": assign}
    right = cluster.SpectralClustering(**given, random_state=0).fit(x)
    found = SpectralClustering(**given, random_state=0).fit(x)
    assert adjusted_rand_score(right.labels_, found.labels_) == 1.0
    assert isinstance(found.affinity_matrix_, tilefold.Kernel)


def test_two_circles_are_two_clusters_by_a_formula():
    x, right = make_circles(800, factor=0.4, noise=0.04, random_state=0)
    found = SpectralClustering(
        2,
        affinity="exp(-|x_i - y_j|²/2l²)",
        kernel_params={"l": 0.12},
        random_state=0,
    ).fit_predict(x)
    assert adjusted_rand_score(found, right) == 1.0


def test_the_embedding_by_products_is_that_of_the_matrix(data):
    x = np.repeat(data[0], 2, axis=0) + np.tile([[0.0], [0.1]], (300, 4))
    model = SpectralClustering(3, gamma=4.0, random_state=0).fit(x)
    random = np.random.RandomState(0)
    maps = model._embedding(x, random)
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    affinity = np.exp(-4 * squares)
    right = _spectral_embedding(
        affinity, n_components=3, drop_first=False, random_state=random
    )
    assert np.allclose(abs(maps), abs(right), atol=1e-6)


def test_a_point_without_neighbours_is_no_obstacle():
    x = np.array([[0.0], [0.1], [0.2], [90.0]])
    found = SpectralClustering(2, gamma=5.0, random_state=0).fit_predict(x)
    assert len({*found[:3]}) == 1
    assert found[3] != found[0]


# ---- the tools of scikit-learn -----------------------------------------------


def test_tools_of_scikit_learn_take_the_estimators(data):
    x, y, _, _ = data
    model = KernelRidge(
        0.1, kernel="exp(-|x_i - y_j|/l)", kernel_params={"l": 1.0}
    )
    search = GridSearchCV(
        make_pipeline(StandardScaler(), model),
        {
            "kernelridge__alpha": [0.01, 1.0],
            "kernelridge__kernel_params": [{"l": 1.0}, {"l": 9.0}],
        },
        cv=2,
        n_jobs=2,
    ).fit(x, y[:, 0])
    alone = clone(search.best_estimator_).fit(x, y[:, 0])
    assert (alone.predict(x) == search.predict(x)).all()
    found = cross_val_predict(model, x, y, cv=3, n_jobs=2)
    alone = cross_val_predict(model, x, y, cv=3)
    assert np.allclose(found, alone, rtol=1e-10)
    importance = permutation_importance(
        model.fit(x, y[:, 1]), x, y[:, 1], n_repeats=2, random_state=0
    )
    assert importance.importances_mean.argmax() == 0


def test_features_have_names_and_frames(data):
    x, _, _, _ = data
    frame = pd.DataFrame(x, columns=list("abcd"))
    union = FeatureUnion(
        [("one", Nystroem(n_components=3)), ("two", Nystroem(n_components=2))]
    )
    made = union.set_output(transform="pandas").fit_transform(frame)
    assert list(made.columns)[2:4] == ["one__nystroem2", "two__nystroem0"]
    model = Nystroem(n_components=3).set_output(transform="polars").fit(frame)
    assert model.transform(frame).columns[0] == "nystroem0"
    assert list(model.feature_names_in_) == list("abcd")


def test_weights_are_routed(data):
    x, y, weights, _ = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = KernelRidge(0.1).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        found = cross_validate(
            model,
            x,
            y,
            params={"sample_weight": weights},
            cv=2,
            return_estimator=True,
        )
        right = KernelRidge(0.1).fit(x[150:], y[150:], weights[150:])
    assert np.allclose(found["estimator"][0].dual_coef_, right.dual_coef_)


# ---- memory ------------------------------------------------------------------

PEAK = """
import resource, sys
import numpy as np
from tilefold import sklearn as ours
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def run(count):
    x = np.random.default_rng(0).random((count, 4))
    y = np.sin(5*x).sum(1)
    {model}
run(600)
before = peak()
run({count})
print(peak() - before)
"""
MODELS = {
    "KernelRidge": (
        "ours.KernelRidge(1.0, kernel='rbf', gamma=2.0, direct_below=0,"
        " tol=1e-3).fit(x, y).predict(x)",
        12_000,
    ),
    "NystroemRidge": (
        "ours.NystroemRidge(200, 1e-3, gamma=2.0, tol=1e-2).fit(x, y)"
        ".predict(x)",
        40_000,
    ),
    "SpectralClustering": (
        "ours.SpectralClustering(2, gamma=30.0, n_init=1, eigen_tol=1e-1,"
        " assign_labels='cluster_qr').fit(x)",
        12_000,
    ),
    "GaussianProcessRegressor": (
        "ours.GaussianProcessRegressor(alpha=1.0, optimizer=None,"
        " direct_below=0, probes=2, lanczos=10, tol=1e-2, random_state=0)"
        ".fit(x, y).predict(x)",
        8_000,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_no_matrix_is_stored(name):
    model, count = MODELS[name]
    matrix = 8e-6 * count * min(count, 200 if "Nys" in name else count)
    found = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            PEAK.format(model=model, count=count),
        ],
        env=os.environ,
        check=True,
        capture_output=True,
        text=True,
    )
    assert float(found.stdout) < min(60, matrix / 2)
