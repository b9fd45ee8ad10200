# tests/python/test_keops_solve.py - systems of KeOps's, as kernels and not.
"""KernelSolve and LazyTensor.solve, beside NumPy's solution.

Where the formula is a kernel times the unknown it is solved as one; the method
of all others is taken away then, to see that it is not asked.
"""

import numpy as np
import pytest
import torch

import tilefold
import tilefold.compat.pykeops.numpy as kn
import tilefold.compat.pykeops.torch as kt
from tilefold.compat.pykeops import numpy_arrays, systems, torch_arrays

N = 520  # enough for a preconditioner
RANDOM = np.random.default_rng(6)
X, B = RANDOM.random((N, 2)), RANDOM.normal(size=(N, 3))
K = np.exp(-20 * ((X[:, None] - X[None]) ** 2).sum(-1))
ALIASES = ["x = Vi(2)", "y = Vj(2)", "b = Vj(3)", "g = Pm(1)"]
FORMULA = "Exp(-g*SqDist(x,y))*b"
G = np.array([20.0])


@pytest.fixture
def kernels_only(monkeypatch):
    for module in (numpy_arrays, torch_arrays):
        monkeypatch.delattr(module, "conjugate_gradients")


@pytest.fixture
def no_kernels(monkeypatch):
    monkeypatch.delattr(systems, "solved")


def right(alpha, b=B):
    return np.linalg.solve(K + alpha * np.eye(N), b)


def given(module, dtype, *arrays):
    convert = torch.from_numpy if module is kt else np.asarray
    return [convert(each.astype(dtype)) for each in arrays]


@pytest.mark.parametrize("module", [kn, kt])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("formula", [FORMULA, "b*Exp(-SqDist(x,y)*g)"])
@pytest.mark.usefixtures("kernels_only")
def test_a_kernel_times_the_unknown(module, dtype, formula):
    x, b, g = given(module, dtype, X, B, G)
    solve = module.KernelSolve(formula, ALIASES, "b", axis=1)
    eps = 1e-6
    found = solve(x, x, b, g, alpha=0.01, eps=eps)
    assert found.dtype == b.dtype
    assert found.shape == b.shape
    found = np.asarray(found, np.float64)
    np.testing.assert_allclose(found, right(0.01), rtol=1e-3, atol=2e-3)
    residual = B - K @ found - 0.01 * found
    # Of float32, its points are rounded too.
    most = {"float32": 1e-4, "float64": eps}[dtype]
    assert (residual**2).sum() < B.size * most**2


@pytest.mark.usefixtures("kernels_only")
def test_the_unknown_on_i_and_lazy_tensors():
    aliases = ["x = Vi(2)", "y = Vj(2)", "b = Vi(3)", "g = Pm(1)"]
    solve = kn.KernelSolve(FORMULA, aliases, "b", axis=0)
    settings = {"alpha": np.array([0.1]), "eps": 1e-10}
    found = solve(X, X, B, G, **settings)
    np.testing.assert_allclose(found, right(0.1), rtol=1e-6, atol=1e-8)
    x_i, x_j = kn.Vi(X), kn.Vj(X)
    kernel = (-20.0 * ((x_i - x_j) ** 2).sum(-1)).exp()
    settings = {"alpha": 0.1, "eps": 1e-10}
    found = kernel.solve(B, **settings)
    np.testing.assert_allclose(found, right(0.1), rtol=1e-6, atol=1e-8)
    found = kernel.solve(kn.Vi(0, 3), **settings)(B)
    np.testing.assert_allclose(found, right(0.1), rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("kernels_only")
def test_gradients_of_a_kernel_system():
    x, b, g = (each.requires_grad_() for each in given(kt, float, X, B, G))
    solve = kt.KernelSolve(FORMULA, ALIASES, "b", axis=1)
    found = solve(x, x, b, g, alpha=0.1, eps=1e-12)
    kernel = (-g * ((x[:, None] - x[None]) ** 2).sum(-1)).exp()
    dense = torch.linalg.solve(kernel + 0.1 * torch.eye(N).double(), b)
    gradients = [
        torch.autograd.grad(each.sin().sum(), [x, b, g])
        for each in (found, dense)
    ]
    torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-7)


@pytest.mark.usefixtures("no_kernels")
def test_other_formulas_are_left_to_products():
    settings = {"alpha": 0.5, "eps": 1e-9}
    few = X[:40], X[:40], B[:40]
    kernel = K[:40, :40]
    identity = np.eye(40)
    # The same unknown twice, a matrix for each component, batches, ranges.
    solve = kn.KernelSolve(f"{FORMULA} + b/40", ALIASES, "b", axis=1)
    expected = np.linalg.solve(kernel + 1 / 40 + 0.5 * identity, B[:40])
    np.testing.assert_allclose(solve(*few, G, **settings), expected, rtol=1e-6)
    solve = kn.KernelSolve(
        "Exp(-Square(x-y))*b", ["x = Vi(2)", "y = Vj(2)", "b = Vj(2)"], "b",
        axis=1,
    )  # fmt: skip
    found = solve(X[:40], X[:40], B[:40, :2], **settings)
    for c in range(2):
        own = np.exp(-((X[:40, None, c] - X[None, :40, c]) ** 2))
        expected = np.linalg.solve(own + 0.5 * identity, B[:40, c])
        np.testing.assert_allclose(found[:, c], expected, rtol=1e-6)
    solve = kn.KernelSolve(FORMULA, ALIASES, "b", axis=1)
    expected = np.linalg.solve(kernel + 0.5 * identity, B[:40])
    found = solve(*(each[None] for each in few), G[None, None], **settings)
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    half = (np.array([[0, 40]]), np.array([1]), np.array([[0, 40]]))
    found = solve(*few, G, ranges=half * 2, **settings)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    # As small as eps it is solved by nothing.
    assert not solve(*few[:2], 1e-9 * B[:40], G, alpha=0.5).any()


def test_what_does_not_converge_is_tried_by_products():
    solve = kn.KernelSolve(
        "-SqDist(x,y)*b", ["x = Vi(2)", "y = Vj(2)", "b = Vj(3)"], "b", axis=1
    )
    with pytest.warns(tilefold.ConvergenceWarning, match="positive definite"):
        solve(X[:40], X[:40], B[:40], alpha=0.1)
