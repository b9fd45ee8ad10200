# tests/python/test_few_points.py - a few points on one axis, many on the other.
"""Lanes run over the many, and the few are met one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilefold

rng = np.random.default_rng(11)
M = 2**17 + 37
Y = rng.normal(size=(M, 3))
B = rng.normal(size=(M, 2))
S = rng.normal(size=M)
G = np.arange(M) % 7


def squares(x: np.ndarray) -> np.ndarray:
    return ((x[..., None, :] - Y) ** 2).sum(-1)


def softmax(x: np.ndarray) -> np.ndarray:
    w = np.exp(-squares(x))
    return w @ B / w.sum(-1, keepdims=True)


FORMULAS: dict[str, Any] = {
    "sum_j exp(-|x_i - y_j|²/2) b_j": lambda x: np.exp(-squares(x) / 2) @ B,
    "sum_j exp(-|x_i - y_j|²/2) s_j": lambda x: np.exp(-squares(x) / 2) @ S,
    "x_i + mean_j (x_i - y_j)": lambda x: 2 * x - Y.mean(0),
    "max_j |x_i - y_j|²": lambda x: squares(x).max(-1),
    "argmin_j |x_i - y_j|²": lambda x: squares(x).argmin(-1),
    "argkmin_j(|x_i - y_j|², 5)": lambda x: np.argsort(squares(x), -1)[..., :5],
    "logsumexp_j(-|x_i - y_j|²)": lambda x: np.log(np.exp(-squares(x)).sum(-1)),
    "softmax_j(-|x_i - y_j|², b_j)": softmax,
    "count_j (|x_i - y_j|² < 1)": lambda x: (squares(x) < 1).sum(-1),
    "sum_j where(j mod 7 == 2, x_i·y_j, 0)": lambda x: (
        (x @ Y.T) @ (G == 2).astype(float)
    ),
    "sum_j (i + 1)*x_i·y_j": lambda x: (
        (np.arange(x.shape[-2]) + 1) * (x @ Y.sum(0))
    ),
    "(sum_j exp(-|x_i - y_j|²) s_j) / (sum_j exp(-|x_i - y_j|²))": lambda x: (
        np.exp(-squares(x)) @ S / np.exp(-squares(x)).sum(-1)
    ),
    "sum_j s_j": lambda _: S.sum(),
}


def arrays_of(text: str, x: np.ndarray) -> dict[str, np.ndarray]:
    given = {"x": x, "y": Y, "b": B, "s": S}
    return {n: a for n, a in given.items() if n + "_" in text}


@pytest.mark.parametrize("count", [1, 3, 5])
@pytest.mark.parametrize("text", FORMULAS)
def test_values(text: str, count: int) -> None:
    """Every reduction gives what it gives of many points; so do rows of j."""
    x = rng.normal(size=(count, 3))
    wanted = FORMULAS[text](x)
    found = tilefold.reduce(text, arrays_of(text, x))
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    turned = text.translate(str.maketrans("ij", "ji"))
    turned = turned.replace("jf(", "if(").replace("mjn", "min")
    if "mod" in text or "(i" in text or "kmin" in text or "argmin" in text:
        return  # words with an i or j in them
    np.testing.assert_allclose(
        tilefold.reduce(turned, arrays_of(text, x)), wanted, 1e-9, 1e-9
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_dtypes(dtype: str) -> None:
    """Of the many and of the few."""
    x, y = (9 * rng.normal(size=(2, 3))).astype(dtype), (9 * Y).astype(dtype)
    wanted = np.exp(
        -((x[:, None].astype(float) - y.astype(float)) ** 2).sum(-1) / 200
    ).sum(1)
    found = tilefold.reduce("sum_j exp(-|x_i - y_j|²/200)", x=x, y=y)
    np.testing.assert_allclose(
        found, wanted, rtol=2e-3 if "16" in dtype else 2e-6
    )


def test_strides_and_batches() -> None:
    """Every other column, from behind; batches of either."""
    x = rng.normal(size=(2, 1, 3, 3))[..., ::-1]
    y = np.asfortranarray(Y)[::-1]
    y = np.stack([y, 2 * y])
    text = "sum_j exp(-|x_i - y_j|²/2)"
    wanted = np.exp(-((x[..., None, :] - y[:, None]) ** 2).sum(-1) / 2).sum(-1)
    out = np.ones((3, 2, 2)).transpose(2, 1, 0)
    tilefold.reduce(text, x=x, y=y, out=out, accumulate=True)
    np.testing.assert_allclose(out, 1 + wanted, rtol=1e-11)
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x, y=y, sum_batch=0), wanted.sum(0), rtol=1e-11
    )


def test_threads_and_check() -> None:
    """The same bits for any number of threads; the interpreter agrees."""
    x = rng.normal(size=(2, 3)).astype(np.float32)
    y = Y.astype(np.float32)
    text = "sum_j exp(-|x_i - y_j|²/2)"
    results = [
        tilefold.reduce(text, x=x, y=y, options=tilefold.Options(threads=t))
        for t in (1, 2, 5)
    ]
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()
    assert tilefold.compile(text).check(x=x, y=y) < 1e-6


def test_masks_and_listed_rows() -> None:
    """Masks of j leave tiles out; lists of rows are of many points."""
    x = rng.normal(size=(1, 3))
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    found = tilefold.reduce(
        "sum_j where(j < 1000, x_i·y_j, 0)", x=x, y=Y, session=session
    )
    np.testing.assert_allclose(found, x @ Y[:1000].sum(0))
    kernel = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=Y)
    np.testing.assert_allclose(kernel @ S, np.exp(-squares(x)) @ S)
    np.testing.assert_allclose(
        kernel.T @ np.ones(1), np.exp(-squares(x)).sum(0), rtol=1e-12
    )


@pytest.mark.parametrize("count", [9, 16, 17, 31])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_batches_of_few_points(count: int, dtype: str) -> None:
    """Tiles are no taller than there are rows; the numbers are the same."""
    x = rng.normal(size=(9000, count, 2)).astype(dtype)
    y = rng.normal(size=(9000, 60, 2)).astype(dtype)
    b = rng.normal(size=(9000, 60, 1)).astype(dtype)
    text = "sum_j exp(-|x_i - y_j|²) b_j"
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    formula = tilefold.compile(text, session=session)
    found = formula(x=x, y=y, b=b)
    d = ((x[:, :, None] - y[:, None].astype(float)) ** 2).sum(-1)
    wanted = np.exp(-d) @ b.astype(float)
    np.testing.assert_allclose(
        found, wanted, 0, 1e-12 if dtype == "float64" else 1e-5
    )
    assert (formula(x=x[:7], y=y[:7], b=b[:7]) == found[:7]).all()
    assert session.stats().compiles <= 2  # for any size, and for few points
