# tests/python/test_dask_ranges.py - chosen pairs of Dask's arrays.
"""The bits of a call in memory; chunks without pairs are not read."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import tilefold

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import tilefold.dask  # noqa: E402
import tilefold.dask_plan  # noqa: E402

SEGMENT = 64
N, M = 230, 2000
RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((N, 3)), RNG.standard_normal((M, 3))
B, C = RNG.standard_normal(M), RNG.standard_normal(N)
OPTIONS = tilefold.Options(segment=SEGMENT)
# Rows meet columns of like numbers; 200 to 220 are of no tile.
RANGES = tilefold.Ranges(
    [[0, 90], [90, 110], [110, 200], [220, N]],
    [[0, 500], [500, 510], [600, 1300], [1900, M]],
    np.eye(4, dtype=bool),
)
MASK = RANGES.mask(N, M)
GAUSSIAN = "sum_j exp(-|x_i - y_j|²) b_j"


def arrays_of(text):
    held = {"x": X, "y": Y, "b": B, "c": C}
    return {name: held[name] for name, _ in tilefold.compile(text).names}


def chunked(arrays, i=100, j=320):
    chunks = {"x": (i, -1), "y": (j, -1), "b": j, "c": i}
    return {
        name: da.from_array(value, chunks=chunks[name])
        for name, value in arrays.items()
    }


def lazily(text, arrays, **settings):
    return tilefold.dask.reduce(
        text, arrays, segment=SEGMENT, ranges=RANGES, **settings
    )


@pytest.mark.parametrize(
    "text",
    [
        GAUSSIAN,
        "logsumexp_j x_i·y_j",
        "argmin_j |x_i - y_j|²",
        "kmin_j(|x_i - y_j|², 4)",
        "softmax_j(x_i·y_j, y_j)",
        "sum_i |x_i - y_j| c_i",
        "max_i x_i·y_j",
        "mean_j |x_i - y_j|",
    ],
)
def test_bits_are_those_of_a_call_in_memory(text):
    arrays = arrays_of(text)
    found = lazily(text, chunked(arrays)).compute(scheduler="synchronous")
    want = tilefold.reduce(text, arrays, ranges=RANGES, options=OPTIONS)
    assert found.dtype == want.dtype
    assert found.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    "text",
    [
        "sum_ij exp(-|x_i - y_j|²) b_j",
        "var_j x_i·y_j",
        "max_i sum_j exp(-|x_i - y_j|²)",
    ],
)
def test_folds_and_passes(text):
    arrays = arrays_of(text)
    found = lazily(text, chunked(arrays)).compute(scheduler="synchronous")
    want = tilefold.reduce(text, arrays, ranges=RANGES)
    np.testing.assert_allclose(found, want, rtol=1e-11)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "text", ["median_j x_i·y_j", "quantile_i(x_i·y_j, 0.3)"]
)
def test_quantiles_of_chosen_pairs(text, dtype):
    """Their number is of float64, which the search in float32 is not."""
    arrays = {name: a.astype(dtype) for name, a in arrays_of(text).items()}
    found = lazily(text, chunked(arrays)).compute(scheduler="synchronous")
    want = tilefold.reduce(text, arrays, ranges=RANGES, options=OPTIONS)
    assert found.dtype == want.dtype
    assert found.tobytes() == want.tobytes()


def test_gradients():
    arrays = arrays_of(GAUSSIAN)
    found = tilefold.dask.grad(
        GAUSSIAN,
        ["x", "y", "b"],
        chunked(arrays),
        cotangent=da.from_array(C, chunks=100),
        segment=SEGMENT,
        ranges=RANGES,
    )
    weights = np.exp(-((X[:, None] - Y) ** 2).sum(-1)) * MASK
    both = weights * C[:, None] * B
    want = (
        -2 * (both.sum(1)[:, None] * X - both @ Y),
        2 * (both.T @ X - both.sum(0)[:, None] * Y),
        weights.T @ C,
    )
    for one, other in zip(dask.compute(*found), want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_kernels():
    arrays = {"x": da.from_array(X, chunks=(100, -1)), "y": Y}
    kernel = tilefold.kernel("exp(-|x_i - y_j|²)", arrays, ranges=RANGES)
    dense = np.exp(-((X[:, None] - Y) ** 2).sum(-1)) * MASK
    np.testing.assert_allclose(
        (kernel @ da.from_array(B)).compute(), dense @ B, rtol=1e-11
    )
    np.testing.assert_allclose(
        (kernel.T @ C).compute(), dense.T @ C, rtol=1e-11
    )
    with pytest.raises(tilefold.ArgumentError, match="reads elements"):
        kernel.dense()


def test_solve():
    half = N // 2
    ranges = tilefold.Ranges([0, half, N], [0, half, N], np.eye(2, dtype=bool))
    kernel = tilefold.dask.kernel(
        "exp(-|x_i - x_j|²)",
        x=da.from_array(X, chunks=(100, -1)),
        ranges=ranges,
    )
    found = kernel.solve(C, ridge=0.5, preconditioner=None, rtol=1e-10)
    dense = np.exp(-((X[:, None] - X) ** 2).sum(-1)) * ranges.mask(N, N)
    np.testing.assert_allclose(
        found.compute(), np.linalg.solve(dense + 0.5 * np.eye(N), C), rtol=1e-6
    )


def test_a_map_has_no_pairs_to_choose():
    with pytest.raises(tilefold.FormulaError, match="reduces none"):
        lazily("x_i·x_i", {"x": da.from_array(X)})


def test_chunks_without_pairs_are_not_read():
    read = set()

    def noted(block, block_info=None):
        read.add(block_info[0]["chunk-location"][0])
        return block

    y = da.from_array(Y, chunks=(320, -1)).map_blocks(
        noted, dtype=Y.dtype, meta=np.empty((0, 3))
    )
    lazily(GAUSSIAN, {"x": X, "y": y, "b": B}).compute(scheduler="synchronous")
    assert read == {0, 1, 2, 3, 4, 5, 6}
    read.clear()
    x = da.from_array(X, chunks=(110, -1))
    found = lazily(GAUSSIAN, {"x": x, "y": y, "b": B})
    found[:110].compute(scheduler="synchronous")
    assert read == {0, 1}  # columns up to 510
    assert (
        tilefold.reduce(
            GAUSSIAN, x=X, y=Y, b=B, ranges=RANGES, options=OPTIONS
        ).tobytes()
        == found.compute(scheduler="synchronous").tobytes()
    )


def test_what_goes_with_a_task():
    """Neither tiles, of which there may be millions, nor numbers unread."""
    arrays = {k: da.from_array(v) for k, v in arrays_of(GAUSSIAN).items()}
    columns = {"y": (320, -1), "b": 320}
    arrays |= {k: arrays[k].rechunk(c) for k, c in columns.items()}
    ranges = tilefold.Ranges([0, N], [0, 320], [[True]])
    lazy = tilefold.dask.reduce(
        GAUSSIAN, arrays, segment=SEGMENT, ranges=ranges
    )
    unread = [
        task
        for task in lazy.dask.to_dict().values()
        if getattr(task, "func", None) is tilefold.dask_plan._partial_of_types
    ]
    sizes = sorted(len(pickle.dumps(task)) for task in unread)
    assert len(sizes) == 6
    assert sizes[-1] < 3000
    offsets = np.arange(0, N + 1)
    ranges = tilefold.Ranges(
        offsets, np.linspace(0, M, N + 1).astype(int), np.eye(N, dtype=bool)
    )
    joining = tilefold.Reduction(GAUSSIAN, ranges=ranges)._without_pairs()
    assert joining == tilefold.Reduction(GAUSSIAN, ranges=ranges)
    assert joining.ranges.pairs == 0
    assert joining._without_pairs() == joining


@pytest.mark.parametrize("seed", range(20))
def test_parts_that_have_pairs(seed):
    random = np.random.default_rng(seed)
    offsets = [
        np.unique(np.append(random.integers(0, points, 6), [0, points]))
        for points in (N, M)
    ]
    visit = random.random([len(own) - 1 for own in offsets]) < 0.3
    ranges = tilefold.Ranges(*offsets, visit)
    i, j = (
        np.unique(np.append(random.integers(0, points, 5), [0, points]))
        for points in (N, M)
    )
    mask = ranges.mask(N, M)
    want = [
        [mask[a:b, c:d].any() for c, d in pairwise(j)] for a, b in pairwise(i)
    ]
    assert np.array_equal(ranges._meets(i, j), want)
