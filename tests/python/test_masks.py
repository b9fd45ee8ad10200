# tests/python/test_masks.py - masks of index symbols: what is left out.
"""Tiles that a mask of i and j proves to count for nothing are not met."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

rng = np.random.default_rng(3)
N, M = 3000, 5000
x = rng.normal(size=(N, 3)).astype(np.float32)
y = rng.normal(size=(M, 3)).astype(np.float32)
b = rng.normal(size=M).astype(np.float32)
V = rng.normal(size=(M, 12)).astype(np.float32)
I, J = np.arange(N)[:, None], np.arange(M)[None]
D = ((x[:, None].astype(float) - y) ** 2).sum(-1)


def counted(text: str, **arrays):
    """The result, and tiles met and left out."""
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    found = tilefold.compile(text, session=session)(arrays)
    stats = session.stats()
    return found, stats.tiles_visited, stats.tiles_skipped


MASKS = {
    "abs(i - j) < w": abs(I - J) < 100,
    "j <= i": J <= I,
    "not (j < i + w)": ~(J < I + 100),
    "j >= 2*i and j - i < 3*w": (J >= 2 * I) & (J - I < 300),
    "min(i, j) >= 2900 or j > 4900": (np.minimum(I, J) >= 2900) | (J > 4900),
    "max(i, j) <= w": np.maximum(I, J) <= 100,
    "i == j": I == J,
    "w > 50 and j <= i": J <= I,
    "(3 < 2 or w < 50) or j < i - 1000": J < I - 1000,
    "not (w < 50 or j < i)": J >= I,
    "-w < j - i and |x_i - y_j| < 2": (J - I > -100) & (np.sqrt(D) < 2),
    "0.5*j < i": 0.5 * J < I,
    "i // 300 == j // 300": I // 300 == J // 300,
    "(i - j) // w == 0": (I - J) // 100 == 0,
    "(i - j) // -250 > 5": (I - J) // -250 > 5,
    "abs(i + i - j) // 3 < w": abs(2 * I - J) // 3 < 100,
}


@pytest.mark.parametrize("mask", MASKS)
def test_sums(mask: str) -> None:
    """The same numbers, from the tiles that count."""
    k = np.exp(-D) * MASKS[mask]
    given = {"x": x, "y": y, "b": b, "w": 100.0}
    if "w" not in mask:
        del given["w"]
    text = f"sum_j where({mask}, exp(-|x_i - y_j|²), 0) b_j"
    found, met, left_out = counted(text, **given)
    np.testing.assert_allclose(found, k @ b, rtol=2e-5, atol=2e-5)
    assert left_out > 0
    assert met < 0.8 * (met + left_out)
    del given["b"]
    kernel = tilefold.kernel(f"where({mask}, exp(-|x_i - y_j|²), 0)", given)
    np.testing.assert_allclose(kernel @ V, k @ V, rtol=2e-5, atol=5e-5)
    np.testing.assert_allclose(kernel.T @ x, k.T @ x, rtol=2e-5, atol=5e-5)


def test_a_band_meets_few_tiles() -> None:
    """Tiles met are those that the band crosses, whatever the plan."""
    text = "sum_j where(abs(i - j) < w, exp(-|x_i - y_j|²), 0)"
    _, met, left_out = counted(text, x=x, y=y, w=1)
    # A panel of columns, or two, for each tile of 16 to 64 rows.
    assert N / 64 <= met <= 2.5 * N / 16
    assert met <= 0.12 * (met + left_out)
    assert met + left_out >= (N // 64) * (M // 256)


REDUCTIONS = {
    "max_j where(j < i, |x_i - y_j|², -inf)": lambda w: np.where(
        w, D, -np.inf
    ).max(1),
    "min_j where(j < i, |x_i - y_j|², inf)": lambda w: np.where(
        w, D, np.inf
    ).min(1),
    "logsumexp_j where(j < i, -|x_i - y_j|², -inf)": lambda w: np.log(
        (np.exp(-D) * w).sum(1)
    ),
    "count_j (j < i and |x_i - y_j| < 1)": lambda w: ((D < 1) & w).sum(1),
    "any_j (j < i and |x_i - y_j| < 0.1)": lambda w: ((D < 0.01) & w).any(1),
    "sum_i where(j < i, exp(-|x_i - y_j|²), 0)": lambda w: (np.exp(-D) * w).sum(
        0
    ),
    "sum_ij where(j < i, exp(-|x_i - y_j|²), 0)": lambda w: (
        np.exp(-D) * w
    ).sum(),
}


@pytest.mark.parametrize("text", REDUCTIONS)
def test_reductions(text: str) -> None:
    """Each with its own identity."""
    with np.errstate(divide="ignore"):
        expected = REDUCTIONS[text](J < I)
    found, met, left_out = counted(text, x=x, y=y)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    assert 0 < met < 0.9 * (met + left_out)


@pytest.mark.parametrize(
    "text",
    [
        "sum_j where(j < i, exp(-|x_i - y_j|²), 1)",
        "sum_j where(j < i, exp(-|x_i - y_j|²), a)",
        "argmin_j where(j < i, |x_i - y_j|², inf)",
        "(sum_j where(j < i, |x_i - y_j|², 0)) / (sum_j |x_i - y_j|²)",
    ],
)
def test_what_counts_outside_is_met(text: str) -> None:
    """No tile is left out where the other branch counts."""
    given = {"x": x, "y": y, "a": 0.0}
    if "a)" not in text:
        del given["a"]
    _, met, left_out = counted(text, **given)
    assert met == left_out == 0


def test_causal_attention_skips_half() -> None:
    """softmax_j with a mask: half of the tiles, and the same result."""
    q, v = x, V
    text = "softmax_j(where(j <= i, q_i·k_j, -inf), v_j)"
    found, met, left_out = counted(text, q=q, k=y, v=v)
    s = np.where(J <= I, q.astype(float) @ y.T, -np.inf)
    p = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(
        found, (p / p.sum(1, keepdims=True)) @ v, rtol=1e-4, atol=1e-5
    )
    assert met < 0.45 * (met + left_out)


def test_what_a_mask_leaves_out_is_not_read() -> None:
    """NaN behind a mask of indices does not matter, in any tile."""
    padded = b.copy()
    padded[4000:] = np.nan
    text = "sum_j where(j < n, exp(-|x_i - y_j|²), 0) b_j"
    for n in (4000, 3990):
        found = tilefold.reduce(text, x=x, y=y, b=padded, n=n)
        expected = np.exp(-D[:, :n]) @ b[:n]
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def test_gradients_skip_too() -> None:
    """The mask stands around what is summed in the gradients."""
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile(
        "sum_j where(abs(i - j) < 9, exp(-|x_i - y_j|²), 0) b_j",
        session=session,
    )
    dx, db = f.grad(["x", "b"])(x=x, y=y, b=b, grad=1.0)
    k = np.exp(-D) * (abs(I - J) < 9)
    np.testing.assert_allclose(db, k.sum(0), rtol=2e-5, atol=2e-5)
    expected = -2 * ((k * b)[:, :, None] * (x[:, None] - y)).sum(1)
    np.testing.assert_allclose(dx, expected, rtol=1e-4, atol=1e-4)
    stats = session.stats()
    assert stats.tiles_visited < 0.2 * (
        stats.tiles_visited + stats.tiles_skipped
    )


def test_listed_rows_keep_their_numbers() -> None:
    """Rows of a masked kernel, in any order."""
    kernel = tilefold.kernel("where(abs(i - j) < 5, |x_i - y_j|², 0)", x=x, y=y)
    rows = np.array([2999, 3, 1700])
    expected = np.where(abs(I - J) < 5, D, 0)[rows]
    found = kernel[rows]
    found = found.dense() if isinstance(found, tilefold.Kernel) else found
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_explain_names_the_mask() -> None:
    """What is left out stands in the stage that splits by axes."""
    text = "sum_j where(j <= i, |x_i - y_j|², 0)"
    assert "cannot hold are left out" in tilefold.explain(text, x=x, y=y)


def masks_of_numpy(j, w):
    """The masks below by name, of NumPy's arithmetic."""
    with np.errstate(all="ignore"):
        return {
            "j < w": j < w,
            "not (j < w)": ~(j < w),
            "j <= w": j <= w,
            "not (j <= w)": ~(j <= w),
            "j == w": j == w,
            "j // w == 1": np.floor_divide(j, w) == 1,
            "not (j // w < 3)": ~(np.floor_divide(j, w) < 3),
            "j // w == j // 7": np.floor_divide(j, w) == np.floor_divide(j, 7),
            "j != w": j != w,
            "not (j*w > 5)": ~(j * w > 5),
            "not ((j - 500)*w <= big)": ~((j - 500) * w <= np.inf),
            "not (min(j, w) >= 0)": ~(np.minimum(j, w) >= 0),
            "not (max(j, w) >= 0)": ~(np.maximum(j, w) >= 0),
            "abs(j - w) < 5 or not (abs(j - w) > 0)": (abs(j - w) < 5)
            | ~(abs(j - w) > 0),
        }


@pytest.mark.parametrize(
    "w", [np.nan, np.inf, -np.inf, 300.0, 0.0, 0.1, 2.5, -7.0, 1e-310]
)
@pytest.mark.parametrize("mask", masks_of_numpy(np.arange(3.0), 1.0))
def test_bounds_that_are_no_numbers(mask: str, w: float) -> None:
    """A comparison with NaN is false, and `not` of it true: at each pair."""
    wanted = masks_of_numpy(np.arange(700.0), w)[mask].sum()
    given = {"x": np.ones((300, 1)), "y": np.ones((700, 1)), "w": w}
    if "big" in mask:
        given["big"] = np.inf
    text = f"sum_j where({mask}, x_i·y_j, 0)"
    np.testing.assert_array_equal(tilefold.reduce(text, given), wanted)
