# tests/python/test_asymmetric.py - systems and determinants of kernels that are
# not symmetric: no number, and a message that says so, in every face.
from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse.linalg
import torch

import tilefold
import tilefold.scipy
from test_solve import points, side, told
from tilefold.sklearn import KernelRidge

TEXT = "exp(-|x_i - x_j|²) - x_i[0]"
HERMITIAN_BUT_FOR = "exp(-|x_i - x_j|²) + im*x_i[0]"


@pytest.mark.parametrize("method", ["cg", "minres", "auto"])
@pytest.mark.parametrize("preconditioner", [None, "cholesky", "nystrom"])
@pytest.mark.parametrize("shape", [(200,), (200, 3)], ids=str)
def test_a_solve_says_that_the_matrix_is_not_symmetric(
    method, preconditioner, shape
):
    kernel = tilefold.kernel(TEXT, x=points(200))
    text, (_, info) = told(
        lambda: kernel.solve(
            side(shape), 1e-3, method=method, preconditioner=preconditioner,
            info=True,
        )
    )  # fmt: skip
    assert not info.converged
    assert text == (
        f"K.solve stopped after {info.iterations} iterations with a residual "
        f"of {info.residuals.max():.2g}: the matrix is not symmetric\n"
        "write a formula in which i and j may change places, as that of "
        "(K + K.T)/2 is, or solve by scipy.sparse.linalg.gmres("
        "tilefold.scipy.operator(K), b)"
    )


def test_the_cures_are_ones():
    kernel = tilefold.kernel(TEXT, x=points(60))
    b = side(60)
    operator = tilefold.scipy.operator(kernel)
    x, failed = scipy.sparse.linalg.gmres(operator, b, rtol=1e-10, restart=60)
    assert not failed
    np.testing.assert_allclose(kernel @ x, b, atol=1e-6)
    symmetric = (kernel + kernel.T) / 2
    x, info = symmetric.solve(b, 1.0, method="minres", info=True)
    assert info.converged


def test_a_complex_kernel_is_not_hermitian():
    kernel = tilefold.kernel(HERMITIAN_BUT_FOR, x=points(50))
    text, _ = told(lambda: kernel.solve(side(50) + 0j))
    assert "the matrix is not Hermitian\n" in text
    assert "(K + K.T.conj())/2" in text
    with pytest.warns(tilefold.ConvergenceWarning, match="or Hermitian"):
        assert np.isnan(kernel.logdet(1.0))


def test_float32_points_are_no_asymmetry():
    """Of a symmetric kernel, whatever its arrays' type and its conditions."""
    for text in ("-|x_i - x_j|", "x_i·x_j", "tanh(x_i·x_j - 1)"):
        kernel = tilefold.kernel(text, x=points(300, "float32"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kernel.solve(side(300, "float32"), 1e-6, maxiter=20)
            kernel.logdet(1e-3)
        assert not any("symmetric\n" in str(w.message) for w in caught)
        assert not any("or Hermitian" in str(w.message) for w in caught)


@pytest.mark.parametrize("count", [100, 2000])
def test_a_determinant_of_one_is_nan(count):
    kernel = tilefold.kernel(TEXT, x=points(count))
    with pytest.warns(tilefold.ConvergenceWarning) as caught:
        value = kernel.logdet(ridge=1.0)
    assert np.isnan(value)
    assert str(caught[0].message) == (
        "K.logdet is NaN: the matrix is not symmetric or Hermitian\n"
        "write a formula in which i and j may change places, as that of "
        "(K + K.T)/2 is; numpy.linalg.slogdet(K.dense()) takes any"
    )


def test_tensors_are_told_likewise():
    x = torch.tensor(points(60), requires_grad=True)
    kernel = tilefold.kernel(TEXT, x=x)
    with pytest.warns(tilefold.ConvergenceWarning, match="is not symmetric"):
        kernel.solve(torch.tensor(side(60)))
    with pytest.warns(tilefold.ConvergenceWarning, match="or Hermitian"):
        assert torch.isnan(kernel.logdet(1.0))


def test_estimators_are_told_likewise():
    x, y = points(40), side(40)
    ridge = KernelRidge(1e-3, kernel="exp(-|x_i - y_j|²) - x_i[0]")
    ridge.set_params(direct_below=0)
    with pytest.warns(UserWarning, match="the kernel is not symmetric"):
        ridge.fit(x, y)


def test_dask_tells_likewise():
    da = pytest.importorskip("dask.array")
    import tilefold.dask

    for count in (100, 2100):
        x = points(count)
        kernel = tilefold.kernel(TEXT, x=da.from_array(x, chunks=(700, 3)))
        with pytest.warns(tilefold.ConvergenceWarning, match="not symmetric"):
            kernel.solve(da.from_array(side(count), chunks=700), maxiter=5)
        with pytest.warns(tilefold.ConvergenceWarning, match="not symmetric"):
            assert np.isnan(kernel.logdet(1.0))
    kernel = tilefold.kernel(
        HERMITIAN_BUT_FOR, x=da.from_array(points(100), chunks=(50, 3))
    )
    with pytest.warns(tilefold.ConvergenceWarning, match="not symmetric"):
        kernel.solve(da.from_array(side(100) + 0j, chunks=50), maxiter=5)


def test_traced_determinants_are_nan():
    jax = pytest.importorskip("jax")
    import tilefold.jax

    x = jax.numpy.asarray(points(300), "float32")

    def logdet(text):
        return jax.jit(lambda x: tilefold.kernel(text, x=x).logdet(1.0))(x)

    assert np.isnan(logdet(TEXT))
    assert np.isfinite(logdet("exp(-|x_i - x_j|²)"))
