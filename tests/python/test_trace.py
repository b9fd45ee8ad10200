# tests/python/test_trace.py - Python functions of points, read as formulas.
from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import tilefold
from tilefold.trace import trace

N, M, D = 6, 8, 3
_random = np.random.default_rng(0)
X = _random.uniform(0.2, 0.9, (N, D))
Y = _random.uniform(0.2, 0.9, (M, D))
CENTRE = np.array([0.1, 0.2, 0.3])

FUNCTIONS = {
    "gaussian": lambda x, y: np.exp(-((x - y) ** 2).sum() / (2 * 0.5**2)),
    "inner product": lambda x, y: np.tanh(x @ y + 1),
    "norms": lambda x, y: np.linalg.norm(x - y) + np.linalg.norm(x),
    "components": lambda x, y: x[0] * y[-1] + (x[1:] * y[:2]).sum(),
    "powers": lambda x, y: ((x - y) ** 3).sum() + (x @ y) ** -2 + 2 ** x[0],
    "where": lambda x, y: np.where(x[0] < y[0], x[0], np.maximum(y[1], 0.5)),
    "logic": lambda x, y: np.where((x[0] < y[0]) & ~(x[1] > 0.5), 1.0, 2.0),
    "several functions": lambda x, y: (
        np.sin(x).sum() + np.log(y).max() + np.abs(x - y).min() + np.sqrt(x[0])
    ),
    "captured array": lambda x, y: ((x - CENTRE) * (y - CENTRE)).sum(),
    "clipped": lambda x, y: np.clip(x - y, -0.1, 0.2).sum(),
    "concatenated": lambda x, y: (
        np.concatenate([x, y[:1]]) @ np.concatenate([y, x[:1]])
    ),
    "scalars": lambda x, y: np.arctan2(x[0], y[0]) + x[0] % y[0] - 1 / x[1],
    "whole parts": lambda x, y: x[0] // 0.2 + np.floor_divide(9 * y, 2).sum(),
    "matrix": lambda x, y: (
        (np.array([[1.0, 2, 3], [4, 5, 6]]) @ x).sum() * y[0]
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_points_is_a_kernel(name):
    function = FUNCTIONS[name]
    kernel = tilefold.kernel(function, x=X, y=Y)
    wanted = [[function(x, y) for y in Y] for x in X]
    np.testing.assert_allclose(kernel.dense(), wanted, rtol=1e-12)


VALUES = np.array(
    [
        0,
        -0.0,
        1e-9,
        0.3,
        -0.7,
        1,
        -1,
        1.5,
        1e7,
        -1e9,
        1e30,
        np.inf,
        -np.inf,
        np.nan,
    ]
)
OF_ONE = (
    *("arcsinh", "arccosh", "arctanh", "deg2rad", "radians", "rad2deg"),
    *("degrees", "isnan", "isinf", "isfinite", "fabs", "trunc"),
)
OF_TWO = ("fmax", "fmin", "logical_xor", "fmod", "maximum", "arctan2")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_functions_of_special_values(name, dtype):
    function, values = getattr(np, name), VALUES.astype(dtype)
    x, y = (tilefold.lazy(values, axis=axis) for axis in "ij")
    with np.errstate(all="ignore"):
        if name in OF_ONE:
            found = function(x + 0 * tilefold.lazy(values[:1], axis="j"))
            wanted = function(values[:, None])
        else:
            found, wanted = function(x, y), function(values[:, None], values)
    limits = np.finfo(dtype)
    np.testing.assert_allclose(
        found.dense(), wanted, 16 * limits.eps, atol=limits.tiny
    )


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite"])
def test_what_complex_values_are(name):
    """By their parts: their absolute value may overflow."""
    values = np.array([1, 1e200j, complex(np.inf, np.nan), complex(0, np.nan)])
    x, y = tilefold.lazy(values, axis="i"), tilefold.lazy(np.zeros(1), axis="j")
    function = getattr(np, name)
    np.testing.assert_array_equal(
        function(x + y).dense()[:, 0], function(values)
    )


@pytest.mark.parametrize("name", ["asinh", "acosh", "atanh"])
def test_slopes_of_inverse_hyperbolic_functions(name):
    """Also where one of the formula's branches is not chosen."""
    values = {"asinh": [0.0, 1e-5, 0.5, -2.0, 1e10]}.get(name, [0.0, 0.3])
    if name == "acosh":
        values = [1.5, 3.0, 1e10]
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    zero = torch.zeros(1, dtype=torch.float64)
    function = getattr(torch, name)
    found = function(tilefold.kernel("x_i + y_j", x=x, y=zero)).sum(1).sum()
    torch.testing.assert_close(
        torch.autograd.grad(found, x), torch.autograd.grad(function(x).sum(), x)
    )


TORCH = {
    "gaussian": lambda x, y: torch.exp(-((x - y) ** 2).sum(-1) / 2),
    "functions": lambda x, y: torch.sigmoid(x @ y) + torch.relu(x[0] - y[0]),
    "methods": lambda x, y: (x * y).sum().exp().sqrt() + x.norm() + x.max(),
    "clamped": lambda x, y: torch.clamp(x - y, min=-0.1).sum(),
    "joined": lambda x, y: torch.cat([x, y]).sum(),
}


@pytest.mark.parametrize("name", TORCH)
def test_functions_of_torch(name):
    function = TORCH[name]
    x, y = torch.as_tensor(X), torch.as_tensor(Y)
    kernel = tilefold.kernel(function, x=x, y=y)
    wanted = torch.stack([torch.stack([function(a, b) for b in y]) for a in x])
    torch.testing.assert_close(kernel.dense(), wanted)


def covariance(σ, l):
    return lambda x, y: σ**2 * np.exp(-((x - y) ** 2).sum() / (2 * l**2))


def test_numbers_outside_are_parameters_and_the_kernel_is_the_formulas():
    """The same cache entry as the formula with the same names."""
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    ones = np.ones(M)
    for σ, l in [(1.5, 0.5), (2.5, 0.7), (0.5, 3.0)]:
        kernel = tilefold.kernel(covariance(σ, l), x=X, y=Y, session=session)
        formula = tilefold.kernel(
            "σ² * exp(-|x_i - y_j|²/(2l²))",
            x=X, y=Y, l=l, session=session, **{"σ": σ},
        )  # fmt: skip
        np.testing.assert_allclose(kernel @ ones, formula @ ones, rtol=1e-13)
    assert session.stats().compiles == 1


def test_more_parameters_are_passed_by_name():
    kernel = tilefold.kernel(
        lambda x, y, l: np.exp(-((x - y) ** 2).sum() / l), x=X, y=Y, l=0.5
    )
    wanted = np.exp(-((X[:, None] - Y) ** 2).sum(-1) / 0.5)
    np.testing.assert_allclose(kernel.dense(), wanted)


def test_one_array_on_both_axes():
    kernel = tilefold.kernel(lambda x, y: x @ y, x=X)
    np.testing.assert_allclose(kernel.dense(), X @ X.T)


def test_points_that_are_scalars():
    kernel = tilefold.kernel(lambda a, b: (a - b) ** 2, a=X[:, 0], b=Y[:, 0])
    np.testing.assert_allclose(
        kernel.dense(), (X[:, :1] - Y[None, :, 0]) ** 2, atol=1e-15
    )


def test_gradients_reach_captured_tensors():
    centre = torch.tensor(CENTRE, requires_grad=True)
    kernel = tilefold.kernel(
        lambda x, y: ((x - centre) * (y - centre)).sum(),
        x=torch.as_tensor(X),
        y=torch.as_tensor(Y),
    )
    kernel.sum().backward()
    wanted = -M * (X - CENTRE).sum(0) - N * (Y - CENTRE).sum(0)
    np.testing.assert_allclose(centre.grad.numpy(), wanted)


def test_the_text_is_a_formula():
    text, arguments = trace(lambda x, y: np.exp(-x @ y), {"x": X, "y": Y})
    assert text == "exp(((-x_i) @ y_j))"
    assert list(arguments) == ["x", "y"]


def branches(x, y):
    return x[0] if x[0] > y[0] else y[0]


REFUSALS = [
    (
        "TracedTruth",
        branches,
        "a traced value is neither true nor false: it stands for all pairs\n"
        "write numpy.where(condition, a, b) in place of if, and & | ~ for "
        "and, or, not",
    ),
    (
        "TracedNumber",
        lambda x, y: math.exp(x[0] - y[0]),
        "a traced value is no single number: it stands for all pairs\n"
        "use numpy.exp and the like, which know it, in place of math.exp and "
        "float()",
    ),
    (
        "TracedArray",
        lambda x, y: np.asarray(x * y),
        "a traced value is no array: it stands for all pairs\n"
        "compute with it by operators and NumPy's functions of one value",
    ),
    (
        "TracedLength",
        lambda x, y: sum(x @ y),
        "a traced value is not iterated over\n"
        "use x[k] for a component, x.sum(), or x @ y",
    ),
    (
        "TracedFunction",
        lambda x, y: np.spacing(x @ y),
        "'spacing' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "TracedFunction",
        lambda x, y: np.linalg.norm(x - y, 0),
        "'norm of order 0' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "TracedFunction",
        lambda x, y: np.add(x[0], y[0], where=False),
        "'add(…, where=…)' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "TracedFunction",
        lambda x, y: (x - y).sum(initial=3.0),
        "'sum(…, initial=…)' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "TracedFunction",
        lambda x, y: np.max(x - y, where=[True, False]),
        "'max(…, where=…)' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "TracedValue",
        lambda x, y: x @ y + np.zeros((2, 2, 2)),
        "ndarray is no value of a formula\n"
        "use numbers, and arrays of at most two dimensions",
    ),
    (
        "TracedSignature",
        lambda x: x[0],
        "a function of (x) where one of a point x and a point y was expected"
        "\nwrite lambda x, y: …, and pass x=… and y=… (only x=… for one array "
        "on both axes)",
    ),
]


@pytest.mark.parametrize(
    ("code", "function", "message"), REFUSALS, ids=[row[0] for row in REFUSALS]
)
def test_functions_that_are_refused(code, function, message):
    with pytest.raises(tilefold.ArgumentError) as caught:
        tilefold.kernel(function, x=X, y=Y)
    assert caught.value.code == code
    assert str(caught.value) == message


def test_a_point_that_is_declared_has_its_components():
    x, y = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(4, 2)
    kernel = tilefold.kernel(
        lambda x, y, s: (2 * x).sum(-1) * s[1] + y.sum(-1),
        x=tilefold.Vi(x),
        y=tilefold.Vj(y),
        s=tilefold.Pm([1.0, 3.0]),
    )
    wanted = 6 * x.sum(-1)[:, None] + y.sum(-1)
    np.testing.assert_array_equal(kernel.dense(), wanted)
