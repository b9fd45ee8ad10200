# tests/python/test_algebra.py - kernels added, multiplied, raised to powers.
from __future__ import annotations

import numpy as np
import pytest
import torch

import tilefold

N, M = 7, 9


@pytest.fixture
def arrays():
    random = np.random.default_rng(0)
    return {
        "x": random.standard_normal((N, 2)),
        "y": random.standard_normal((M, 2)),
        "b": random.standard_normal(M),
    }


@pytest.fixture
def kernels(arrays):
    """Two kernels of the same points, and their matrices."""
    x, y = arrays["x"], arrays["y"]
    a = tilefold.kernel("exp(-|x_i - y_j|²/2l²)", x=x, y=y, l=0.7)
    b = tilefold.kernel("1/(1 + r) with r = |x_i - y_j|/l", x=x, y=y, l=2.0)
    return a, b, a.dense(), b.dense()


COMBINATIONS = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
    "negative": lambda a, b: -a + b,
    "multiples": lambda a, b: 2 * a + b * 0.5 - a / 3.5,
    "from the left": lambda a, b: 1 - a + 2.5 / b,
    "power": lambda a, b: a**2 + b**-1 + a**0.5,
    "square of a sum": lambda a, b: (a + b) ** 2,
    "several": lambda a, b: (a + b) * (a - b) / (1.5 + a * a),
    "numpy numbers": lambda a, b: np.float64(2) * a + b * np.int64(3),
}


@pytest.mark.parametrize("name", COMBINATIONS)
def test_combinations(kernels, arrays, name):
    a, b, dense_a, dense_b = kernels
    combine = COMBINATIONS[name]
    kernel, wanted = combine(a, b), combine(dense_a, dense_b)
    assert kernel.shape == (N, M)
    np.testing.assert_allclose(kernel.dense(), wanted)
    np.testing.assert_allclose(kernel @ arrays["b"], wanted @ arrays["b"])
    np.testing.assert_allclose(kernel.sum(0), wanted.sum(0))


def test_transposes_combine(kernels):
    a, _, dense, _ = kernels
    np.testing.assert_allclose((a.T + 2 * a.T).dense(), 3 * dense.T)
    np.testing.assert_allclose((a + a.T.T).dense(), 2 * dense)
    np.testing.assert_allclose((a * a).T.dense(), (dense**2).T)


def test_a_symmetric_part(arrays):
    x = arrays["x"]
    k = tilefold.kernel("x_i[0]*x_j[1]", x=x)
    dense = k.dense()
    np.testing.assert_allclose((k + k.T).dense(), dense + dense.T)


def test_a_combination_is_one_kernel(arrays):
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    x, y = arrays["x"], arrays["y"]
    k = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y, session=session)
    (2.5 * k + k**2) @ arrays["b"]
    assert session.stats().runs == 1
    assert session.stats().compiles == 1


def test_definitions_and_arguments_of_one_name_stay_apart(arrays):
    x, y = arrays["x"], arrays["y"]
    a = tilefold.kernel("exp(-r²) with r = |x_i - y_j|/l", x=x, y=y, l=0.5)
    b = tilefold.kernel("exp(-r) with r = |x_i - y_j|/l", x=x, y=x, l=1.5)
    assert b.shape == (N, N)
    c = tilefold.kernel("exp(-r) with r = |x_i - y_j|/l", x=x, y=y, l=1.5)
    np.testing.assert_allclose((a * c).dense(), a.dense() * c.dense())
    assert "l2" in repr(a * c)


def test_a_definition_of_one_and_an_argument_of_the_other_stay_apart(arrays):
    x, y = arrays["x"], arrays["y"]
    a = tilefold.kernel("exp(-r) with r = |x_i - y_j|, r2 = 1", x=x, y=y)
    b = tilefold.kernel("r*x_i·y_j + r2", x=x, y=y, r=3.5, r2=0.5)
    for one, other in ((a, b), (b, a)):
        np.testing.assert_allclose((one * other).dense(), a.dense() * b.dense())
    scaled = np.arange(N)[:, None] * tilefold.kernel(
        "w*exp(-s*s2) with s = |x_i - y_j|, s2 = 0.5", x=x, y=y, w=2.5
    )
    d = np.sqrt(((x[:, None] - y) ** 2).sum(-1))
    wanted = np.arange(N)[:, None] * 2.5 * np.exp(-d / 2)
    np.testing.assert_allclose((scaled * 1.5).dense(), 1.5 * wanted)


@pytest.mark.parametrize("values", [0.3, np.arange(N) / 10])
def test_add_diag(arrays, values):
    x = arrays["x"]
    k = tilefold.kernel("exp(-|x_i - x_j|²)", x=x)
    wanted = k.dense() + np.diag(np.broadcast_to(values, N))
    shifted = k.add_diag(values)
    np.testing.assert_allclose(shifted.dense(), wanted)
    np.testing.assert_allclose(shifted.diag(), wanted.diagonal())
    np.testing.assert_allclose(shifted @ np.ones(N), wanted.sum(1))
    np.testing.assert_allclose(shifted[[2, 0]].dense(), wanted[[2, 0]])
    np.testing.assert_allclose((2 * shifted).T.dense(), 2 * wanted.T)


EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, -0.1, 2.5, -2.5, 1e-300]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "i4"])
def test_remainders_with_the_sign_of_the_dividend(dtype):
    """To the last bit: near multiples, too, where rounding would show."""
    random = np.random.default_rng(3)
    if dtype[0] == "f":
        tenths = np.arange(-20, 21) * 0.1
        a = np.concatenate([random.normal(0, 9, 99), tenths, EDGES])
        b = np.concatenate([random.normal(size=9), EDGES, a[:9] * 1e-6])
    else:
        a, b = np.arange(-9 * (dtype[0] == "i"), 10), np.array([1, 3, 7])
        b = b if dtype[0] == "u" else np.concatenate([b, -b])
    a, b = a.astype(dtype), b.astype(dtype)
    kernel = tilefold.kernel("min(x_i, y_j)", x=a, y=a)
    dense = kernel.dense()
    with np.errstate(invalid="ignore"):
        for k, divisor in enumerate(b):
            found = np.fmod(kernel, b[k : k + 1]).dense()
            np.testing.assert_array_equal(found, np.fmod(dense, divisor))
        floored = np.remainder(kernel, b[1:2]).dense()
        np.testing.assert_array_equal(floored, np.remainder(dense, b[1]))


def test_remainders_of_tensors_and_of_vectors():
    x, y = torch.randn(2, 5, 3, dtype=torch.float64).requires_grad_()
    divisor = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    kernel = tilefold.kernel("x_i - y_j", x=x, y=y)
    dense = x[:, None] - y
    found, wanted = (torch.fmod(k, divisor) for k in (kernel, dense))
    torch.testing.assert_close(found.dense(), wanted, rtol=0, atol=0)
    for by in (x, divisor):
        (got,) = torch.autograd.grad(found.sum((0, 1)).sum(), by)
        (want,) = torch.autograd.grad(wanted.sum(), by, retain_graph=True)
        torch.testing.assert_close(got, want)


def test_an_array_that_one_names_as_points_and_one_as_a_parameter(arrays):
    """One object under one name, which is no one argument."""
    x, y = arrays["x"], arrays["y"]
    points = tilefold.kernel("x_i·y_j", x=x, y=y)
    table = tilefold.kernel("(x @ y_j)[2]*z_i", x=x, y=y, z=x[:, 0])
    wanted = points.dense() - table.dense()
    np.testing.assert_allclose((points - table).dense(), wanted)
    np.testing.assert_allclose((table - points).dense(), -wanted)
    square = tilefold.kernel("|x_i - x_j|", x=x)
    both = square + tilefold.kernel("x_i·y_j", x=x, y=x)
    assert "x2" not in repr(both)  # it is still one argument of points


def test_gradients_go_through_combinations():
    points = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    noise = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    k = tilefold.kernel("exp(-|x_i - x_j|²)", x=points)
    out = (2 * k + k**2).add_diag(noise) @ torch.ones(5).double()
    dense = torch.exp(-(torch.cdist(points, points) ** 2))
    wanted = 2 * dense + dense**2 + noise * torch.eye(5).double()
    torch.testing.assert_close(out, wanted.sum(1))
    found = torch.autograd.grad(out.sin().sum(), (points, noise))
    expected = torch.autograd.grad(wanted.sum(1).sin().sum(), (points, noise))
    torch.testing.assert_close(found[1], expected[1])
    torch.testing.assert_close(found[0], expected[0], atol=1e-6, rtol=1e-6)


def test_what_does_not_combine(kernels):
    a, b, *_ = kernels
    with pytest.raises(tilefold.ShapeError) as caught:
        a * np.ones(N)
    assert caught.value.code == "KernelBroadcast"
    with pytest.raises(tilefold.ShapeError):
        a + b.T
