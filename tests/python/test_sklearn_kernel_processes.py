# tests/python/test_sklearn_kernel_processes.py - Gaussian processes of
# scikit-learn with formulas.
"""`FormulaKernel` and `GaussianProcessRegressor`, beside scikit-learn's."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import gaussian_process as theirs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

import tilefold
from tilefold.sklearn import (
    FormulaKernel,
    GaussianProcessRegressor,
    KernelRidge,
)
from tilefold.sklearn.covariance import read_covariance

SCALES = np.array([0.5, 1.0, 2.0])


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(7)
    x = random.random((400, 3))
    y = np.sin(5 * x).sum(1) + 0.2 * random.standard_normal(400)
    return x, y, random.random((40, 3))


def gaussian(v=2.0, l=0.4):
    return FormulaKernel("v*exp(-|x_i - y_j|²/2l²)", v=v, l=l)


# ---- a kernel of a formula ---------------------------------------------------

PAIRS = {
    "gaussian": (gaussian(), ConstantKernel(2.0) * RBF(0.4)),
    "ARD": (
        FormulaKernel("exp(-|(x_i - y_j)/l|²/2)", l=SCALES),
        RBF(SCALES),
    ),
    "list": (
        FormulaKernel("exp(-|(x_i - y_j)/l|²/2)", l=(0.5, 1.0, 2.0)),
        RBF(SCALES),
    ),
    "catalogue": (FormulaKernel("matern32", l=0.3), Matern(0.3, nu=1.5)),
    "other names": (
        FormulaKernel("s² + u_i·v_j", s=0.3),
        DotProduct(0.3),
    ),
    "greek": (
        FormulaKernel(
            "(1 + |x_i - y_j|²/(2α*l²))^(-α)", alpha=1.5, l=(0.4, "fixed")
        ),
        RationalQuadratic(0.4, 1.5, length_scale_bounds="fixed"),
    ),
    "sum": (
        gaussian() + FormulaKernel("matern32", l=0.3),
        ConstantKernel(2.0) * RBF(0.4) + Matern(0.3, nu=1.5),
    ),
    "product": (
        gaussian() * FormulaKernel("exp(-|(u_i - v_j)/l|²/2)", l=SCALES),
        ConstantKernel(2.0) * RBF(0.4) * RBF(SCALES),
    ),
    "with theirs": (
        3.0 * FormulaKernel("matern32", l=0.3) ** 2 + WhiteKernel(0.1),
        ConstantKernel(3.0) * Matern(0.3, nu=1.5) ** 2 + WhiteKernel(0.1),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_formula_is_the_kernel_that_it_spells(name, data):
    x, _, points = data
    ours, right = PAIRS[name]
    assert np.allclose(np.sort(ours.theta), np.sort(right.theta))
    order = np.argsort(ours.theta, kind="stable")
    right_order = np.argsort(right.theta, kind="stable")
    values, slopes = ours(x, eval_gradient=True)
    expected, right_slopes = right(x, eval_gradient=True)
    assert abs(values - expected).max() < 1e-12
    assert slopes.shape == right_slopes.shape
    difference = slopes[..., order] - right_slopes[..., right_order]
    assert abs(difference).max() < 1e-12
    assert abs(ours(x, points) - right(x, points)).max() < 1e-12
    assert abs(ours.diag(x) - right.diag(x)).max() < 1e-12


def test_sums_and_products_of_formulas_are_one_formula(data):
    x, _, points = data
    joined = gaussian() * FormulaKernel("matern32", l=0.3) + gaussian(v=0.5)
    assert isinstance(joined, FormulaKernel)
    assert list(joined.get_params())[1::2] == ["v", "l", "l2", "v2", "l3"]
    assert joined.lazy(x, points).shape == (400, 40)
    assert (joined.lazy(x, points).dense() == joined(x, points)).all()


def test_theta_is_the_logarithm_of_what_is_learned():
    kernel = FormulaKernel(
        "v*exp(-|(x_i - y_j)/l|²/2) + c",
        l=(SCALES, (0.1, 10)),
        v=(3.0, "fixed"),
        c=(0.0, "fixed"),
    )
    assert np.allclose(kernel.theta, np.log(SCALES))
    assert kernel.bounds.shape == (3, 2)
    assert np.allclose(kernel.bounds[0], np.log([0.1, 10]))
    moved = kernel.clone_with_theta(np.log([1.0, 2.0, 4.0]))
    assert np.allclose(moved.l, [1, 2, 4])
    assert moved.v == 3.0
    assert moved.n_dims == 3
    assert kernel != moved
    assert (kernel.l == SCALES).all()


def test_a_kernel_is_cloned_compared_pickled_and_shown():
    kernel = gaussian()
    for again in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert again == kernel
        assert again is not kernel
        assert repr(again) == repr(kernel)
    assert repr(kernel) == (
        "FormulaKernel('v*exp(-|x_i - y_j|²/2l²)', v=2., l=0.4)"
    )
    assert eval(repr(kernel)) == kernel
    assert kernel != gaussian(v=2.1)
    assert kernel != RBF()
    assert kernel.set_params(v=3.0, l_bounds=(0.1, 1.0)).v == 3.0
    assert np.allclose(kernel.bounds[1], np.log([0.1, 1.0]))
    assert not kernel.is_stationary()


WAVE = FormulaKernel("exp(im*(x_i·y_j))")
REFUSALS = {
    "no value": (lambda: FormulaKernel("matern32"), "pass a value, as in l"),
    "no name": (lambda: FormulaKernel("x_i·y_j", l=1.0), "no hyperparameter"),
    "no kernel": (lambda: FormulaKernel("sum_j x_i·y_j"), "is no kernel"),
    "bounds": (
        lambda: FormulaKernel("matern32", l=(1.0, "fix")),
        "bounds are a pair",
    ),
    "sign": (
        lambda: FormulaKernel("x_i·y_j + c", c=0.0).theta,
        "cannot be learned",
    ),
    "matrix": (
        lambda: FormulaKernel("x_i·(A @ y_j)", A=np.eye(3)).theta,
        "cannot be learned",
    ),
    "parameter": (
        lambda: gaussian().set_params(k=1.0),
        "Invalid parameter 'k'",
    ),
    "gradient": (
        lambda: gaussian()(np.eye(3), np.eye(3), eval_gradient=True),
        "when Y is None",
    ),
    "complex": (lambda: WAVE(np.eye(3)), "complex where a real number"),
    "complex diagonal": (
        lambda: WAVE.diag(np.eye(3)),
        "complex where a real number",
    ),
    "complex process": (
        lambda: GaussianProcessRegressor(WAVE, direct_below=0).fit(
            np.eye(3), np.ones(3)
        ),
        "complex where a real number",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_no_covariance_is_refused(case):
    act, message = REFUSALS[case]
    with pytest.raises(ValueError, match=message):
        act()


def test_what_is_true_or_not_is_1_or_0(data):
    x, y, points = data
    near = FormulaKernel("|x_i - y_j| < l", l=(0.5, "fixed"))
    ones = FormulaKernel("where(|x_i - y_j| < l, 1, 0)", l=(0.5, "fixed"))
    assert near(x).dtype == np.float64
    assert (near(x, points) == ones(x, points)).all()
    assert (near.diag(x) == 1).all()
    assert near(x, eval_gradient=True)[1].shape == (400, 400, 0)
    found = [
        GaussianProcessRegressor(k, alpha=99, direct_below=below, tol=1e-8)
        .fit(x, y)
        .predict(points)
        for k in (near, ones)
        for below in (0, 2000)
    ]
    assert np.allclose(found, found[-1], atol=1e-6)


def test_a_matrix_may_be_fixed(data):
    x, _, _ = data
    matrix = np.diag(SCALES)
    kernel = FormulaKernel("x_i·(A @ y_j)", A=(matrix, "fixed"))
    assert kernel.n_dims == 0
    assert np.allclose(kernel(x), x @ matrix @ x.T)


def test_the_optimum_is_that_of_rbf(data):
    x, y, points = data
    x, y = x[:120], y[:120]
    ours = theirs.GaussianProcessRegressor(gaussian(1.0) + WhiteKernel(0.1))
    right = theirs.GaussianProcessRegressor(
        ConstantKernel(1.0) * RBF(0.4) + WhiteKernel(0.1)
    )
    ours.fit(x, y), right.fit(x, y)
    assert np.allclose(ours.kernel_.theta, right.kernel_.theta, atol=1e-4)
    assert np.allclose(ours.predict(points), right.predict(points), atol=1e-5)


def test_classifiers_of_scikit_learn_take_formulas(data):
    x, y, points = data
    x = x[:100]
    labels = np.digitize(y[:100], [1.0, 2.0])
    for target in (labels > 0, labels):
        ours = theirs.GaussianProcessClassifier(gaussian(1.0))
        right = theirs.GaussianProcessClassifier(ConstantKernel(1.0) * RBF(0.4))
        ours.fit(x, target), right.fit(x, target)
        assert np.allclose(
            ours.predict_proba(points), right.predict_proba(points), atol=1e-4
        )


# ---- a tree of kernels as a formula ------------------------------------------

TREES = [
    ConstantKernel(2.0) * RBF(0.5) + WhiteKernel(0.3),
    Matern(0.7, nu=1.5) * RationalQuadratic(0.4, 1.5),
    (ExpSineSquared(0.8, 1.3) + DotProduct(0.4)) ** 2,
    (RBF(0.4) + WhiteKernel(0.2)) ** 3
    + ConstantKernel(0.3) * (Matern(0.3, nu=0.5) + WhiteKernel(0.1)),
    gaussian() * WhiteKernel(0.3) + Matern(SCALES, nu=2.5),
    Matern(0.3, nu=np.inf) + WhiteKernel(0.1) ** 2 * WhiteKernel(0.2),
    (RBF(0.4) + WhiteKernel(0.2)) ** 1.23456789 + RBF(2.0) ** 12.3456789,
    PairwiseKernel(0.4, metric="laplacian")
    + PairwiseKernel(
        0.5, metric="poly", pairwise_kernels_kwargs={"degree": 2, "coef0": 0.5}
    ),
]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_a_tree_of_kernels_is_a_formula_and_noise(tree, data):
    x, _, points = data
    read = read_covariance(tree)
    given = {**read.values(tree), "x": x, "y": points}
    values = tilefold.kernel(read.smooth, given).dense()
    assert abs(values - tree(x, points)).max() < 1e-12
    values = tilefold.kernel(read.smooth, {**given, "y": x}).dense()
    noise = tree(x) - values
    assert abs(noise - np.diag(np.diag(noise))).max() < 1e-12
    if read.noise is None:
        assert abs(np.diag(noise)).max() < 1e-12
        return
    given = read.values(tree, read.noise)
    formula = tilefold.compile(read.noise)
    axes = [name for name, places in formula.names if places]
    if axes:
        given |= dict.fromkeys(axes, x)
        assert np.allclose(
            tilefold.kernel(formula, given).diag(), np.diag(noise), atol=1e-12
        )
    else:
        assert np.allclose(formula(given), np.diag(noise), atol=1e-12)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (WhiteKernel(), "no function of two points"),
        (ConstantKernel() + WhiteKernel(), "no function of two points"),
        (Matern(nu=0.8), "direct_below"),
        (CompoundKernel([RBF(), RBF()]), "direct_below"),
        (PairwiseKernel(metric="cosine") * RBF(), None),
    ],
    ids=str,
)
def test_a_tree_without_a_formula_is_refused(tree, message):
    if message is None:
        assert read_covariance(tree).noise is None
        return
    with pytest.raises(ValueError, match=message):
        read_covariance(tree)


# ---- regression --------------------------------------------------------------


def test_few_points_are_those_of_scikit_learn(data):
    x, y, points = data
    x, y = x[:100], y[:100]
    kernel = ConstantKernel(1.0) * RBF(0.4) + WhiteKernel(0.1)
    right = theirs.GaussianProcessRegressor(kernel, normalize_y=True).fit(x, y)
    found = GaussianProcessRegressor(kernel, normalize_y=True).fit(x, y)
    assert found.lml_error_ == 0
    assert (found.kernel_.theta == right.kernel_.theta).all()
    for ours, expected in zip(
        found.predict(points, return_std=True),
        right.predict(points, return_std=True),
        strict=True,
    ):
        assert abs(ours - expected).max() < 1e-8


NOISY = {
    "number": (WhiteKernel(0.1), 1e-10),
    "each point": (WhiteKernel(0.05), np.linspace(0.01, 0.2, 400)),
    "of the points": (WhiteKernel(0.1) * DotProduct(1.0), 0.02),
}


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("noise", NOISY)
def test_many_points_are_those_of_scikit_learn(noise, targets, data):
    x, y, points = data
    if targets == 2:
        y = np.stack([y, 3 * y**2 - 1], 1)
    white, alpha = NOISY[noise]
    given = {"alpha": alpha, "optimizer": None, "normalize_y": True}
    right = theirs.GaussianProcessRegressor(
        ConstantKernel(1.0) * RBF(0.4) + white, **given
    ).fit(x, y)
    found = GaussianProcessRegressor(
        gaussian(1.0) + white,
        **given,
        direct_below=0,
        tol=1e-9,
        probes=200,
        random_state=0,
    ).fit(x, y)
    assert abs(found.predict(points) - right.predict(points)).max() < 1e-6
    for kind in ("return_std", "return_cov"):
        mean, spread = found.predict(points, **{kind: True})
        expected = right.predict(points, **{kind: True})
        assert mean.shape == expected[0].shape
        assert spread.shape == expected[1].shape
        assert abs(spread - expected[1]).max() < 1e-6
    value = right.log_marginal_likelihood_value_
    assert abs(found.log_marginal_likelihood_value_ - value) < 1e-5 * abs(value)
    theta = found.kernel_.theta
    value, slope = found.log_marginal_likelihood(theta, eval_gradient=True)
    expected, right_slope = right.log_marginal_likelihood(
        theta, eval_gradient=True
    )
    assert abs(value - expected) < 1e-5 * abs(expected)
    assert abs(slope - right_slope).max() < 0.05 * abs(right_slope).max()


def test_the_gradient_is_that_of_the_matrix_for_exact_traces(data):
    x, y, _ = data
    kernel = FormulaKernel("exp(-|(x_i - y_j)/l|²/2)", l=(SCALES, (0.1, 9)))
    kernel = 2.0 * kernel + WhiteKernel(0.3) * DotProduct(0.5)
    found = GaussianProcessRegressor(
        kernel,
        optimizer=None,
        direct_below=0,
        tol=1e-10,
        random_state=0,
        probes=4000,
    ).fit(x[:60], y[:60])
    right = theirs.GaussianProcessRegressor(kernel, optimizer=None)
    right.fit(x[:60], y[:60])
    _, slope = found.log_marginal_likelihood(kernel.theta, True)
    _, expected = right.log_marginal_likelihood(kernel.theta, True)
    assert slope.shape == (6,)
    assert abs(slope - expected).max() < 0.02 * abs(expected).max()


@pytest.fixture(scope="module")
def many():
    random = np.random.default_rng(3)
    x = random.random((2200, 2))
    y = np.sin(9 * x).sum(1) + 0.3 * random.standard_normal(2200)
    return x, y


def test_the_likelihood_is_estimated_with_its_error(many):
    x, y = many
    kernel = gaussian(1.0, 0.3) + WhiteKernel(0.1)
    found = GaussianProcessRegressor(
        kernel, optimizer=None, direct_below=0, random_state=1, tol=1e-6
    ).fit(x, y)
    matrix = kernel(x)
    sign, logdet = np.linalg.slogdet(matrix)
    value = -0.5 * (
        y @ np.linalg.solve(matrix, y) + logdet + len(y) * np.log(2 * np.pi)
    )
    assert sign == 1
    assert 0 < found.lml_error_ < 0.01 * abs(value)
    error = abs(found.log_marginal_likelihood_value_ - value)
    assert error < 5 * found.lml_error_


def test_learning_of_many_points_is_the_same_for_a_seed(many):
    x, y = many
    kernel = gaussian((1.0, "fixed"), (0.3, "fixed")) + WhiteKernel(0.1)
    models = [
        GaussianProcessRegressor(kernel, random_state=2).fit(x, y)
        for _ in range(2)
    ]
    assert not hasattr(models[0], "L_")
    assert (models[0].kernel_.theta == models[1].kernel_.theta).all()
    assert (models[0].predict(x[:9]) == models[1].predict(x[:9])).all()
    again = pickle.loads(pickle.dumps(models[0]))
    assert (again.predict(x[:9]) == models[0].predict(x[:9])).all()
    noise = models[0].kernel_.k2.noise_level
    assert 0.07 < noise < 0.11  # 0.3²


def test_samples_restarts_and_the_prior(data):
    x, y, points = data
    x, y = x[:150], y[:150]
    kernel = gaussian(1.0, (0.4, (0.1, 2.0))) + WhiteKernel(0.1, (0.01, 1))
    model = GaussianProcessRegressor(
        kernel, direct_below=0, random_state=0, n_restarts_optimizer=1
    )
    assert (model.predict(points) == 0).all()
    assert model.sample_y(points, 2).shape == (40, 2)
    model.kernel.k1.v_bounds = (0.1, 10.0)
    model.fit(x, y)
    assert model.sample_y(points, 3, random_state=1).shape == (40, 3)
    assert model.score(x, y) > 0.8
    assert (
        model.log_marginal_likelihood() == model.log_marginal_likelihood_value_
    )


def test_an_alpha_that_is_set_after_a_fit_changes_nothing(data):
    x, y, points = data
    alpha = np.full(len(x), 0.01)
    model = GaussianProcessRegressor(
        gaussian(), alpha=alpha, optimizer=None, direct_below=0, random_state=0
    ).fit(x, y)
    mean, deviations = model.predict(points, return_std=True)
    theta = model.kernel_.theta
    value = model.log_marginal_likelihood(theta)
    alpha[:] = 7.0
    for other in (alpha, 1.0):
        model.set_params(alpha=other)
        found = model.predict(points, return_std=True)
        assert (found[0] == mean).all()
        assert (found[1] == deviations).all()
        assert model.log_marginal_likelihood(theta) == value


def test_a_refit_has_the_attributes_of_its_own_way_alone(data):
    x, y, points = data
    given = {"alpha": 0.01, "optimizer": None, "direct_below": 30}
    given["random_state"] = 0
    sizes = (20, 100)
    right = [
        GaussianProcessRegressor(gaussian(), **given).fit(x[:n], y[:n])
        for n in sizes
    ]
    for order in ((0, 1), (1, 0)):
        model = GaussianProcessRegressor(gaussian(), **given)
        for which in order:
            n = sizes[which]
            model.fit(x[:n], y[:n])
            assert vars(model).keys() == vars(right[which]).keys()
            found = model.predict(points, return_std=True)
            expected = right[which].predict(points, return_std=True)
            assert np.array_equal(found, expected)
    assert hasattr(right[0], "L_")
    assert not hasattr(right[1], "L_")


@pytest.mark.parametrize("metric", ["chi2", "additive_chi2"])
def test_negative_points_are_refused_by_chi_squared_kernels(metric, data):
    x, y, points = data
    kernel = 2.0 * PairwiseKernel(1.0, metric=metric) + RBF() + WhiteKernel(9)
    for below in (0, 2000):
        model = GaussianProcessRegressor(
            kernel, alpha=400.0, optimizer=None, direct_below=below
        )
        with pytest.raises(ValueError, match="contains negative values"):
            model.fit(x - 0.5, y)
        model.fit(x, y)
        assert np.isfinite(model.predict(points, return_std=True)).all()
        for kinds in ({}, {"return_std": True}, {"return_cov": True}):
            with pytest.raises(ValueError, match="contains negative values"):
                model.predict(points - 0.5, **kinds)
    ridge = KernelRidge(kernel=PairwiseKernel(metric=metric))
    with pytest.raises(ValueError, match="contains negative values"):
        ridge.fit(x - 0.5, y)


def test_own_optimizers_and_default_kernels(data):
    x, y, points = data
    calls = []

    def optimizer(objective, theta, bounds):
        calls.append(bounds.shape)
        return theta, objective(theta, eval_gradient=False)

    found = GaussianProcessRegressor(
        alpha=0.1,
        optimizer=optimizer,
        direct_below=0,
        random_state=0,
        tol=1e-8,
    ).fit(x, y)
    right = theirs.GaussianProcessRegressor(alpha=0.1, optimizer=None)
    assert calls == [(2, 2)]
    assert np.allclose(
        found.predict(points), right.fit(x, y).predict(points), atol=1e-5
    )


def test_what_goes_wrong_is_said(data):
    x, y, points = data
    with pytest.raises(ValueError, match="n_targets"):
        GaussianProcessRegressor(gaussian(), n_targets=2, direct_below=0).fit(
            x, y
        )
    with pytest.raises(ValueError, match="alpha must be"):
        GaussianProcessRegressor(
            gaussian(), alpha=np.ones(3), direct_below=0
        ).fit(x, y)
    with pytest.raises(ValueError, match="direct_below"):
        GaussianProcessRegressor(Matern(nu=0.8), direct_below=0).fit(x, y)
    model = GaussianProcessRegressor(
        gaussian(), optimizer=None, alpha=1e-13, direct_below=0, tol=1e-12
    )
    with pytest.warns(ConvergenceWarning, match="GaussianProcessRegressor: "):
        model.fit(x, y)
    model = GaussianProcessRegressor(
        gaussian(), optimizer=None, alpha=0.1, direct_below=0
    ).fit(x, y)
    with pytest.raises(RuntimeError, match="At most one"):
        model.predict(points, return_std=True, return_cov=True)
    for text in ("-|x_i - y_j|", "tanh(x_i·y_j - 1)", "-a*exp(-|x_i - y_j|)"):
        values = {"a": 1.0} if "a*" in text else {}
        few, many = (
            GaussianProcessRegressor(
                FormulaKernel(text, **values),
                optimizer="fmin_l_bfgs_b" if values else None,
                direct_below=below,
                random_state=0,
            )
            for below in (2000, 0)
        )
        for one in (few, many):
            with pytest.raises(np.linalg.LinAlgError, match="positive defini"):
                one.fit(x, y)
    raised = GaussianProcessRegressor(
        FormulaKernel("-|x_i - y_j|"), optimizer=None, alpha=1e3, direct_below=0
    )
    assert np.isfinite(raised.fit(x, y).log_marginal_likelihood())
    indefinite = FormulaKernel("-exp(-|x_i - y_j|²/l)", l=1.0)
    model.kernel_, model._covariance = indefinite, read_covariance(indefinite)
    assert model.log_marginal_likelihood(np.zeros(1)) == -np.inf
