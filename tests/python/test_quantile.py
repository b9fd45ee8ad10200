# tests/python/test_quantile.py - quantile_j and median_j beside NumPy's.
"""Exact: every value that is found is one of those there are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import torch

import tilefold

LEVELS = [0, 0.1, 0.25, 1 / 3, 0.5, 0.77, 1]
DTYPES = [np.float32, np.float64]


def values(count: int, dtype: type, seed: int = 0) -> np.ndarray:
    """Of all exponents and both signs, with ties and zeros."""
    rng = np.random.default_rng(seed)
    limits = np.finfo(dtype)
    exponents = rng.integers(limits.minexp, limits.maxexp, count)
    numbers = np.ldexp(rng.uniform(1, 2, count), exponents)
    numbers *= rng.choice([-1, 1], count)
    numbers[rng.random(count) < 0.1] = 0
    ties = rng.random(count) < 0.2
    numbers[ties] = rng.choice(numbers, ties.sum())
    return numbers.astype(dtype)


def of_values(level: float, numbers: np.ndarray) -> float:
    """NumPy's, in float64, of numbers whose differences do not overflow."""
    with np.errstate(all="ignore"):
        lower = np.quantile(numbers, level, method="lower").astype(np.float64)
        upper = np.quantile(numbers, level, method="higher").astype(np.float64)
        part = level * (len(numbers) - 1) % 1
    return lower if part == 0 else lower + (upper - lower) * part


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 3, 40, 1001])
def test_the_lower_value_is_exact(dtype: type, count: int) -> None:
    """Of levels that are ranks, the result is an element, to the last bit."""
    y = values(count, dtype)
    formula = tilefold.compile("quantile_j(y_j + 0*x_i, q)")
    for rank in {0, count // 3, count // 2, count - 1}:
        level = rank / max(count - 1, 1)
        if level * (count - 1) != rank:
            continue
        result = formula(x=np.zeros(3, dtype), y=y, q=level)
        assert (result == np.sort(y)[rank]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_interquartile_range_is_that_of_scipy(dtype: type) -> None:
    rng = np.random.default_rng(2)
    x, y = (rng.standard_normal((n, 3)).astype(dtype) for n in (5, 203))
    found = tilefold.reduce("iqr_j x_i·y_j", x=x, y=y)
    wanted = scipy.stats.iqr(np.float64(x) @ np.float64(y).T, axis=1)
    np.testing.assert_allclose(found, wanted, rtol=64 * np.finfo(dtype).eps)
    assert np.isnan(tilefold.reduce("iqr_j x_i·y_j", x=x, y=y[:0])).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("sizes", [(1, 1), (7, 2), (33, 300), (300, 33)])
def test_values_of_pairs(dtype: type, level: float, sizes) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((n, 3)).astype(dtype) for n in sizes)
    formula = tilefold.compile("quantile_j(x_i·y_j, q)")
    wanted = np.quantile(np.float64(x) @ np.float64(y).T, level, axis=1)
    precision = 64 * np.finfo(dtype).eps
    np.testing.assert_allclose(formula(x=x, y=y, q=level), wanted, 0, precision)


def test_over_i_and_over_both() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((20, 3)), rng.standard_normal((31, 3))
    dense = np.linalg.norm(x[:, None] - y, axis=-1)
    for axes, axis in (("i", 0), ("j", 1), ("ij", None)):
        result = tilefold.reduce(f"median_{axes} |x_i - y_j|", x=x, y=y)
        np.testing.assert_allclose(result, np.median(dense, axis), 1e-14)


def test_components_and_several_levels() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((9, 3)), rng.standard_normal((30, 3))
    result = tilefold.reduce("median_j (x_i - y_j)", x=x, y=y)
    np.testing.assert_allclose(result, np.median(x[:, None] - y, 1), 1e-13)
    result = tilefold.reduce("quantile_j(x_i·y_j, q)", x=x, y=y, q=LEVELS)
    wanted = np.quantile(x @ y.T, LEVELS, axis=1).T
    np.testing.assert_allclose(result, wanted, 1e-12, 1e-14)
    own = rng.random(9)
    result = tilefold.reduce("quantile_j(x_i·y_j, q_i)", x=x, y=y, q=own)
    wanted = [np.quantile(r, q) for r, q in zip(x @ y.T, own, strict=True)]
    np.testing.assert_allclose(result, wanted, 1e-12, 1e-14)


@pytest.mark.parametrize("batch", [(), (2,), (3, 2)])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_levels_as_many_as_points_or_batches(batch, count: int) -> None:
    """They are no numbers of points, and none of batches."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((*batch, 3, 2)).astype(np.float32)
    y = rng.standard_normal((*batch, 4, 2)).astype(np.float32)
    dense = x @ np.swapaxes(y, -1, -2)
    levels = np.linspace(0.1, 1, count)
    for library in (np.asarray, torch.tensor):
        kernel = tilefold.kernel("x_i·y_j", x=library(x), y=library(y))
        for axis in (-1, -2, (-2, -1)):
            for keep in (False, True):
                found = kernel.quantile(list(levels), axis, keepdims=keep)
                wanted = np.quantile(dense, levels, axis, keepdims=keep)
                assert tuple(found.shape) == wanted.shape
                np.testing.assert_allclose(found, wanted, 1e-4, 1e-5)
                assert np.asarray(found).dtype == np.float32


def test_a_level_of_each_point_beside_whole_numbers() -> None:
    """Integers keep all their digits."""
    n = np.array([2**40 + 3, 2**40 + 1, 2**40 + 2], np.int64)
    assert tilefold.reduce("median_j n_j", n=n) == 2**40 + 2
    assert tilefold.reduce("quantile_j(n_j, 0.75)", n=n) == 2**40 + 2.5
    truths = np.array([True, False, True])
    assert tilefold.reduce("median_j c_j", c=truths) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_no_number(dtype: type) -> None:
    formula = tilefold.compile("quantile_j(y_j, q)")
    infinity = np.array([-np.inf, 1, np.inf, np.inf], dtype)
    assert formula(y=infinity, q=0.0) == -np.inf
    assert formula(y=infinity, q=1.0) == np.inf
    assert formula(y=infinity, q=1 / 3) == 1
    assert formula(y=infinity, q=0.9) == np.inf
    y = np.array([3, np.nan, 1], dtype)
    assert np.isnan(formula(y=y, q=0.0))
    assert np.isnan(formula(y=np.ones(3, dtype), q=np.nan))
    assert np.isnan(formula(y=np.ones(3, dtype), q=1.01))
    assert np.isnan(formula(y=np.ones(3, dtype), q=-0.01))
    assert np.isnan(formula(y=np.ones(0, dtype), q=0.5))


def test_of_chosen_pairs() -> None:
    """Each row has as many values as were chosen for it."""
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal(60), rng.standard_normal(80)
    mask = np.zeros((3, 4), bool)
    mask[0, 1] = mask[0, 3] = mask[1, 2] = True
    i, j = 20 * np.arange(4), 20 * np.arange(5)
    ranges = tilefold.Ranges(i, j, mask)
    kept = np.kron(mask, np.ones((20, 20), bool))
    result = tilefold.reduce("median_j x_i*y_j", x=x, y=y, ranges=ranges)
    dense = np.where(kept, np.outer(x, y), np.nan)
    some = kept.any(1)
    np.testing.assert_allclose(result[some], np.nanmedian(dense[some], 1))
    assert np.isnan(result[~some]).all()


def test_derivatives_are_of_the_value_that_is_found() -> None:
    rng = np.random.default_rng(5)
    x, y = torch.randn(7, 2), torch.randn(12, 2)
    x, y = (v.double().requires_grad_() for v in (x, y))
    weights = torch.from_numpy(rng.standard_normal(7))
    for level in (0.5, 0.3, 1.0):
        result = tilefold.reduce("quantile_j(x_i·y_j, q)", x=x, y=y, q=level)
        found = torch.autograd.grad((result * weights).sum(), (x, y))
        dense = torch.quantile(x @ y.T, level, dim=1)
        wanted = torch.autograd.grad((dense * weights).sum(), (x, y))
        for a, b in zip(found, wanted, strict=True):
            torch.testing.assert_close(a, b)


def test_kernels_have_them() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((15, 2)), rng.standard_normal((18, 2))
    K = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y)
    dense = K.dense()
    for axis in (None, 0, 1, -1, (0, 1)):
        for keep in (False, True):
            given = {"axis": axis, "keepdims": keep}
            for result, wanted in (
                (K.median(**given), np.median(dense, **given)),
                (K.quantile(0.3, **given), np.quantile(dense, 0.3, **given)),
                (
                    K.quantile([0.2, 0.9], **given),
                    np.quantile(dense, [0.2, 0.9], **given),
                ),
            ):
                assert np.shape(result) == np.shape(wanted)
                np.testing.assert_allclose(result, wanted, 1e-12)
    np.testing.assert_allclose(np.median(K, axis=1), np.median(dense, 1), 1e-12)
    np.testing.assert_allclose(
        np.quantile(K, 0.4, axis=0), np.quantile(dense, 0.4, 0), 1e-12
    )
    np.testing.assert_allclose(
        K.T.quantile(0.4, axis=1), np.quantile(dense, 0.4, 0), 1e-12
    )


def test_tensors_and_lazy_arrays_have_them() -> None:
    x, y = torch.randn(9, 2).double(), torch.randn(11, 2).double()
    K = tilefold.kernel("|x_i - y_j|", x=x, y=y)
    torch.testing.assert_close(
        torch.quantile(K, 0.3, dim=1),
        torch.quantile(torch.cdist(x, y), 0.3, dim=1),
    )
    with pytest.raises(tilefold.ArgumentError, match="lower of two"):
        torch.median(K)
    lazy = tilefold.lazy(x[:, None]) - tilefold.lazy(y[None, :])
    squares = (lazy**2).sum(-1)
    torch.testing.assert_close(
        squares.median(axis=1),
        torch.quantile(torch.cdist(x, y) ** 2, 0.5, dim=1),
    )


def test_a_gpu_has_kernels_for_them() -> None:
    x, y = np.ones((50, 3)), np.ones((60, 3))
    formula = tilefold.compile("median_j |x_i - y_j|")
    assert "accumulate" in str(formula.explain(x=x, y=y, gpu="sm_90"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quantile_j(x_i*y_j, 1.5)", "the level of quantile_j is 1.5"),
        ("quantile_j(x_i*y_j, -1)", "the level of quantile_j is -1"),
        ("quantile_j(x_i*y_j, y_j)", "differs along j"),
        ("quantile_j(x_i*y_j)", "quantile_j"),
        ("median_j(x_i*y_j, 0.5)", "median_j"),
        ("quantile_j([x_i, y_j], [0.1, 0.2])", "several levels"),
        ("median_j(x_i*im*y_j)", "complex"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    x, y = np.ones(3), np.ones(4)
    with pytest.raises(tilefold.FormulaError, match=message) as refused:
        tilefold.reduce(text, x=x, y=y)
    assert "^" in str(refused.value)


SMALL = np.array([-1, 1, 2, 2, 30])
OPERANDS = {
    "products": ("x_i*y_j", lambda x, y: x * y),
    "truths": ("x_i < y_j", lambda x, y: x < y),
    "a choice of constants": (
        "where(x_i < y_j, 1.5, -300)",
        lambda x, y: np.where(x < y, 1.5, -300),
    ),
    "numbers of points": (
        "j - 2*x_i + 0*y_j",
        lambda x, y: np.arange(5) - 2 * x + 0 * y,
    ),
}


@pytest.mark.parametrize("dtype", ["i1", "i2", "u1", "i4", "i8", "f2", "f4"])
@pytest.mark.parametrize("operand", OPERANDS)
def test_operands_of_other_dtypes_than_the_computing_one(operand, dtype):
    """Whole numbers, truths and constants beside float32."""
    text, of = OPERANDS[operand]
    x, y = np.array([0, 1, 3]).astype(dtype), np.abs(SMALL).astype(dtype)
    exact = of(*np.meshgrid(x.astype(float), y.astype(float), indexing="ij"))
    for level in (0, 0.3, 0.5, 1):
        found = tilefold.reduce(f"quantile_j({text}, q)", x=x, y=y, q=level)
        wanted = np.quantile(exact.astype(float), level, axis=1)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    found = tilefold.kernel(text, x=x, y=y).median(1)
    np.testing.assert_allclose(found, np.median(exact, 1), rtol=1e-6)
