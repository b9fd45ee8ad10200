# tests/python/test_long_chains.py - many functions of a vector, one after the
# other, whose loop over components is cut; and vectors of one component.
"""Long chains below every contraction, at the edges of a strip of 16."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from conftest import gaussian

WITH = (
    "a = sin(x_i + 0.1), c = exp(0.5 cos(a)), d = tanh(c - a), "
    "e = sin(1.1 d + c) + a"
)


def chain(x: np.ndarray) -> dict[str, np.ndarray]:
    """a to e of WITH."""
    a = np.sin(x + 0.1)
    c = np.exp(0.5 * np.cos(a))
    d = np.tanh(c - a)
    return {"a": a, "c": c, "d": d, "e": np.sin(1.1 * d + c) + a}


CONTRACTIONS = {
    "sum(e)": lambda v: v["e"].sum(-1),
    "norm(e)": lambda v: np.linalg.norm(v["e"], axis=-1),
    "a·e": lambda v: (v["a"] * v["e"]).sum(-1),
    "|c - e|²": lambda v: ((v["c"] - v["e"]) ** 2).sum(-1),
    "max(e)": lambda v: v["e"].max(-1),
    "min(e*d)": lambda v: (v["e"] * v["d"]).min(-1),
    "sum(e sum(a))": lambda v: (v["e"] * v["a"].sum(-1)[..., None]).sum(-1),
}


@pytest.mark.parametrize("width", [6, 15, 16, 17, 33])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("contraction", CONTRACTIONS)
def test_a_chain_below_a_contraction(
    contraction: str, dtype: str, width: int
) -> None:
    x = np.random.default_rng(width).standard_normal((21, width))
    x = x.astype(dtype)
    values = CONTRACTIONS[contraction](chain(x.astype(np.float64)))
    close = {"rtol": 3e-5 if dtype == "float32" else 1e-11, "atol": 1e-5}
    text = f"sum_i ({contraction}) with {WITH}"
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x), values.sum(), **close
    )
    text = f"max_i ({contraction}) with {WITH}"
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x), values.max(), **close
    )


@pytest.mark.parametrize("width", [7, 16, 35])
def test_a_chain_of_pairs(width: int) -> None:
    random = np.random.default_rng(width)
    x, y = random.standard_normal((2, 19, width))
    pairs = chain(x[:, None] - y)
    wanted = (pairs["e"] * pairs["a"]).sum(-1).sum(1)
    text = "sum_j (a·e) with " + WITH.replace("x_i", "(x_i - y_j)")
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x, y=y), wanted, rtol=1e-10, atol=1e-12
    )


def test_a_chain_below_a_product_with_a_matrix() -> None:
    random = np.random.default_rng(1)
    x, m = random.standard_normal((30, 18)), random.standard_normal((18, 4))
    text = f"sum_i (e @ m) with {WITH}"
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x, m=m), (chain(x)["e"] @ m).sum(0), rtol=1e-10
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_one_component_are_those_of_numbers(dtype: str) -> None:
    """Enough pairs for a kernel of their own."""
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, 2100, 3)).astype(dtype)
    b = random.standard_normal(2100).astype(dtype)
    formula = tilefold.compile("sum_j exp(-|x_i - y_j|²/2) b_j")
    numbers = formula(x=x, y=y, b=b)
    vectors = formula(x=x, y=y, b=b[:, None])
    assert vectors.shape == (2100, 1)
    np.testing.assert_array_equal(vectors[:, 0], numbers)
    pair = np.stack([b, b], 1)
    wide = formula(x=x, y=y, b=pair)
    rtol = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(wide[:, 1], numbers, rtol=rtol, atol=1e-4)
    exact = gaussian(x, y, 1.0) @ b.astype(np.float64)
    np.testing.assert_allclose(numbers, exact, rtol=rtol, atol=1e-4)
    weights = np.ones((2100, 1), dtype)
    gradient = formula.grad("b")(x=x, y=y, b=b[:, None], grad=weights)
    assert gradient.shape == (2100, 1)
    np.testing.assert_allclose(
        gradient[:, 0], gaussian(x, y, 1.0).sum(0), rtol=rtol
    )


@pytest.mark.parametrize("operation", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_nan_anywhere(operation: str, dtype: str) -> None:
    """In every column in turn, also of the last and incomplete tiles."""
    x = np.linspace(-1, 1, 37).astype(dtype)
    formula = tilefold.compile(f"{operation}_j (x_i y_j)")
    for place in range(23):
        y = np.cos(np.arange(23.0)).astype(dtype)
        y[place] = np.nan
        found = formula(x=x, y=y)
        with np.errstate(invalid="ignore"):
            wanted = getattr(np, operation)(np.outer(x, y), axis=1)
        np.testing.assert_array_equal(found, wanted)
