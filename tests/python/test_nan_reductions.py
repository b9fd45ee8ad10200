# tests/python/test_nan_reductions.py - reductions of what is not NaN.

import warnings

import numpy as np
import pytest

import tilefold

NAMES = ["nansum", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"]


def by_numpy(name, values, axis):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of slices that are NaN throughout
        return getattr(np, name)(values, axis=axis)


def points(dtype):
    rng = np.random.default_rng(0)
    x, y = (
        rng.normal(size=(37, 3)).astype(dtype),
        rng.normal(size=(301, 3)).astype(dtype),
    )
    y[rng.random(len(y)) < 0.3] = np.nan
    x[5] = np.nan  # of which no value is a number
    return x, y


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("axis", ["i", "j", "ij"])
@pytest.mark.parametrize("name", NAMES)
def test_they_are_numpys(name, axis, dtype):
    x, y = points(dtype)
    found = tilefold.reduce(f"{name}_{axis} x_i·y_j", x=x, y=y)
    wanted = by_numpy(
        name,
        x.astype("f8") @ y.astype("f8").T,
        {"i": 0, "j": 1, "ij": None}[axis],
    )
    np.testing.assert_allclose(
        found, wanted, rtol=1e-5 if dtype == "f4" else 1e-12, atol=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
def test_infinity_is_a_number(name):
    a, b = np.ones(2), np.array([np.inf, np.nan, -1.0])
    found = tilefold.reduce(f"{name}_j a_i b_j", a=a, b=b)
    np.testing.assert_array_equal(found, by_numpy(name, np.outer(a, b), 1))


@pytest.mark.parametrize("name", NAMES)
def test_of_nothing_there_is_no_value(name):
    x, y = np.ones(2), np.empty(0)
    found = tilefold.reduce(f"{name}_j x_i y_j", x=x, y=y)
    np.testing.assert_array_equal(
        found, np.full(2, 0.0 if name == "nansum" else np.nan)
    )


@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanmax", "nanmin"])
def test_integers_are_all_counted(name):
    k, m = np.arange(4), np.array([3, -1, 2])
    found = tilefold.reduce(f"{name}_j k_i m_j", k=k, m=m)
    np.testing.assert_array_equal(
        found, getattr(np, name)(np.outer(k, m), axis=1)
    )


def test_components_are_counted_one_by_one():
    x, y = points("f8")
    y = np.random.default_rng(1).permutation(y.ravel()).reshape(y.shape)
    found = tilefold.reduce("nanmean_j x_i*y_j", x=x, y=y)
    wanted = by_numpy("nanmean", x[:, None] * y[None], 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
