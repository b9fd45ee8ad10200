# tests/python/test_complex_solve.py - systems with complex numbers, and with
# kernels as right-hand sides.
from __future__ import annotations

import numpy as np
import pytest
import torch

import tilefold

#: Of what takes long, another third each day.
pytestmark = pytest.mark.sample(0.34)

N = 120
_random = np.random.default_rng(8)
X = _random.standard_normal((N, 3))
REAL = "exp(-|x_i - x_j|²/2)"
HERMITIAN = "exp(-|x_i - x_j|²/2)*exp(im*(x_i[0] - x_j[0]))"
RIDGE = 0.1


def numbers(*shape):
    return _random.standard_normal(shape) + 1j * _random.standard_normal(shape)


SIDES = {
    "vector": numbers(N),
    "columns": numbers(N, 3),
    "one column": numbers(N, 1),
    "no imaginary parts": numbers(N, 2).real + 0j,
    "a column of zeros": numbers(N, 2) * [1, 0],
    "real": numbers(N).real,
}
KERNELS = {
    "real": lambda x: tilefold.kernel(REAL, x=x),
    "Hermitian": lambda x: tilefold.kernel(HERMITIAN, x=x),
    "transposed": lambda x: tilefold.kernel(HERMITIAN, x=x).T,
    "with a diagonal": lambda x: tilefold.kernel(HERMITIAN, x=x).add_diag(0.5),
}


def shifted(kernel, ridge=RIDGE):
    return kernel.dense() + ridge * np.eye(N)


@pytest.mark.parametrize("preconditioner", [None, "cholesky", "nystrom"])
@pytest.mark.parametrize("method", ["cg", "minres", "auto"])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", KERNELS)
def test_solutions(name, side, method, preconditioner):
    kernel, b = KERNELS[name](X), SIDES[side]
    x, info = kernel.solve(
        b, RIDGE, 1e-11, None, preconditioner, info=True, method=method
    )
    is_complex = name != "real" or side != "real"
    assert x.dtype == (np.complex128 if is_complex else np.float64)
    assert x.shape == b.shape
    matrix = shifted(kernel)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, b), atol=1e-8)
    assert info.converged
    assert info.residuals.shape == b.shape[1:]
    lengths = np.linalg.norm(b, axis=0)
    told = np.linalg.norm(b - matrix @ x, axis=0) / np.where(
        lengths, lengths, 1
    )
    np.testing.assert_allclose(info.residuals, told, rtol=0.05, atol=1e-13)
    assert (info.rank > 0) == (preconditioner is not None)


@pytest.mark.parametrize("name", ["real", "Hermitian"])
def test_single_numbers(name):
    b = SIDES["columns"].astype("complex64")
    kernel = KERNELS[name](X.astype("float32"))
    x = kernel.solve(b, RIDGE)
    assert x.dtype == np.complex64
    wanted = np.linalg.solve(shifted(KERNELS[name](X)), b)
    np.testing.assert_allclose(x, wanted, atol=2e-4)
    assert kernel.solve(b.astype("complex128"), RIDGE).dtype == np.complex128


def test_a_matrix_of_both_signs():
    kernel = tilefold.kernel("cos(|x_i - x_j|)*exp(im*(x_i[0] - x_j[0]))", x=X)
    x = kernel.solve(SIDES["vector"], -0.3, 1e-10, method="minres")
    np.testing.assert_allclose(
        shifted(kernel, -0.3) @ x, SIDES["vector"], atol=1e-7
    )
    with pytest.warns(tilefold.ConvergenceWarning, match="not positive def"):
        (kernel * -1).solve(SIDES["vector"], 0.01)


def test_lists_and_sides_of_any_stride():
    kernel, b = KERNELS["Hermitian"](X), SIDES["columns"]
    wanted = kernel.solve(b, RIDGE)
    strided = np.zeros((2 * N, 6), complex)[::2, ::2]
    strided[:] = b
    np.testing.assert_array_equal(kernel.solve(strided, RIDGE), wanted)
    np.testing.assert_array_equal(kernel.solve(b.tolist(), RIDGE), wanted)


def test_a_kernel_of_no_points():
    kernel = tilefold.kernel(HERMITIAN, x=np.zeros((0, 3)))
    x = kernel.solve(np.zeros((0, 2), complex))
    assert (x.shape, x.dtype) == ((0, 2), np.complex128)


@pytest.mark.parametrize(
    "text", ["x_i - x_j", "im*(x_i - x_j)", "[exp(-|x_i - x_j|²)]"]
)
def test_kernels_of_vectors_are_refused_and_the_cure_works(text):
    kernel = tilefold.kernel(text, x=X)
    for use in (
        lambda: kernel.solve(SIDES["real"]),
        kernel.logdet,
        lambda: kernel.inv_quad_logdet(SIDES["real"]),
    ):
        with pytest.raises(tilefold.ShapeError) as caught:
            use()
        assert str(caught.value) == (
            f"a kernel of shape {kernel.shape}, whose values are vectors, "
            "cannot be solved with\nsolve with one component, as in "
            "K[..., 0].solve(b)"
        )
    kernel = tilefold.kernel(f"[{REAL}, 2]", x=X)
    np.testing.assert_allclose(
        kernel[..., 0].solve(SIDES["real"], RIDGE),
        tilefold.kernel(REAL, x=X).solve(SIDES["real"], RIDGE),
    )


def test_the_cure_for_batches_works():
    kernel = tilefold.kernel(REAL, x=np.stack([X, 2 * X]))
    with pytest.raises(tilefold.ShapeError, match=r"K\[0\]\.solve\(b\)"):
        kernel.solve(SIDES["real"])
    np.testing.assert_allclose(
        kernel[0].solve(SIDES["real"], RIDGE),
        tilefold.kernel(REAL, x=X).solve(SIDES["real"], RIDGE),
    )


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_as_right_hand_side(name):
    y = _random.standard_normal((7, 3))
    kernel = KERNELS[name](X)
    other = tilefold.kernel("exp(-|x_i - y_j|²/2)", x=X, y=y)
    xi, yj = tilefold.lazy(X, axis="i"), tilefold.lazy(y, axis="j")
    lazy = np.exp(-((xi - yj) ** 2).sum(-1) / 2)
    wanted = np.linalg.solve(shifted(kernel), other.dense())
    for side in (
        other,
        lazy,
        tilefold.kernel("exp(-|x_i - y_j|²/2)", x=y, y=X).T,
    ):
        found = kernel.solve(side, RIDGE, 1e-11)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, wanted, atol=1e-8)


# ---- PyTorch ----------------------------------------------------------------


def leaves(count=9):
    torch.manual_seed(2)
    x = torch.randn(count, 2, dtype=torch.float64)
    scale, ridge = torch.tensor([0.7, 0.3], dtype=torch.float64)
    return [value.clone().requires_grad_() for value in (x, scale, ridge)]


def solve(text, transposed=False):
    def call(x, l, ridge, b):
        kernel = tilefold.kernel(text, x=x, l=l)
        kernel = kernel.T if transposed else kernel
        return kernel.solve(b, ridge, rtol=1e-13)

    return call


SCALED = {
    "real": "exp(-|x_i - x_j|²/2l²)",
    "Hermitian": "exp(-|x_i - x_j|²/2l²)*exp(im*(x_i[0] - x_j[0]))",
}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", SCALED)
def test_gradients(name, transposed):
    call = solve(SCALED[name], transposed)
    values = leaves()
    b = torch.randn(9, 2, dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(call, (*values, b))
    assert torch.autograd.gradgradcheck(call, (*values, b))
    real = torch.randn(9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(call, (*values, real))


def test_gradients_go_into_a_kernel_on_the_right():
    x, l, ridge = leaves()
    y = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)

    def predict(x, l, ridge, y):
        kernel = tilefold.kernel(SCALED["real"], x=x, l=l)
        other = tilefold.kernel("exp(-|x_i - y_j|²/2l²)", x=x, y=y, l=l)
        return kernel.solve(other, ridge, rtol=1e-13)

    assert torch.autograd.gradcheck(predict, (x, l, ridge, y))
