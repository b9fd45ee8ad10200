# tests/python/test_minres.py - systems with symmetric kernels that are not
# positive definite, against SciPy's MINRES and dense solutions.
from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse.linalg import LinearOperator, minres

import tilefold
from test_solve import points, residual, side, told

INDEFINITE = {
    "distance": "-|x_i - x_j|",
    "thin plate": "thin_plate(x_i, x_j)",
    "sigmoid": "tanh(x_i·x_j - 1)",
    "sine": "sin(3*|x_i - x_j|)/(0.2 + |x_i - x_j|)",
}


def make(text, count=200, dtype="float64"):
    x = points(count, dtype)
    wide = tilefold.kernel(text, x=x.astype("float64"))
    return tilefold.kernel(text, x=x), wide.dense()


@pytest.mark.parametrize(
    ("ridge", "method"),
    [(0.5, "minres"), (0.5, "auto"), (0, "minres"), (0, "auto"),
     (-0.25, "minres")],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(200,), (200, 1), (200, 3)], ids=str)
@pytest.mark.parametrize("text", INDEFINITE.values(), ids=INDEFINITE)
def test_indefinite_systems(text, shape, ridge, method):
    kernel, dense = make(text)
    system = dense + ridge * np.eye(200)
    assert np.linalg.eigvalsh(system)[0] < 0
    b = system @ side(shape)  # so that small eigenvalues do no harm
    x, info = kernel.solve(
        b, ridge, rtol=1e-8, maxiter=20_000, method=method, info=True
    )
    assert info.converged
    assert x.shape == b.shape
    assert (residual(dense, ridge, x, b) < 1.1e-8).all()


@pytest.mark.parametrize("text", INDEFINITE.values(), ids=INDEFINITE)
def test_as_many_iterations_as_scipy(text):
    kernel, dense = make(text)
    system = dense + 0.5 * np.eye(200)
    b = side(200)
    steps = []
    theirs, _ = minres(
        LinearOperator(system.shape, lambda v: system @ v, dtype=float), b,
        rtol=1e-12, maxiter=5000, callback=lambda x: steps.append(
            np.linalg.norm(b - system @ x) <= 1e-6 * np.linalg.norm(b)
        ),
    )  # fmt: skip
    wanted = steps.index(True) + 1
    x, info = kernel.solve(
        b, 0.5, rtol=1e-6, maxiter=5000, method="minres", info=True
    )
    assert abs(info.iterations - wanted) <= 3 + 0.1 * wanted  # of roundings
    size = np.linalg.norm(theirs)
    smallest = abs(np.linalg.eigvalsh(system)).min()
    assert np.linalg.norm(x - theirs) <= (
        2e-6 * np.linalg.norm(b) / smallest + 1e-6 * size
    )


@pytest.mark.parametrize("preconditioner", [None, "cholesky", "nystrom"])
def test_definite_systems_too(preconditioner):
    kernel = tilefold.kernel(
        "exp(-|x_i - x_j|²/2l²)", x=points(600), l=2.0
    )  # fmt: skip
    dense = kernel.dense()
    b = side((600, 2))
    x, info = kernel.solve(
        b, 1e-2, preconditioner=preconditioner, method="minres", info=True
    )
    assert info.converged
    assert (info.rank > 0) == (preconditioner is not None)
    assert info.iterations < (250 if preconditioner is None else 30)
    assert (residual(dense, 1e-2, x, b) < 1.1e-6).all()


def test_float32_products_reach_the_residual_of_float64():
    kernel, dense = make("-|x_i - x_j|", dtype="float32")
    b = side(200, "float32")
    x, info = kernel.solve(
        b, 0.5, rtol=1e-5, maxiter=4000, method="minres", info=True
    )
    assert x.dtype == np.float32
    assert info.converged
    exact = np.linalg.solve(dense + 0.5 * np.eye(200), b)
    np.testing.assert_allclose(x, exact, atol=1e-3 * abs(exact).max())


def test_columns_are_as_if_solved_alone():
    kernel, _ = make("-|x_i - x_j|")
    b = side((200, 4))
    b[:, 2] = 0
    together = kernel.solve(b, 0.5, method="minres")
    np.testing.assert_array_equal(together[:, 2], np.zeros(200))
    for column in range(4):
        alone = kernel.solve(b[:, column], 0.5, method="minres")
        np.testing.assert_allclose(
            together[:, column], alone, rtol=1e-4, atol=1e-6
        )


def test_auto_is_conjugate_gradients_where_they_work():
    kernel = tilefold.kernel("exp(-|x_i - x_j|²)", x=points(200))
    b = side(200)
    by_cg, first = kernel.solve(b, 0.1, info=True)
    by_auto, second = kernel.solve(b, 0.1, method="auto", info=True)
    np.testing.assert_array_equal(by_cg, by_auto)
    assert first.iterations == second.iterations


def test_the_same_bits_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 3):
        session = tilefold.Session(tilefold.Options(threads=threads))
        kernel = tilefold.kernel("-|x_i - x_j|", x=points(), session=session)
        found.append(kernel.solve(side((300, 2)), 0.5, method="minres"))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_a_side_outside_of_the_range_is_told():
    """K is of rank 3: no x is better than the projection of b."""
    kernel = tilefold.kernel("x_i·x_j", x=points(100))
    b = side(100)
    text, (x, info) = told(
        lambda: kernel.solve(b, method="minres", info=True)
    )  # fmt: skip
    dense = kernel.dense()
    best = np.linalg.lstsq(dense, b, rcond=1e-10)[0]
    np.testing.assert_allclose(dense @ x, dense @ best, atol=1e-6)
    assert text == (
        f"K.solve stopped after {info.iterations} iterations with a residual "
        f"of {float(info.residuals):.2g}, above rtol = 1e-06: products in "
        "float64 do not bring it further down\nraise ridge or rtol"
    )
    assert info.iterations < 20


def test_reaching_maxiter_warns():
    kernel, dense = make("-|x_i - x_j|")
    b = side(200)
    text, (x, info) = told(
        lambda: kernel.solve(b, 0.1, maxiter=5, method="minres", info=True)
    )
    assert info.iterations == 5
    assert text == (
        "K.solve stopped after 5 iterations with a residual of "
        f"{float(info.residuals):.2g}, above rtol = 1e-06\n"
        "raise maxiter, ridge or rtol"
    )
    np.testing.assert_allclose(info.residuals, residual(dense, 0.1, x, b))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_stop_at_once(bad):
    b = side((200, 2))
    b[3, 0] = bad
    kernel, dense = make("-|x_i - x_j|")
    text, x = told(lambda: kernel.solve(b, 0.5, method="minres"))
    assert "not finite" in text
    assert np.isnan(x[:, 0]).all()
    assert residual(dense, 0.5, x[:, 1], b[:, 1]) < 1.1e-6


def test_a_kernel_with_nan_stops_at_once():
    x = points(50)
    x[7] = np.nan
    kernel = tilefold.kernel("-|x_i - x_j|", x=x)
    text, (_, info) = told(
        lambda: kernel.solve(side(50), 0.5, method="minres", info=True)
    )
    assert "not finite" in text
    assert info.iterations < 5


def test_gradients():
    def solution(x, b, ridge):
        kernel = tilefold.kernel("-|x_i - x_j|²", x=x)
        return kernel.solve(b, ridge, rtol=1e-13, method="minres")

    x = torch.from_numpy(points(8)).requires_grad_()
    b = torch.from_numpy(side(8)).requires_grad_()
    ridge = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(solution, (x, b, ridge))


def test_an_empty_system():
    kernel = tilefold.kernel("-|x_i - x_j|", x=np.zeros((0, 3)))
    assert kernel.solve(np.zeros((0, 2)), method="minres").shape == (0, 2)
