# tests/python/test_dask_kernels.py - kernels of Dask's arrays.
"""Kernels whose products and reductions are lazy, and systems with them."""

import subprocess
import sys

import numpy as np
import pytest

import tilefold

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import tilefold.dask  # noqa: E402

N, M = 230, 5000
RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((N, 3)), RNG.standard_normal((M, 3))
B, V = RNG.standard_normal(M), RNG.standard_normal((M, 4))


def lazy_points():
    return da.from_array(X, chunks=(90, -1))


KERNEL = "exp(-|x_i - y_j|²/2l²)"
OF_KERNELS = {
    "K @ b": lambda K: K @ B,
    "K @ V": lambda K: K @ V,
    "K.T @ c": lambda K: K.T @ X[:, 0],
    "c @ K": lambda K: X[:, 0] @ K,
    "sum": lambda K: K.sum(),
    "mean": lambda K: K.mean(axis=0),
    "argmin": lambda K: K.argmin(axis=1),
    "argkmin": lambda K: K.argkmin(3, axis=1),
    "topk": lambda K: K.topk(3, axis=1)[0],
    "logsumexp": lambda K: K.logsumexp(axis=1),
    "var": lambda K: K.var(axis=1),
    "algebra": lambda K: np.exp(-(2 * K + 1)).sum(axis=1),
    "rows": lambda K: K[3:120] @ B,
    "a list": lambda K: K[[5, 200, 7]].sum(axis=1),
    "a row": lambda K: K[4],
    "dense": lambda K: K[:150, 4000:].dense(),
}


@pytest.mark.parametrize("case", OF_KERNELS)
def test_kernels(case):
    """`tilefold.kernel` of Dask's arrays gives what is lazy."""
    ask = OF_KERNELS[case]
    y = da.from_array(Y, chunks=(1700, -1))
    found = ask(tilefold.dask.kernel(KERNEL, x=lazy_points(), y=y, l=0.7))
    assert isinstance(found, da.Array)
    options = tilefold.Options(segment=8192)
    held = tilefold.kernel(KERNEL, x=X, y=Y, l=0.7, options=options)
    want = ask(held)
    assert found.shape == np.shape(want)
    assert found.dtype == np.asarray(want).dtype
    got = found.compute(scheduler="synchronous")
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    if case in ("K @ b", "K @ V", "argmin"):
        assert np.array_equal(got, want)


def test_kernels_of_one_array():
    x = da.from_array(X, chunks=(90, -1))
    lazy = tilefold.dask.kernel("|x_i - x_j| + 2*i", x=x)
    held = tilefold.kernel("|x_i - x_j| + 2*i", x=X)
    assert lazy.shape == (N, N)
    assert lazy.dtype == np.float64
    for ask in (
        lambda K: K.diag(),
        lambda K: K.trace(),
        lambda K: K.dense(),
        lambda K: K.add_diag(0.5) @ X[:, 0],
    ):
        got = ask(lazy).compute(scheduler="synchronous")
        np.testing.assert_allclose(got, ask(held), rtol=1e-13)


def test_sizes_are_those_of_the_whole_matrix():
    """N and M are numbers that go with every chunk."""
    text = "|x_i - y_j|/(N + 2*M)"
    lazy = tilefold.kernel(
        text,
        x=da.from_array(X, chunks=(40, -1)),
        y=da.from_array(Y, chunks=(70, -1)),
    )
    held = tilefold.kernel(text, x=X, y=Y)
    for axis in (0, 1):
        found = lazy.sum(axis).compute(scheduler="synchronous")
        np.testing.assert_allclose(found, held.sum(axis), rtol=1e-12)


def small(dtype="f8"):
    return da.from_array(X[:60].astype(dtype), chunks=(25, -1))


@pytest.mark.parametrize(("dtype", "rtol"), [("f8", 1e-10), ("f4", 1e-4)])
def test_systems(dtype, rtol):
    lazy = tilefold.dask.kernel("exp(-|x_i - x_j|²)", x=small(dtype))
    held = tilefold.kernel("exp(-|x_i - x_j|²)", x=X[:60])
    matrix = held.dense() + np.eye(60)
    b = np.c_[X[:60, 0], np.zeros(60)]
    with dask.config.set(scheduler="synchronous"):
        for side in (b, b[:, 0]):
            given = da.from_array(side.astype(dtype), chunks=40)
            found, info = lazy.solve(given, ridge=1, rtol=rtol, info=True)
            assert isinstance(found, da.Array)
            assert found.dtype == dtype
            assert info.converged
            assert info.residuals.shape == side.shape[1:]
            np.testing.assert_allclose(
                found.compute(), np.linalg.solve(matrix, side), atol=20 * rtol
            )


def test_systems_that_do_not_converge():
    lazy = tilefold.dask.kernel("exp(-|x_i - x_j|²)", x=small())
    indefinite = tilefold.dask.kernel("-|x_i - x_j|", x=small())
    with dask.config.set(scheduler="synchronous"):
        with pytest.warns(tilefold.ConvergenceWarning, match="3 iterations"):
            lazy.solve(X[:60, 0], ridge=0.1, maxiter=3)
        with pytest.warns(tilefold.ConvergenceWarning, match="not positive"):
            indefinite.solve(X[:60, 0])


REFUSALS = {
    "single pairs": (
        lambda: tilefold.kernel("|x_i - x_j|", x=lazy_points())[[1], [2]],
        tilefold.ArgumentError,
        "take rows and columns",
    ),
    "a side of another length": (
        lambda: tilefold.kernel("|x_i - x_j|", x=lazy_points()).solve(B),
        tilefold.ArgumentError,
        "230",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    run, error, message = REFUSALS[case]
    with pytest.raises(error, match=message):
        run()


def test_all_values_have_one_name():
    """As other arrays of Dask that are made alike."""

    def dense(scale):
        kernel = tilefold.kernel(KERNEL, x=lazy_points(), y=Y[:50], l=scale)
        return kernel.dense()

    one, again, other = dense(0.7), dense(0.7), dense(0.8)
    assert one.name == again.name
    assert one.name != other.name
    held = tilefold.kernel(KERNEL, x=X, y=Y[:50], l=0.7).dense()
    for got in dask.compute(one, again, scheduler="synchronous"):
        np.testing.assert_array_equal(got, held)


def test_importing_tilefold_imports_no_dask():
    code = "import sys, tilefold; assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
