# tests/python/test_masked_derivatives.py - what a mask leaves out is left out
# of derivatives, too.
"""A pair that a condition leaves out adds nothing to a value, to its gradient
and to a Hessian's products, whatever the branch is there: infinite, or NaN.

The reference lists the pairs that are left and lets PyTorch differentiate the
sum over them.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(0)
X = rng.standard_normal((7, 3))  # meets itself where i = j
WEIGHTS, DIRECTION = rng.standard_normal(7), rng.standard_normal((7, 3))
I, J = np.indices((7, 7))
R = np.sqrt(((X[:, None] - X) ** 2).sum(-1))

MASKS = {
    "i ≠ j": I != J,
    "r > 0": R > 0,
    "0 < r < 3": (R > 0) & (R < 3),
    "r² > 0": R > 0,
    "not (i == j)": I != J,
    "i < j": I < J,
    "i ≠ j and r < 2.5": (I != J) & (R < 2.5),
}
FORCE = "(x_j - x_i)/r³"
TERMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "((s/r)^12 - (s/r)^6)": lambda r: (0.9 / r) ** 12 - (0.9 / r) ** 6,
    "1/r": lambda r: 1 / r,
    "log(r)": lambda r: r.log(),
    "exp(-r)/r": lambda r: (-r).exp() / r,
    "r^-1.5": lambda r: r**-1.5,
    "1/r²": lambda r: 1 / r**2,
    FORCE: lambda r: -1 / r**3,  # times d
    "r*log(r)": lambda r: r * r.log(),
}
SPELLINGS = [
    "[{mask}]*{term}",
    "({mask})*{term}",
    "where({mask}, {term}, 0)",
    "where(not ({mask}), 0, {term})",
    "({term})*[{mask}]",
]
FORMS = list(itertools.product(MASKS, TERMS, SPELLINGS))

Results = tuple[np.ndarray, np.ndarray, np.ndarray]


def wanted(mask: np.ndarray, term: str) -> Results:
    """The sum, its gradient, and the Hessian's product with DIRECTION."""
    x = torch.tensor(X, requires_grad=True)
    first, second = torch.tensor(np.argwhere(mask)).T
    d = x[first] - x[second]
    terms = TERMS[term]((d**2).sum(-1).sqrt())
    if term == FORCE:
        terms = terms[:, None] * d
    sums = torch.zeros((7, *terms.shape[1:]), dtype=torch.float64)
    return derived(sums.index_add(0, first, terms), x)


def derived(sums: torch.Tensor, x: torch.Tensor) -> Results:
    """By PyTorch's graph, twice."""
    seed = torch.tensor(WEIGHTS if sums.ndim == 1 else DIRECTION)
    (gradient,) = torch.autograd.grad((sums * seed).sum(), x, create_graph=True)
    (product,) = torch.autograd.grad(
        (gradient * torch.tensor(DIRECTION)).sum(), x
    )
    return tuple(t.detach().numpy() for t in (sums, gradient, product))


def check(found: Results, expected: Results) -> None:
    for name, a, b in zip(
        ("value", "gradient", "Hessian"), found, expected, strict=True
    ):
        np.testing.assert_allclose(
            a, b, rtol=1e-8, atol=1e-9 * np.abs(b).max(), err_msg=name
        )


def text_of(mask: str, term: str, spelling: str) -> str:
    return (
        f"sum_j ({spelling.format(mask=mask, term=term)}) with r = |x_i - x_j|"
    )


@pytest.mark.parametrize(
    ("mask", "term", "spelling"),
    FORMS,
    ids=lambda part: part.replace(" ", ""),
)
def test_a_mask_leaves_a_pair_out_of_all_derivatives(mask, term, spelling):
    expected = wanted(MASKS[mask], term)
    scale = {"s": 0.9} if "s/r" in term else {}
    f = tilefold.compile(text_of(mask, term, spelling))
    x = torch.tensor(X, requires_grad=True)
    check(derived(f(x=x, **scale), x), expected)
    tangent = f.jvp("x")(x=X, tangent=DIRECTION, **scale)
    seed = DIRECTION if tangent.ndim > 1 else WEIGHTS
    assert np.isclose((tangent * seed).sum(), (expected[1] * DIRECTION).sum())


def by_kernel(x: torch.Tensor) -> Any:
    return tilefold.kernel("where(i ≠ j, 1/|x_i - x_j|, 0)", x=x).sum(1)


def by_a_function(x: torch.Tensor) -> Any:
    def term(x, y):
        r = ((x - y) ** 2).sum(-1) ** 0.5
        return torch.where(r > 0, 1 / r, 0)

    return tilefold.kernel(term, x=x, y=x).sum(1)


def by_lazy_points(x: torch.Tensor) -> Any:
    xi, xj = tilefold.lazy(x, axis="i"), tilefold.lazy(x, axis="j")
    r = ((xi - xj) ** 2).sum(-1).sqrt()
    return torch.where(r > 0, 1 / r, 0).sum(1)


def by_keops(x: torch.Tensor) -> Any:
    from tilefold.compat.pykeops.torch import LazyTensor

    xi, xj = LazyTensor(x[:, None]), LazyTensor(x[None])
    squares = ((xi - xj) ** 2).sum(-1)
    return (squares - 1e-12).ifelse(1 / squares.sqrt(), 0.0).sum(1)[:, 0]


@pytest.mark.parametrize(
    "face", [by_kernel, by_a_function, by_lazy_points, by_keops]
)
def test_faces_of_pytorch(face):
    x = torch.tensor(X, requires_grad=True)
    check(derived(face(x), x), wanted(I != J, "1/r"))


@pytest.mark.parametrize("backend", [None, "tiled"])
@pytest.mark.parametrize("term", ["1/r", "((s/r)^12 - (s/r)^6)"])
def test_jax(backend, term):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        text = text_of("i ≠ j", term, "[{mask}]*{term}")
        scale = {"s": 0.9} if "s/r" in term else {}

        def sums(x):
            return tilefold.jax.reduce(text, x=x, backend=backend, **scale)

        def gradient(x):
            return jax.grad(lambda x: (sums(x) * WEIGHTS).sum())(x)

        product = jax.jvp(gradient, (X,), (DIRECTION,))[1]
        found = tuple(map(np.asarray, (sums(X), gradient(X), product)))
    check(found, wanted(I != J, term))


BRANCHES = {
    # Each is NaN, infinite or too large where its condition does not hold.
    "where(a_i > 0, log(a_i), 0)*b_j": "a",
    "where(a_i > 0 and b_j > 0, b_j/a_i, 0)": "a",
    "where(a_i > 0 and b_j > 0, sqrt(a_i*b_j), 0)": "ab",
    "a_i*where(abs(b_j) < 1, exp(10*b_j^4), b_j)": "b",
    "max(min(1/a_i, b_j), -2)": "a",
    "where(a_i < 1, where(a_i > 0, 1/a_i, b_j), where(b_j < 0, 2, a_i))": "ab",
    "sum(where(v_i > 0, log(v_i)*b_j, 0))": "v",
    "sum(where(v_i > 0, v_i/(v_i·v_i), 0))*b_j": "v",
}


def points_of(name: str, random: np.random.Generator) -> np.ndarray:
    """With zeros, NaN and numbers whose exponentials are too large."""
    values = random.uniform(0.2, 2, {"a": 6, "b": 5}.get(name, (6, 2)))
    values.flat[1] = 0
    values.flat[2] *= -1
    if name == "b":
        values[:] = [0.5, -0.3, 0.9, 30, -40]
    return values


@pytest.mark.parametrize("text", BRANCHES)
def test_branches_that_are_not_taken_have_no_slope(text):
    """By differences, at points where no condition changes."""
    random = np.random.default_rng(1)
    given = {
        name: points_of(name, random) for name in "abv" if f"{name}_" in text
    }
    f = tilefold.compile("sum_ij (" + text + ")")
    gradients = f.grad(list(given))(given, grad=1.0)
    if len(given) == 1:
        gradients = (gradients,)
    for (name, values), gradient in zip(given.items(), gradients, strict=True):
        assert np.isfinite(gradient).all(), name
        if name not in BRANCHES[text]:
            continue
        for place in np.ndindex(values.shape):
            if values[place] == 0:
                continue  # a condition changes here, or none does
            step = np.zeros_like(values)
            step[place] = 1e-6
            up, down = (
                f({**given, name: values + sign * step}) for sign in (1, -1)
            )
            slope = (up - down) / 2e-6
            assert np.isclose(gradient[place], slope, 1e-5, 1e-6), place


def test_points_that_are_left_out_may_be_nan():
    y = np.vstack([X, [[np.nan, np.inf, 1]]])
    valid = np.arange(8) < 7
    f = tilefold.compile("sum_j where(v_j, exp(-|x_i - y_j|²)*x_i·y_j, 0)")
    short = tilefold.compile("sum_j exp(-|x_i - y_j|²)*x_i·y_j")
    dx, dy = f.grad(["x", "y"])(x=X, y=y, v=valid, grad=WEIGHTS)
    wanted_dx, wanted_dy = short.grad(["x", "y"])(x=X, y=X, grad=WEIGHTS)
    np.testing.assert_allclose(dx, wanted_dx, 1e-12)
    np.testing.assert_allclose(dy[:7], wanted_dy, 1e-12)
    np.testing.assert_array_equal(dy[7], 0)
