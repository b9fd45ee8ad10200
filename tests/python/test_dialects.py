# tests/python/test_dialects.py - what NumPy's and PyTorch's functions and
# methods are given, on kernels, lazy arrays and points: equal, or refused.
from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from scipy import special
from torch.nn import functional

import tilefold

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.random((7, 3)), RANDOM.random((5, 3))
DENSE = np.sqrt(((X[:, None] - Y) ** 2).sum(-1))
ONES = torch.ones(5, dtype=torch.float64)

NUMPY = {
    "sum by place": lambda k: np.sum(k, 1),
    "sum, all by place": lambda k: np.sum(k, 1, None, None, True),
    "size": np.size,
    "size of an axis": lambda k: np.size(k, 0),
    "var": lambda k: np.var(k, axis=1, ddof=1),
    "var, correction": lambda k: np.var(k, axis=1, correction=1),
    "std by place": lambda k: np.std(k, 1, None, None, 1),
    "max": lambda k: np.max(k, axis=0, keepdims=True),
    "any": lambda k: np.any(k > 0.5, axis=1, where=True),
    "quantile": lambda k: np.quantile(k, 0.2, axis=1, method="linear"),
    "median": lambda k: np.median(k, 1, overwrite_input=False),
    "norm": lambda k: np.linalg.norm(k, axis=1),
    "norm of order 1": lambda k: np.linalg.norm(k, 1, axis=1),
    "norm of order 3": lambda k: np.linalg.norm(k, 3, 0),
    "norm of order inf": lambda k: np.linalg.norm(k, np.inf, axis=1),
    "vector_norm": lambda k: np.linalg.vector_norm(k, axis=1, ord=1),
    "sum of truths": lambda k: ((k > 0.3) + (k > 0.6)) * 1.0,
    "product of truths": lambda k: ((k > 0.3) * (k > 0.6)) + 1,
    "truth and number": lambda k: (k > 0.3) + k,
    "count of truths": lambda k: (k > 0.3) + 1,
    "clip": lambda k: np.clip(k, 0.2, 0.5),
    "clip by name": lambda k: np.clip(k, min=0.2, max=0.5),
    "defaults": lambda k: np.exp(k, where=True, casting="same_kind"),
    "argmax": lambda k: np.argmax(k, 1),
    "count_nonzero": lambda k: np.count_nonzero(k > 0.4, axis=1),
    "percentile": lambda k: np.percentile(k, [30, 60], axis=1),
    "average": lambda k: np.average(k, axis=1),
    "ptp": lambda k: np.ptp(k, axis=0),
    "nansum": lambda k: np.nansum(np.where(k > 0.5, k, np.nan), axis=1),
    "arctanh": lambda k: 1 / np.arctanh(k / 2),
}
NUMPY_REFUSED = {
    "a dtype by place": lambda k: np.sum(k, 1, "float32"),
    "initial": lambda k: np.max(k, axis=1, initial=9.0),
    "another method": lambda k: np.quantile(k, 0.2, axis=1, method="lower"),
    "vdot": lambda k: np.vdot(k, k),
    "inner": lambda k: np.inner(k, np.ones(5)),
    "difference of truths": lambda k: (k > 0.3) - (k > 0.6),
    "matrices side by side": lambda k: np.concatenate([k, k], axis=1),
    "a stack of matrices": lambda k: np.stack([k, k]),
    "weights": lambda k: np.average(k, axis=1, weights=np.ones(5)),
    "select": lambda k: np.select([k > 0.5], [k], 0),
    "the nuclear norm": lambda k: np.linalg.norm(k, "nuc"),
}
TORCH = {
    "sum": lambda k: torch.sum(k, 1),
    "sum, kept": lambda k: torch.sum(k, dim=1, keepdim=True),
    "var": lambda k: torch.var(k, 1),
    "var of all": torch.var,
    "var, biased": lambda k: torch.var(k, 1, unbiased=False),
    "std": lambda k: torch.std(k, dim=0, correction=0),
    "method var": lambda k: k.var(dim=1),
    "method std": lambda k: k.std(dim=1, unbiased=False),
    "method max": lambda k: k.max(dim=1),
    "values of max": lambda k: k.max(dim=1)[0],
    "method min": lambda k: k.min(dim=0, keepdim=True).values,
    "method of axis": lambda k: k.sum(axis=1),
    "max": lambda k: torch.max(k, 1),
    "min": lambda k: torch.min(k, dim=0, keepdim=True),
    "max of all": torch.max,
    "larger of two": lambda k: torch.max(k, k * 0 + 0.4),
    "mean": lambda k: k.mean(dim=1, keepdim=True),
    "prod": lambda k: torch.prod(k, 1),
    "norm": lambda k: torch.norm(k, dim=1),
    "norm of order 1": lambda k: torch.norm(k, p=1, dim=1),
    "method norm": lambda k: k.norm(p=1, dim=1),
    "logsumexp": lambda k: torch.logsumexp(k, 1),
    "softmax": lambda k: torch.softmax(k, 1) @ ONES,
    "functional softmax": lambda k: functional.softmax(k, dim=1) @ ONES,
    "functional relu": lambda k: functional.relu(k - 0.4),
    "a module": lambda k: torch.nn.ReLU()(k - 0.4),
    "mv": lambda k: torch.mv(k, ONES),
    "mm": lambda k: torch.mm(k, torch.ones(5, 2, dtype=torch.float64)),
    "transpose": lambda k: torch.transpose(k, 0, 1),
    "clamp": lambda k: torch.clamp(k, min=0.2),
    "quantile": lambda k: torch.quantile(k, 0.3, dim=1),
    "softplus": functional.softplus,
    "softplus at its defaults": lambda k: functional.softplus(k, beta=1.0),
}
TORCH_REFUSED = {
    "median": lambda k: torch.median(k, 1),
    "alpha": lambda k: torch.add(k, k, alpha=2),
    "rounding": lambda k: torch.div(k, 2.0, rounding_mode="floor"),
    "another gelu": lambda k: functional.gelu(k, approximate="tanh"),
    "both names": lambda k: k.sum(axis=1, dim=1),
    "no transpose": lambda k: torch.transpose(k, 0, 0),
    "cat": lambda k: torch.cat([k, k], 1),
}


def kernel(array):
    return tilefold.kernel("|x_i - y_j|", x=array(X), y=array(Y))


def lazy(array):
    x = tilefold.lazy(array(X), axis="i")
    y = tilefold.lazy(array(Y), axis="j")
    return ((x - y) ** 2).sum(-1) ** 0.5


def equal(found, wanted):
    if isinstance(wanted, tuple):
        for part, whole in zip(found, wanted, strict=True):
            equal(part, whole)
        return
    found = found.dense() if hasattr(found, "dense") else found
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("face", [kernel, lazy])
@pytest.mark.parametrize("name", NUMPY)
def test_numpy(name, face):
    equal(NUMPY[name](face(np.asarray)), NUMPY[name](DENSE))


@pytest.mark.parametrize("face", [kernel, lazy])
@pytest.mark.parametrize("name", TORCH)
def test_torch(name, face):
    dense = torch.from_numpy(DENSE)
    equal(TORCH[name](face(torch.from_numpy)), TORCH[name](dense))


@pytest.mark.parametrize("face", [kernel, lazy])
@pytest.mark.parametrize("name", NUMPY_REFUSED)
def test_what_numpy_would_do_otherwise_is_refused(name, face):
    with pytest.raises(tilefold.ArgumentError):
        NUMPY_REFUSED[name](face(np.asarray))


@pytest.mark.parametrize("face", [kernel, lazy])
@pytest.mark.parametrize("name", TORCH_REFUSED)
def test_what_torch_would_do_otherwise_is_refused(name, face):
    with pytest.raises(tilefold.ArgumentError):
        TORCH_REFUSED[name](face(torch.from_numpy))


POINTS = {
    "concatenate": lambda x, y: np.concatenate([x, y], axis=0).sum(),
    "stack": lambda x, y: np.stack([x[0], y[1]], axis=-1).sum(),
    "hstack": lambda x, y: np.hstack([x, y]).max(),
    "vdot": lambda x, y: np.vdot(x, y),
    "vdot of complex numbers": lambda x, y: np.vdot(1j * x, y).imag,
    "vecdot": lambda x, y: np.vecdot(1j * x, y).imag,
    "inner": lambda x, y: np.inner(x, y),
    "norm of order 1": lambda x, y: np.linalg.norm(x - y, 1),
    "norm of order inf": lambda x, y: np.linalg.norm(x - y, ord=np.inf),
    "norm of order 3": lambda x, y: np.linalg.norm(x - y, ord=3),
    "sum of truths": lambda x, y: ((x[0] > y[0]) + (x[1] > y[1])) * 1.0,
    "arctanh": lambda x, y: 1 / np.arctanh(0.5 * x[0] * y[0]),
    "length": lambda x, y: len(x) * x.shape[0] * (x @ y),
    "components in turn": lambda x, y: sum(
        a * b for a, b in zip(x, y, strict=True)
    ),
    "components by name": lambda x, y: (lambda a, b, c: a * b + c)(*x) * y[0],
    "components backwards": lambda x, y: x[::-1] @ y,
    "components by a list": lambda x, y: x[[2, 0]] @ y[1:],
    "transpose": lambda x, y: x.T @ y,
    "mean": lambda x, y: (x * y).mean() + np.mean(x - y, axis=-1),
    "variance": lambda x, y: np.var(x - y, ddof=1) + (x * y).std(),
    "prod": lambda x, y: np.prod(x * y),
    "any": lambda x, y: np.any(x > y + 0.5) * 1.0,
    "all": lambda x, y: np.all(x > y - 0.2) * 1.0,
    "ptp": lambda x, y: np.ptp(x - y),
    "argmax": lambda x, y: np.argmax(x - y) * 1.0,
    "average": lambda x, y: np.average(x - y),
    "nansum": lambda x, y: np.nansum(np.where(x > y, x, np.nan)),
    "heaviside": lambda x, y: np.heaviside(x[0] - y[0], 0.5),
    "xlogy": lambda x, y: special.xlogy(x[0], y[0]),
    "kv": lambda x, y: special.kv(1.5, x @ y + 1) + special.k0(x @ y + 1),
    "jv": lambda x, y: special.jv(2, x @ y) + special.i1(x @ y),
    "ndtr": lambda x, y: special.ndtr(x[0] - y[0]) + special.entr(x @ y),
    "gamma": lambda x, y: (
        special.gamma(x @ y + 1) + special.erfinv(x[0] * y[0])
    ),
    "parts of a complex number": lambda x, y: (np.exp(1j * (x @ y))).real,
    "ravel": lambda x, y: x.ravel() @ y.copy(),
    "product with it": lambda x, y: np.arctanh(0.5 * x) @ y,
    "cumsum": lambda x, y: np.cumsum(x) @ y.cumsum(0),
    "cumsum of truths": lambda x, y: np.cumsum(x > 0.5, axis=-1) @ y,
    "cumprod": lambda x, y: np.cumprod(x, axis=0) @ y,
    "diff": lambda x, y: np.diff(x) @ np.diff(y) + np.diff(x, 2)[0],
    "diff of truths": lambda x, y: (np.diff(x > 0.5) * 1.0) @ y[1:],
    "diff of order 0": lambda x, y: np.diff(x, n=0) @ y,
    "roll": lambda x, y: np.roll(x, 1) @ np.roll(y, -5, axis=0),
    "flip": lambda x, y: np.flip(x) @ y + np.flip(x, axis=-1)[0],
    "sort": lambda x, y: np.sort(x) @ np.sort(y, axis=-1, kind="stable"),
    "sort of truths": lambda x, y: np.sort(x > 0.5) @ y,
    "trapezoid": lambda x, y: np.trapezoid(x, dx=0.5) * np.trapezoid(y),
    "trapezoid of x": lambda x, y: np.trapezoid(x, y) + np.trapezoid(y, W),
    "nan_to_num": lambda x, y: np.nan_to_num(x * y, posinf=2) @ y,
    "nan_to_num of complex numbers": lambda x, y: (
        np.nan_to_num((1j * x) @ y).imag
    ),
    "astype": lambda x, y: x.astype(float) @ (y > 0.5).astype("float64"),
    "astype bool": lambda x, y: (x // 0.5).astype(bool) @ y,
    "kron": lambda x, y: np.kron(x, y) @ np.kron(y, x) + np.kron(2.0, x)[1],
    "squeeze": lambda x, y: np.squeeze(x[:1]) * np.squeeze(y)[2],
    "tensordot": lambda x, y: np.tensordot(x, y, 1),
    "matmul": lambda x, y: np.matmul(np.matmul(A, x), y),
    "a row of a matrix": lambda x, y: A[1] @ x + A[:, 2] @ y + A[0, 1],
}
W = np.array([0.0, 0.5, 2.0])
A = RANDOM.random((3, 3))
B = RANDOM.random((2, 3))
V = RANDOM.random(2)
EINSUM = {
    "i,i->": lambda x, y: (x, y),
    "i,i": lambda x, y: (x, y),
    "i->": lambda x, y: (x * y,),
    "i,j->": lambda x, y: (x, y),
    "i,i,i->": lambda x, y: (x, y, W),
    "i,i->i": lambda x, y: (x, y),
    ",i->i": lambda x, y: (2.0, x * y),
    "ij,j->i": lambda x, y: (A, x * y),
    "ij,i->j": lambda x, y: (A, x * y),
    "ij,j->": lambda x, y: (A, x * y),
    "i,ij,j->": lambda x, y: (x, A, y),
    "ij, j, i": lambda x, y: (B, x * y, V),
    "ij,jk,k->i": lambda x, y: (B, A, x * y),
    "ai,bi,a,b,i->i": lambda x, y: (B, B, V, V, x * y),
}


@pytest.mark.parametrize("subscripts", EINSUM)
def test_einsum_of_points(subscripts):
    def function(x, y):
        whole = np.einsum(subscripts, *EINSUM[subscripts](x, y)) * 1.0
        return whole.sum() + x[0] * y[1]

    wanted = [[function(x, y) for y in Y] for x in X]
    equal(tilefold.kernel(function, x=X, y=Y), np.array(wanted))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.sort(x) @ y,
        lambda x, y: np.sort(-x)[::-1] @ y,
        lambda x, y: np.nan_to_num(x) @ y,
        lambda x, y: np.nan_to_num(x, nan=2.5, posinf=1.0, neginf=-1.0) @ y,
        lambda x, y: np.flip(x) @ y,
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_that_are_not_finite_among_components(function, dtype):
    x = np.array([[np.nan, 1, 0], [2, np.inf, -1], [-np.inf, 3, np.nan]])
    x, y = x.astype(dtype), np.array([[0.5, 0.0, 0.25]], dtype)
    with np.errstate(all="ignore"):
        wanted = [[function(a, b) for b in y] for a in x]
    found = tilefold.kernel(function, x=x, y=y).dense()
    np.testing.assert_allclose(found, np.array(wanted), rtol=1e-6)


def test_truths_become_numbers_of_the_type_that_is_computed_in():
    def function(x, y):
        return (x > 0.5).astype(float) @ y

    equal(tilefold.kernel(function, x=X, y=Y), (X > 0.5) @ Y.T)
    with pytest.raises(tilefold.ArgumentError, match="computes in one type"):
        tilefold.kernel(function, x=X.astype(np.float32), y=Y)


def test_ties_are_sorted():
    x = np.round(RANDOM.standard_normal((20, 5)))
    found = tilefold.kernel(lambda x, y: np.sort(x) @ y, x=x, y=x[:3]).dense()
    np.testing.assert_allclose(found, np.sort(x, axis=1) @ x[:3].T)


REFUSED_POINTS = {
    "np.kron": lambda x, y: np.outer(x, y).sum(),
    "at most 16": lambda x, y: np.sort(np.concatenate([x] * 6)).sum() * y[0],
    "sort x.real": lambda x, y: np.sort(1j * x).real @ y,
    "of order 1 to 2": lambda x, y: np.diff(x, 3).sum() * y[0],
    "np.trunc": lambda x, y: x.astype(int) @ y,
    "convert them before": lambda x, y: x.astype("float32") @ y,
    "one axis, of its components": lambda x, y: np.cumsum(x @ y),
    "3 components, as y is": lambda x, y: np.trapezoid(x, y[:2]),
    "two or more": lambda x, y: np.trapezoid(x[:1]) * y[0],
    "one whole number": lambda x, y: np.roll(x, (1, 2)) @ y,
    "this is a matrix": lambda x, y: np.einsum("i,j->ij", x, y).sum(),
    "has one axis": lambda x, y: np.einsum("ij,j->i", x, y).sum(),
    "a text: 'i,i->'": lambda x, y: np.einsum("...i,...i->...", x, y),
    "a letter for each axis": lambda x, y: np.einsum("i,i->k", x, y),
    "as many components": lambda x, y: np.einsum("i,i->", x, y[:2]),
    "for all pairs before": lambda x, y: (
        np.einsum("ij,ij->", A, A) + x[0] * y[0]
    ),
    "x @ y": lambda x, y: np.tensordot(x, y),
    "its rows": lambda x, y: np.kron(A, x).sum() * y[0],
}


@pytest.mark.parametrize("cure", REFUSED_POINTS)
def test_what_is_refused_of_points_says_what_to_write(cure):
    with pytest.raises(tilefold.ArgumentError, match=re.escape(cure)):
        tilefold.kernel(REFUSED_POINTS[cure], x=X, y=Y)


def test_infinity_of_16_bits_is_said():
    x = X.astype(np.float16)
    with pytest.raises(tilefold.ArgumentError, match="pass posinf= and neginf"):
        tilefold.kernel(lambda x, y: np.nan_to_num(x) @ y, x=x)


def test_a_matrix_behind_the_points():
    found = tilefold.kernel(lambda x, y, M: x @ (M @ y), x=X, y=Y, M=A)
    equal(found, X @ A @ Y.T)


def test_lazy_vectors_take_functions_of_their_last_axis():
    x, y = tilefold.lazy(X, axis="i"), tilefold.lazy(Y, axis="j")
    equal((np.cumsum(x, axis=-1) * y).sum(-1), np.cumsum(X, axis=1) @ Y.T)
    equal((np.sort(x, axis=2) * y).sum(-1), np.sort(X, axis=1) @ Y.T)
    equal((x.cumsum(-1) * y).sum(-1), np.cumsum(X, axis=1) @ Y.T)
    equal(np.nan_to_num(x * y).sum(-1), X @ Y.T)
    for function in (
        lambda: np.cumsum(x),
        lambda: np.cumsum(x, axis=0),
        lambda: np.cumsum((x * y).sum(-1), axis=1),
        lambda: np.outer(x, y),
        lambda: np.einsum("i,i", x, y),
    ):
        with pytest.raises(tilefold.ArgumentError, match="of all pairs"):
            function()


@pytest.mark.parametrize("name", POINTS)
def test_points(name):
    function = POINTS[name]
    wanted = [[function(x, y) for y in Y] for x in X]
    equal(tilefold.kernel(function, x=X, y=Y), np.array(wanted))


LAYER = torch.nn.Linear(3, 2).double().requires_grad_(False)
NETWORK = torch.nn.Sequential(
    torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)
)
NETWORK.double().requires_grad_(False)
TENSORS = {
    "Linear": lambda x, y: (LAYER(x) * LAYER(y)).sum(),
    "a network": lambda x, y: NETWORK(x - y)[0],
    "relu": lambda x, y: torch.relu(x - y).sum(dim=0),
    "softmax": lambda x, y: torch.softmax(x - y, 0)[0],
    "norm": lambda x, y: torch.norm(x - y, p=1),
    "values of max": lambda x, y: torch.max(x - y, 0).values,
    "places of max": lambda x, y: (x - y).max(dim=-1)[1] * 1.0,
    "mean and prod": lambda x, y: torch.mean(x * y) + torch.prod(x * y),
    "var": lambda x, y: (x - y).var(dim=0) + torch.std(x - y),
    "real": lambda x, y: (x @ y).real,
    "to one component": lambda x, y: ONE(x - y).squeeze(-1),
    "one component alone": lambda x, y: ONE(x)[0] * ONE(y)[0],
    "of one component": lambda x, y: (WIDE(x[:1]) * WIDE(y[:1])).sum(),
    "through one component": lambda x, y: torch.tanh(WIDE(ONE(x - y))).sum(),
    "cumsum": lambda x, y: torch.cumsum(x, 0) @ y.cumsum(dim=-1),
    "diff": lambda x, y: torch.diff(x) @ y.diff(n=1),
    "roll": lambda x, y: torch.roll(x, shifts=-1, dims=0) @ y.roll(1),
    "flip": lambda x, y: torch.flip(x, [0]) @ y + x.flip(0)[0],
    "nan_to_num": lambda x, y: torch.nan_to_num(x / 0, 1.0, 2.0).sum() * y[0],
    "method nan_to_num": lambda x, y: (x / 0).nan_to_num(0.0, 2.0) @ y,
    "double": lambda x, y: x.double() @ (y > 0.5).to(torch.float64),
    "einsum": lambda x, y: torch.einsum("i,i->", x, y),
    "trapezoid": lambda x, y: torch.trapezoid(x, y) + torch.trapezoid(y, dx=2),
    "torch.kron": lambda x, y: torch.kron(x, y).sum(),
}
ONE = torch.nn.Linear(3, 1, bias=False).double().requires_grad_(False)
WIDE = torch.nn.Linear(1, 4).double().requires_grad_(False)


def test_a_layer_of_numbers_is_refused():
    x = torch.from_numpy(X[:, 0])
    with pytest.raises(tilefold.ArgumentError, match=r"as x\[:, None\]"):
        tilefold.kernel(lambda x, y: WIDE(x).sum() * y, x=x)


def test_a_sort_of_torch_is_refused():
    x = torch.from_numpy(X)
    with pytest.raises(tilefold.ArgumentError, match=r"np.sort\(x\) has"):
        tilefold.kernel(lambda x, y: torch.sort(x)[0] @ y, x=x)


@pytest.mark.parametrize("name", TENSORS)
def test_points_of_torch(name):
    function = TENSORS[name]
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    wanted = torch.stack([torch.stack([function(a, b) for b in y]) for a in x])
    equal(tilefold.kernel(function, x=x, y=y), wanted)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.stack([x, y]).sum(),
        lambda x, y: np.concatenate([x, y], axis=1).sum(),
        lambda x, y: (x[0] > y[0]) - (x[1] > y[1]),
    ],
)
def test_what_means_something_else_of_points_is_refused(function):
    with pytest.raises(tilefold.ArgumentError):
        tilefold.kernel(function, x=X, y=Y)


def test_lazy_vectors_are_joined_along_their_components():
    x, y = tilefold.lazy(X, axis="i"), tilefold.lazy(Y, axis="j")
    joined = np.concatenate([x, y], axis=-1).sum(-1).sum(axis=1)
    equal(joined, (X.sum(1)[:, None] + Y.sum(1)).sum(1))
    pair = np.stack([x @ y, x @ y], axis=2).sum(-1).sum(axis=1)
    equal(pair, 2 * (X @ Y.T).sum(1))
    equal(np.vecdot(x, y).sum(axis=1), (X @ Y.T).sum(1))
    for join in (np.concatenate, np.hstack, np.stack):
        with pytest.raises(tilefold.ArgumentError):
            join([x, y])
