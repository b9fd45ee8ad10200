# tests/python/test_dask_systems.py - linear systems over Dask's arrays.
"""Solves and log-determinants whose products go over chunks of points."""

import numpy as np
import pytest

import tilefold

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import tilefold.dask  # noqa: E402
import tilefold.dask_solve  # noqa: E402

RNG = np.random.default_rng(9)
X = RNG.standard_normal((700, 2))
B = RNG.standard_normal((700, 3))
B[:, 1] = 0  # a column that is solved at once
GAUSSIAN = "exp(-|x_i - x_j|²)"


@pytest.fixture(autouse=True)
def _in_order():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(x, rows=300):
    return da.from_array(x, chunks=(rows, -1))


def gaussian(x):
    return np.exp(-((x[:, None] - x) ** 2).sum(-1))


@pytest.mark.parametrize("preconditioner", ["auto", "nystrom", None])
def test_preconditioned_systems(preconditioner):
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(X))
    x, info = K.solve(
        B, ridge=0.1, rtol=1e-9, preconditioner=preconditioner, info=True
    )
    assert isinstance(x, da.Array)
    want = np.linalg.solve(gaussian(X) + 0.1 * np.eye(700), B)
    np.testing.assert_allclose(x.compute(), want, atol=1e-6)
    assert info.converged
    assert info.residuals.shape == (3,)
    if preconditioner is None:
        assert info.rank == 0
        assert info.iterations > 40
    else:
        assert 50 <= info.rank <= 100
        assert info.iterations < 20


def test_ranks_and_sides_in_chunks():
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(X))
    side = da.from_array(B[:, 0], chunks=250)
    x, info = K.solve(side, ridge=0.1, rank=20, info=True)
    assert info.rank == 20
    assert x.chunks == side.chunks
    want = np.linalg.solve(gaussian(X) + 0.1 * np.eye(700), B[:, 0])
    np.testing.assert_allclose(x.compute(), want, atol=1e-4)
    # Without a ridge the shift is what the rows leave of the diagonal.
    near = X[:80, :1]
    K = tilefold.dask.kernel("exp(-|x_i - x_j|)", x=chunked(near, 50))
    _, plain = K.solve(B[:80, 0], preconditioner=None, info=True)
    x, info = K.solve(B[:80, 0], preconditioner="nystrom", info=True)
    assert info.converged
    assert info.iterations < plain.iterations / 2
    left = np.exp(-abs(near - near.T)) @ x.compute() - B[:80, 0]
    assert np.linalg.norm(left) < 1e-5 * np.linalg.norm(B[:80, 0])


@pytest.mark.parametrize("method", ["minres", "auto"])
def test_indefinite_systems(method):
    x = X[:60]
    K = tilefold.dask.kernel("|x_i - x_j|", x=chunked(x, 25))
    matrix = np.sqrt(((x[:, None] - x) ** 2).sum(-1)) + 0.5 * np.eye(60)
    assert np.linalg.eigvalsh(matrix)[0] < 0
    found, info = K.solve(
        B[:60], ridge=0.5, rtol=1e-10, method=method, info=True
    )
    assert info.converged
    want = np.linalg.solve(matrix, B[:60])
    np.testing.assert_allclose(found.compute(), want, atol=1e-7)


def test_minimal_residuals_take_any_ridge():
    x = X[:60]
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(x, 25))
    found = K.solve(B[:60, 0], ridge=-0.3, rtol=1e-10, method="minres")
    want = np.linalg.solve(gaussian(x) - 0.3 * np.eye(60), B[:60, 0])
    np.testing.assert_allclose(found.compute(), want, atol=1e-6)
    with pytest.warns(tilefold.ConvergenceWarning, match="after 4 iterations"):
        K.solve(B[:60, 0], ridge=-0.3, method="minres", maxiter=4)


HERMITIAN = "exp(im*(x_i[0] - x_j[0]))*exp(-|x_i - x_j|²)"


def hermitian(x):
    return np.exp(1j * (x[:, None, 0] - x[:, 0])) * gaussian(x)


@pytest.mark.parametrize("method", ["cg", "minres"])
@pytest.mark.parametrize("text", [GAUSSIAN, HERMITIAN])
@pytest.mark.parametrize("form", ["upright", "transposed"])
def test_complex_systems(text, method, form):
    x = X[:100]
    K = tilefold.dask.kernel(text, x=chunked(x, 60))
    matrix = gaussian(x) if text == GAUSSIAN else hermitian(x)
    if form == "transposed":
        K, matrix = K.T, matrix.T
    side = B[:100] + 1j * B[100:200]
    found, info = K.solve(side, ridge=0.5, rtol=1e-10, method=method, info=True)
    assert found.dtype == np.complex128
    assert info.converged
    want = np.linalg.solve(matrix + 0.5 * np.eye(100), side)
    np.testing.assert_allclose(found.compute(), want, atol=1e-8)


def test_hermitian_preconditioners_and_determinants():
    K = tilefold.dask.kernel(HERMITIAN, x=chunked(X))
    matrix = hermitian(X) + 0.1 * np.eye(700)
    found, info = K.solve(B[:, 0], ridge=0.1, rtol=1e-9, info=True)
    assert info.rank > 0
    assert info.iterations < 20
    want = np.linalg.solve(matrix, B[:, 0])
    np.testing.assert_allclose(found.compute(), want, atol=1e-6)
    quadratic, value = K.inv_quad_logdet(
        B[:, 0], logdet=True, ridge=0.1, rtol=1e-9
    )
    np.testing.assert_allclose(quadratic, (B[:, 0] @ want).real, rtol=1e-6)
    np.testing.assert_allclose(value, np.linalg.slogdet(matrix)[1])
    x = RNG.standard_normal((1100, 2))
    K = tilefold.dask.kernel(HERMITIAN, x=chunked(x, 600))
    truth = np.linalg.slogdet(hermitian(x) + 0.1 * np.eye(1100))[1]
    for preconditioner in ("auto", None):
        value, info = K.logdet(
            ridge=0.1, preconditioner=preconditioner, info=True
        )
        assert not info.exact
        assert abs(value - truth) < 4 * info.error < 0.05 * abs(truth)


def test_systems_of_float32():
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(X.astype("f4")))
    x, info = K.solve(B[:, 0].astype("f4"), ridge=0.1, rtol=1e-4, info=True)
    assert x.dtype == np.float32
    assert info.converged
    assert info.rank > 0
    want = np.linalg.solve(gaussian(X) + 0.1 * np.eye(700), B[:, 0])
    np.testing.assert_allclose(x.compute(), want, atol=1e-3)


def test_small_matrices_are_factored():
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(X))
    matrix = gaussian(X) + 0.1 * np.eye(700)
    value, info = K.logdet(ridge=0.1, info=True)
    assert info.exact
    np.testing.assert_allclose(value, np.linalg.slogdet(matrix)[1])
    quadratic, value = K.inv_quad_logdet(
        B, logdet=True, reduce_inv_quad=False, ridge=0.1, rtol=1e-10
    )
    want = (B * np.linalg.solve(matrix, B)).sum(0)
    np.testing.assert_allclose(quadratic, want, rtol=1e-6)
    np.testing.assert_allclose(value, np.linalg.slogdet(matrix)[1])
    K = tilefold.dask.kernel("|x_i - x_j|", x=chunked(X))
    with pytest.warns(tilefold.ConvergenceWarning, match="not positive"):
        assert np.isnan(K.logdet())


@pytest.mark.parametrize("preconditioner", ["auto", None])
def test_log_determinants_are_estimated(preconditioner):
    x = RNG.standard_normal((2100, 2))
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(x, 800))
    truth = np.linalg.slogdet(gaussian(x) + 0.1 * np.eye(2100))[1]
    settings = {"ridge": 0.1, "preconditioner": preconditioner}
    value, info = K.logdet(**settings, info=True)
    assert not info.exact
    assert 0 < info.error < 0.02 * abs(truth)
    assert abs(value - truth) < 4 * info.error
    assert (info.rank > 0) == (preconditioner == "auto")
    assert K.logdet(**settings) == value
    if preconditioner is None:
        assert K.logdet(**settings, seed=1) != value


def test_log_determinants_that_are_not_there():
    x = RNG.standard_normal((2100, 2))
    K = tilefold.dask.kernel("-|x_i - x_j|", x=chunked(x, 1100))
    with pytest.warns(tilefold.ConvergenceWarning, match="not positive"):
        assert np.isnan(K.logdet(probes=4, preconditioner=None))
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(x, 1100))
    with pytest.warns(tilefold.ConvergenceWarning, match="raise maxiter"):
        K.logdet(ridge=1e-4, maxiter=3, preconditioner=None)


def lazy():
    return tilefold.dask.kernel(GAUSSIAN, x=chunked(X))


REFUSALS = {
    "a preconditioner": (
        lambda: lazy().solve(B, preconditioner="cholesky"),
        "pass 'auto', 'nystrom'",
    ),
    "another preconditioner": (
        lambda: lazy().logdet(preconditioner="cholesky"),
        "pass 'auto', 'nystrom'",
    ),
    "a method": (lambda: lazy().solve(B, method="lu"), "pass 'cg'"),
    "a ridge": (lambda: lazy().solve(B, ridge=-1.0), "method='minres'"),
    "no ridge": (
        lambda: lazy().solve(B, ridge=np.nan, method="minres"),
        "finite",
    ),
    "a negative ridge": (lambda: lazy().logdet(ridge=-1.0), "0 or above"),
    "a tolerance": (lambda: lazy().solve(B, rtol=0), "above 0"),
    "iterations": (lambda: lazy().solve(B, maxiter=0), "1 or above"),
    "a rank": (lambda: lazy().solve(B, rank=0), "1 or above"),
    "probes": (lambda: lazy().logdet(probes=1), "2 or above"),
    "a kernel that is not square": (
        lambda: tilefold.dask.kernel(
            "exp(-|x_i - y_j|²)", x=chunked(X), y=X[:9]
        ).solve(B),
        r"pass a kernel of shape \(N, N\)",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    run, message = REFUSALS[case]
    with pytest.raises(tilefold.Error, match=message):
        run()


def test_graphs_of_iterations_do_not_grow(monkeypatch):
    """What an iteration computes is not computed again by later ones."""
    sizes = []
    persist = tilefold.dask_solve.persist

    def told(*arrays):
        sizes.append(sum(len(a.__dask_graph__()) for a in arrays))
        return persist(*arrays)

    monkeypatch.setattr(tilefold.dask_solve, "persist", told)
    K = tilefold.dask.kernel(GAUSSIAN, x=chunked(X[:90], 50))
    for method in ("cg", "minres"):
        sizes.clear()
        with pytest.warns(tilefold.ConvergenceWarning):
            K.solve(B[:90], ridge=1e-9, rtol=1e-15, maxiter=12, method=method)
        assert max(sizes[13:]) <= max(sizes[:13])


def test_solutions_are_numbers_of_the_wider_dtype():
    """Of truths, and of float32 beside float64, as in memory."""
    labels = np.array([0, 1, 0, 1])
    b = np.array([1.0, 2.0, 1.0, 2.0])
    for text, x in (("x_i == x_j", labels), ("exp(-|x_i - x_j|)", X[:4])):
        x = x.astype(np.float32) if x.ndim == 2 else x
        expected = tilefold.kernel(text, x=x).solve(b, 0.5)
        lazy = tilefold.dask.kernel(text, x=da.from_array(x, chunks=2))
        found = lazy.solve(b, 0.5).compute()
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5)
