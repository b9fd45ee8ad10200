# tests/python/test_meeting_points.py - second derivatives where points meet.
"""Of a smooth function of |x - y|, f, the Hessian at x = y is f''(0) I."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

l, p = 0.7, 2.0

# A formula, and its second derivative by the distance at 0.
SMOOTH = {
    "gaussian(x_i, y_j, l)": -1 / l**2,
    "matern32(x_i, y_j, l)": -3 / l**2,
    "matern52(x_i, y_j, l)": -5 / 3 / l**2,
    "wendland(x_i, y_j, l)": -20 / l**2,
    "periodic(x_i, y_j, p, l)": -4 * np.pi**2 / (p * l) ** 2,
    "rational_quadratic(x_i, y_j, p, l)": -1 / l**2,
    "(1 + √3*|x_i-y_j|/l) exp(-√3*|x_i-y_j|/l)": -3 / l**2,
    "(1 + r + r²/3) exp(-r) with r = √5*|x_i-y_j|/l": -5 / 3 / l**2,
    "sech(|x_i-y_j|) with sech(r) = 1/cosh(r)": -1.0,
    "cos(|x_i-y_j|/l)": -1 / l**2,
    "|x_i-y_j|^3 + |x_i-y_j|^4": 0.0,
    "log(1 + |x_i-y_j| - tanh(|x_i-y_j|) + |x_i-y_j|²)": 2.0,
}
# Not smooth: the subgradient of what is added up is 0.
KINKED = ["exp(-|x_i-y_j|/l)", "|x_i-y_j|", "laplace(x_i, y_j, l)"]


def arguments(formula, x, y):
    known = {"x": x, "y": y, "l": l, "p": p}
    names = {name for name, _ in tilefold.compile(formula).names}
    return {name: known[name] for name in names}


def with_inner(formula, inner):
    """`inner` of the formula's value; what follows `with` stays last."""
    value, *rest = formula.split(" with ")
    return " with ".join([inner.format(value), *rest])


@pytest.fixture(params=["float64", "float32"])
def dtype(request):
    return request.param


def tolerance(dtype):
    return 1e-6 if dtype == "float64" else 2e-3


@pytest.mark.parametrize("formula", SMOOTH)
@pytest.mark.parametrize("shape", [(2, 3), (2, 1), (2,)])
def test_laplacians(formula, shape, dtype):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    size = shape[1] if len(shape) > 1 else 1
    text = with_inner(formula, "sum_j where(i == j, laplacian({}, x_i), 0)")
    found = tilefold.reduce(text, arguments(formula, x, x))
    wanted = np.full(2, size * SMOOTH[formula])
    np.testing.assert_allclose(found, wanted, tolerance(dtype), 1e-6)


@pytest.mark.parametrize("formula", SMOOTH)
@pytest.mark.parametrize("apart", [0.0, 1e-300, 1e-15, 1e-11, 1e-8, 1e-6])
def test_hardly_apart(formula, apart):
    x = np.zeros((1, 3))
    y = x + apart * np.array([0.6, 0.0, -0.8])
    text = with_inner(formula, "sum_j laplacian({}, x_i)")
    found = tilefold.reduce(text, arguments(formula, x, y))
    np.testing.assert_allclose(found, 3 * SMOOTH[formula], 1e-4, 1e-4)


@pytest.mark.parametrize("formula", SMOOTH)
@pytest.mark.parametrize("inner", [
    "sum_j jvp(grad({}, x_i)·u, x_i, u)",
    "sum_j grad(jvp({}, x_i, u), x_i)·u",
    "sum_j jvp(jvp({}, x_i, u), x_i, u)",
    "sum_j -jvp(grad({}, y_j)·u, x_i, u)",
    "sum_j divergence(grad({}, x_i), x_i)*2/3",
    "sum_j sum(jacobian(grad({}, x_i), x_i)[0:2])*2",
])  # fmt: skip
def test_any_way(formula, inner):
    """Along u = (1, 1, 0), of length √2."""
    x = np.array([[0.5, -1.0, 2.0]])
    given = arguments(formula, x, x) | {"u": np.array([1.0, 1.0, 0.0])}
    if ", u)" not in inner:
        del given["u"]
    found = tilefold.reduce(with_inner(formula, inner), given)
    np.testing.assert_allclose(found, [2 * SMOOTH[formula]], 1e-7, 1e-7)


@pytest.mark.parametrize("formula", SMOOTH)
def test_derivatives_of_formulas(formula):
    """Of Σ_j k(x_i, y_j): first along u, then along v, or by gradients."""
    rng = np.random.default_rng(3)
    x = np.round(4 * rng.random((5, 3)))  # some are the same
    y = np.concatenate([x, x + 0.25])
    given = arguments(formula, x, y)
    f = tilefold.compile(with_inner(formula, "sum_j ({})"))
    u, v = rng.standard_normal((2, 5, 3))
    near = x + 1e-6 * u
    first = f.grad("x")
    ones = np.ones(5)
    slope = (
        first(given | {"x": near}, grad=ones)
        - first(given | {"x": x - 1e-6 * u}, grad=ones)
    ) / 2e-6
    along = first.jvp("x", tangent="t")(given, grad=ones, t=u)
    twice = first.grad("x", cotangent="g")(given, grad=ones, g=u)
    scale = np.abs(slope).max() + 1
    np.testing.assert_allclose(along / scale, slope / scale, 0, 1e-4)
    np.testing.assert_allclose(twice / scale, slope / scale, 0, 1e-4)
    moves = f.jvp("x", tangent="t").jvp("x", tangent="s")
    again = moves(given, t=u, s=v)
    np.testing.assert_allclose(again, (along * v).sum(1), 1e-6, 1e-6 * scale)


def test_weights_of_pairs_and_reductions():
    """g is of the pair, and of what a reduction gave."""
    rng = np.random.default_rng(5)
    x, b = rng.random((6, 2)), rng.random(6)
    text = "sum_j laplacian(matern52(x_i, y_j, l)*b_j*(1 + x_i·y_j), x_i)"
    found = tilefold.reduce(text, x=x, y=x, b=b, l=l)
    moved = tilefold.reduce(text, x=x + 1e-7, y=x, b=b, l=l)
    np.testing.assert_allclose(found, moved, 1e-5)


@pytest.mark.parametrize("formula", KINKED)
def test_a_kink_adds_nothing_infinite(formula):
    x = np.zeros((1, 3))
    text = f"sum_j laplacian({formula}, x_i)"
    assert tilefold.reduce(text, arguments(formula, x, x)) == 0


def test_torch_differentiates_twice():
    torch = pytest.importorskip("torch")
    x = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    out = tilefold.reduce("sum_j matern52(x_i, y_j, l)", x=x, y=x.detach(), l=l)
    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    (again,) = torch.autograd.grad(slope[0, 0], x)
    np.testing.assert_allclose(again[0], [3 * -5 / 3 / l**2, 0], 1e-9)


# Their slopes by the distance are not finite at 0.
UNBOUNDED = [
    "1/|x_i-y_j|",
    "1/sqrt(|x_i-y_j|² + l²)",
    "log(|x_i-y_j|)",
    "exp(-|x_i-y_j|/l)/|x_i-y_j|",
    "|x_i-y_j|^1.5",
    "√(|x_i-y_j| + p)/|x_i-y_j|^0.3",
]


@pytest.mark.parametrize("formula", [*UNBOUNDED, *SMOOTH, *KINKED])
def test_gradients_by_a_cotangent(formula, dtype):
    """The gradient is linear in its cotangent, whatever its limits are."""
    random = np.random.default_rng(3)
    x, y, h = (random.random((n, 3)).astype(dtype) for n in (4, 6, 4))
    value, *rest = formula.split(" with ")
    text = " with ".join([f"sum_j ({value})", *rest])
    gradient = tilefold.compile(text).grad("x")
    named = arguments(formula, x, y)
    found = gradient.grad("grad", cotangent="h")(
        **named, grad=random.random(4).astype(dtype), h=h
    )
    each = [
        gradient(**named, grad=row).astype(float)
        for row in np.eye(4, dtype=dtype)
    ]
    wanted = np.array([(h * row).sum() for row in each])
    np.testing.assert_allclose(
        found, wanted, tolerance(dtype), 1e-4 * np.abs(wanted).max()
    )
