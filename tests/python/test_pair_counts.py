# tests/python/test_pair_counts.py - means and spreads of pairs that are met.
"""Where ranges leave pairs out, the others are what is divided by."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold

rng = np.random.default_rng(12)
N, M = 7, 9
TILES = [0, 2, 3, N], [0, 4, 5, M]
MET = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]], bool)
OTHERS = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
X, Y = rng.normal(size=(2, N, 2)), rng.normal(size=(2, M, 2))
DENSE = X @ np.swapaxes(Y, 1, 2)


def torch_array(values):
    return pytest.importorskip("torch").tensor(values, requires_grad=True)


def jax_array(values):
    return pytest.importorskip("jax.numpy").asarray(values)


LIBRARIES = {"numpy": np.asarray, "torch": torch_array, "jax": jax_array}


def numpy_of(array):
    detached = array.detach() if hasattr(array, "detach") else array
    return np.asarray(detached)


def spread(values, mask, axis, ddof):
    """The variance of the values that the mask has, n of which there are."""
    n = mask.sum(axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.expand_dims((values * mask).sum(axis) / n, axis)
        squares = ((values - mean) ** 2 * mask).sum(axis)
        return np.where(n > ddof, squares / (n - ddof), np.nan)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_degrees_of_freedom_are_those_of_the_pairs_met(library, axis):
    ranges = tilefold.Ranges(*TILES, MET)
    make = LIBRARIES[library]
    x, y = make(X[0].astype("f4")), make(Y[0].astype("f4"))
    kernel = tilefold.kernel("x_i·y_j", x=x, y=y, ranges=ranges)
    mask = ranges.mask(N, M)
    for k, values, met in (
        (kernel, DENSE[0], mask),
        (kernel.T, DENSE[0].T, mask.T),
    ):
        for ddof in (1, 1.5, 4):
            found = numpy_of(k.var(axis, ddof=ddof))
            wanted = spread(values, met, axis, ddof)
            np.testing.assert_allclose(found, wanted, 1e-4)
            assert found.dtype == np.float32
            kept = numpy_of(k.std(axis, ddof=ddof, keepdims=True))
            np.testing.assert_allclose(
                kept.ravel(), wanted.ravel() ** 0.5, 1e-4
            )
            assert kept.ndim == 2


def test_the_correction_of_pytorch():
    torch = pytest.importorskip("torch")
    ranges = tilefold.Ranges([0, 3], [0, 2, 3], [[True, False]])
    x, y = torch.arange(3.0), torch.arange(1.0, 4)
    kernel = tilefold.kernel("x_i*y_j", x=x, y=y, ranges=ranges)
    assert torch.var(kernel, 1).tolist() == [0, 0.5, 2]


@pytest.mark.parametrize("text", ["x_i·y_j", "[x_i·y_j, 2*x_i·y_j]"])
@pytest.mark.parametrize("visit", [MET, np.stack([MET, OTHERS])], ids=len)
def test_spreads_in_batches(text, visit):
    ranges = tilefold.Ranges(*TILES, visit)
    kernel = tilefold.kernel(text, x=X, y=Y, ranges=ranges)
    mask = np.broadcast_to(ranges.mask(N, M), (2, N, M))
    for axis in (1, 2, (1, 2)):
        found = kernel.var(axis, ddof=1)
        wanted = spread(DENSE, mask, axis, 1)
        if kernel.ndim == 4:
            wanted = wanted[..., None] * [1, 4]
        np.testing.assert_allclose(found, wanted, 1e-9)


@pytest.mark.parametrize("library", LIBRARIES)
def test_means_over_batches_that_meet_other_pairs(library):
    ranges = tilefold.Ranges(*TILES, np.stack([MET, OTHERS]))
    x, y = map(LIBRARIES[library], (X.astype("f4"), Y.astype("f4")))
    kernel = tilefold.kernel("x_i·y_j", x=x, y=y, ranges=ranges)
    mask = ranges.mask(N, M)
    for axis in ((0, 1), (0, 2), None):
        found = numpy_of(kernel.mean(axis))
        with np.errstate(invalid="ignore"):  # of a column that meets nothing
            wanted = (DENSE * mask).sum(axis) / mask.sum(axis)
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-6)
        assert found.dtype == np.float32
    turned = kernel.T.mean((0, 1), keepdims=True)
    assert tuple(turned.shape) == (1, 1, N)
    wanted = (DENSE * mask).sum((0, 2)) / mask.sum((0, 2))
    np.testing.assert_allclose(numpy_of(turned)[0, 0], wanted, 1e-4)


def test_means_of_components_over_batches():
    """Of vectors, of complex numbers, and of whole numbers."""
    ranges = tilefold.Ranges(*TILES, np.stack([MET, OTHERS]))
    mask = ranges.mask(N, M)
    total, count = (DENSE * mask).sum(), mask.sum()
    for text, factor in (
        ("[x_i·y_j, 3*x_i·y_j]", 2),
        ("x_i·y_j*(1+2im)", 1 + 2j),
    ):
        kernel = tilefold.kernel(text, x=X, y=Y, ranges=ranges)
        np.testing.assert_allclose(kernel.mean(), factor * total / count)
    kernel = tilefold.kernel("x_i·y_j > 0", x=X, y=Y, ranges=ranges)
    found = kernel.mean()
    np.testing.assert_allclose(found, ((DENSE > 0) & mask).sum() / count)


@pytest.mark.parametrize(
    "text",
    ["mean_j where(x_i·y_j > 0, 3, 1)", "var_j where(x_i·y_j > 0, j, 1)"],
)
def test_the_type_of_a_mean_is_told_where_a_framework_asks_first(text):
    """By ranges it is a quotient of two numbers of each i."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    points = [rng.random((4, 2), np.float32) for _ in "xy"]
    ranges = tilefold.Ranges([0, 2, 4], [0, 2, 4], np.eye(2, dtype=bool))
    formula = tilefold.compile(text)

    def call(*arrays):
        return formula(dict(zip("xy", arrays, strict=True)), ranges=ranges)

    expected = call(*points)
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    found = compiled(*map(torch.from_numpy, points))
    assert str(found.dtype).removeprefix("torch.") == str(expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    found = jax.jit(call)(*map(jax.numpy.asarray, points))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
