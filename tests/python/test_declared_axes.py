# tests/python/test_declared_axes.py - kernels of names without subscripts.
"""`Vi` and `Vj` beside the text: as if the text had the subscripts."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from tilefold import Pm, Vi, Vj

RNG = np.random.default_rng(2)
X, Y = RNG.random((4, 2)), RNG.random((3, 2))
USES = {
    "dense": lambda K: K.dense(),
    "transposed": lambda K: (2 * K.T).dense(),
    "a function": lambda K: np.exp(K.T).dense(),
    "beside an array": lambda K: (K.T * np.ones((3, 1))).dense(),
    "compared": lambda K: (K.T > 0.5).dense(),
    "a product": lambda K: (2 * K.T) @ np.ones(4),
    "the largest": lambda K: K.T.topk(2, 0)[0],
    "a norm": lambda K: K.T.norm(),
    "a softmax": lambda K: K.T.softmax(axis=1) @ np.ones(4),
    "places": lambda K: K.T.argkmin(2, axis=0),
    "rows": lambda K: K.T[[2, 0]].dense(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("names", ["uv", "xy"])
def test_uses_of_a_kernel(use, names):
    a, b = names
    declared = tilefold.kernel(
        f"exp(-|{a}-2*{b}|²/l)", {a: Vi(X), b: Vj(Y), "l": Pm(2.0)}
    )
    spelled = tilefold.kernel("exp(-|x_i-2*y_j|²/l)", x=X, y=Y, l=2.0)
    np.testing.assert_array_equal(USES[use](declared), USES[use](spelled))


def test_a_kernel_and_its_transpose():
    """Of points on one axis each; the sum is symmetric."""
    K = tilefold.kernel("u*v*v", u=Vi(X[:, 0]), v=Vj(Y[[0, 1, 2, 0], 1]))
    whole = K.dense()
    np.testing.assert_allclose((K + K.T).dense(), whole + whole.T)
    one = tilefold.kernel("exp(-|x-y|²)", x=Vi(X), y=Vj(Y))
    other = tilefold.kernel("exp(-|x-y|²)", x=Vj(Y), y=Vi(X))
    np.testing.assert_allclose((one + other).dense(), 2 * one.dense())


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_diagonals_and_pairs_where_they_are_recorded(library):
    xp = pytest.importorskip(library)
    x = xp.asarray(X)
    if library == "torch":
        x.requires_grad_()
    K = tilefold.kernel("1 + u·v", u=Vi(x), v=Vj(x))
    exact = 1 + X @ X.T
    for found, expected in (
        (K.diag(), np.diag(exact)),
        (K.trace(), np.trace(exact)),
        (K[[0, 3], [1, 2]], exact[[0, 3], [1, 2]]),
    ):
        found = found.detach() if library == "torch" else found
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)


A, C = np.array([1.0, 2.0, 5.0]), np.array([10.0, 20.0])
DECLARED = {
    "exchanged": ("(x - 2*y)**3", {"x": Vj(A), "y": Vi(C)}),
    "exchanged beside a number": (
        "(x - 2*y)*(j + 1)",
        {"x": Vj(A), "y": Vi(C)},
    ),
    "exchanged beside draws": (
        "(x - 2*y)*rand(7, i, j)",
        {"x": Vj(A), "y": Vi(C)},
    ),
    "a parameter": ("x*y*u", {"x": Pm(2.0), "y": Vj(A), "u": Vi(C)}),
    "the other a parameter": ("x*y*u", {"x": Vj(A), "y": Pm(2.0), "u": Vi(C)}),
    "both on one axis": ("(x - 2*y)*u", {"x": Vj(A), "y": Vj(A), "u": Vi(C)}),
    "one of two": ("(x - 2*y)*u", {"x": Vj(A), "y": A, "u": Vi(C)}),
    "on the axes that they have": ("(x - 2*y)", {"x": Vi(C), "y": Vj(A)}),
}


@pytest.mark.parametrize("name", DECLARED)
def test_declarations_mean_what_they_do_in_a_reduction(name):
    text, arguments = DECLARED[name]
    text = text.replace("**", "^")
    expected = tilefold.reduce(f"sum_j ({text})", arguments)
    K = tilefold.kernel(text, arguments)
    np.testing.assert_allclose(K.sum(1), expected)
    np.testing.assert_allclose(K.dense().sum(1), expected)
    np.testing.assert_allclose((2 * K).sum(1), 2 * expected)
