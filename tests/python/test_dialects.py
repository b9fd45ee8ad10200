# tests/python/test_dialects.py - what NumPy's and PyTorch's functions and
# methods are given, on kernels, lazy arrays and points: equal, or refused.
from __future__ import annotations

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
}


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
}


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
