# tests/python/test_partial_ranges.py - reductions over chosen pairs of data in
# parts.
"""States of chosen pairs: the bits of one call in memory; what is refused."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilefold
from test_partial import (
    FORMULAS,
    GAUSSIAN,
    SEGMENT,
    B,
    M,
    N,
    X,
    Y,
    arrays_of,
    part_of,
    rows_of,
    states_of,
)

# Rows 12 and 13 are of no tile, tile 3 meets nothing, and no tile of j begins
# at a segment; the last meets what many segments hold.
ROWS = np.array([[0, 5], [5, 12], [14, 20], [20, 21], [21, N]])
COLUMNS = np.array([[3, 70], [70, 100], [130, 131], [200, 700], [990, M]])
VISIT = np.array(
    [
        [1, 0, 1, 0, 0],
        [0, 1, 0, 1, 1],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1],
    ],
    bool,
)
RANGES = tilefold.Ranges(ROWS, COLUMNS, VISIT)
MASK = RANGES.mask(N, M)
PAIRS = [text for text in FORMULAS if "x_i" in text and "_j" in text]
ROWS_ALONE = [text for text in PAIRS if "_ij" not in text]


def reduction_of(text, ranges=RANGES):
    return tilefold.Reduction(text, segment=SEGMENT, ranges=ranges)


def in_memory(text, arrays, ranges=RANGES):
    options = tilefold.Options(segment=SEGMENT)
    return tilefold.reduce(text, arrays, ranges=ranges, options=options)


def same_bits(one, other):
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_the_sum_is_that_of_the_mask():
    d = ((X[:, None] - Y) ** 2).sum(-1)
    want = (np.exp(-d) * MASK) @ B
    arrays = arrays_of(GAUSSIAN)
    reduction = reduction_of(GAUSSIAN)
    states = states_of(reduction, arrays, [0, 2 * SEGMENT, 3 * SEGMENT, M])
    found = reduction.finalise(reduction.merge(*states), rows_of(arrays))
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-14)
    assert found[12] == found[13] == found[20] == 0


@pytest.mark.parametrize("text", PAIRS)
def test_bits_are_those_of_one_call(text):
    arrays = arrays_of(text)
    whole = in_memory(text, arrays)
    reduction = reduction_of(text)
    cuts = [0, 3 * SEGMENT, 4 * SEGMENT, 11 * SEGMENT, M]
    states = states_of(reduction, arrays, cuts)
    found = reduction.finalise(reduction.merge(*states[::-1]), rows_of(arrays))
    assert np.asarray(found).dtype == np.asarray(whole).dtype
    if "_ij" in text:  # whose rows are folded in another order
        np.testing.assert_allclose(found, whole, rtol=1e-12)
    else:
        assert same_bits(found, whole)
        assert same_bits(reduction(arrays), whole)


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_any_ranges_cuts_and_orders(data):
    text = data.draw(st.sampled_from(ROWS_ALONE))
    dtype = data.draw(st.sampled_from(["f8", "f4"]))
    arrays = {k: v.astype(dtype) for k, v in arrays_of(text).items()}
    edges = [
        sorted({0, *data.draw(st.sets(st.integers(1, points), max_size=9))})
        for points in (N, M)
    ]
    visit = np.array(
        [
            [data.draw(st.booleans()) for _ in edges[1][1:]]
            for _ in edges[0][1:]
        ],
        bool,
    ).reshape(len(edges[0]) - 1, len(edges[1]) - 1)
    ranges = tilefold.Ranges(*edges, visit)
    reduction = reduction_of(text, ranges)
    leaves = -(-M // SEGMENT)
    inner = data.draw(st.sets(st.integers(1, leaves - 1), max_size=6))
    cuts = sorted({0, M, *(leaf * SEGMENT for leaf in inner)})
    states = data.draw(st.permutations(states_of(reduction, arrays, cuts)))
    found = reduction.finalise(reduction.merge(*states), rows_of(arrays))
    assert same_bits(found, in_memory(text, arrays, ranges))


@pytest.mark.parametrize("text", PAIRS)
def test_rows_in_parts(text):
    arrays = arrays_of(text)
    reduction = reduction_of(text)
    states = []
    for a, b in pairwise([0, 7, 13, 30, N]):
        rows = {**arrays, "x": X[a:b]}
        states.append(reduction.partial(rows, i=(a, N)))
    if "_ij" in text:
        found = reduction.finalise(reduction.concatenate(*states))
        np.testing.assert_allclose(found, in_memory(text, arrays), rtol=1e-12)
        return
    found = np.concatenate(
        [reduction.finalise(state, x=X[slice(*state.rows)]) for state in states]
    )
    assert same_bits(found, in_memory(text, arrays))


def test_sums_over_i():
    text = "sum_i exp(-|x_i - y_j|²) c_i"
    c = np.linspace(-1, 1, N)
    reduction = tilefold.Reduction(text, segment=8, ranges=RANGES)
    whole = tilefold.reduce(
        text,
        x=X,
        y=Y,
        c=c,
        ranges=RANGES,
        options=tilefold.Options(segment=8),
    )
    d = ((X[:, None] - Y) ** 2).sum(-1)
    np.testing.assert_allclose(
        whole, (np.exp(-d) * MASK).T @ c, rtol=1e-12, atol=1e-14
    )
    parts = []
    for a, b in ((0, 400), (400, M)):
        states = [
            reduction.partial(
                x=X[k:last], c=c[k:last], y=Y[a:b], i=(k, N), j=(a, M)
            )
            for k, last in ((0, 16), (16, N))
        ]
        parts.append(reduction.finalise(reduction.merge(*states), y=Y[a:b]))
    assert same_bits(np.concatenate(parts), whole)


def test_batches_have_ranges_of_their_own():
    y = np.stack([Y, Y[::-1]])
    ranges = tilefold.Ranges(ROWS, COLUMNS, np.stack([VISIT, ~VISIT]))
    reduction = reduction_of("sum_j |x_i - y_j|", ranges)
    states = [
        reduction.partial(x=X[None], y=y[:, a:b], j=(a, M), batch_rank=1)
        for a, b in ((0, 5 * SEGMENT), (5 * SEGMENT, M))
    ]
    found = reduction.finalise(
        reduction.merge(*states), x=X[None], batch_rank=1
    )
    want = tilefold.reduce(
        "sum_j |x_i - y_j|",
        x=X[None],
        y=y,
        ranges=ranges,
        batch_rank=1,
        options=tilefold.Options(segment=SEGMENT),
    )
    assert same_bits(found, want)


@pytest.mark.parametrize(
    "text",
    [
        "var_j x_i·y_j",
        "mean_j |x_i - y_j|",
        "std_j x_i·y_j",
        "max_i sum_j x_i·y_j",
        "sum_j (x_i·y_j - mean_j x_i·y_j)^4",
    ],
)
def test_passes(text):
    arrays = arrays_of(text)
    reduction = reduction_of(text)
    want = tilefold.reduce(text, arrays, ranges=RANGES)
    np.testing.assert_allclose(reduction(arrays), want, rtol=1e-11)
    passes, left = reduction.passes(arrays), {}
    for step in passes:
        state = step.merge(
            *(
                step.partial(left | part_of(arrays, a, b), j=(a, M))
                for a, b in ((0, 5 * SEGMENT), (5 * SEGMENT, M))
            )
        )
        left |= step.finalise(state, left | rows_of(arrays))
    found = passes.result(left)
    np.testing.assert_allclose(found, want, rtol=1e-11)


def test_equal_reductions_have_equal_pairs():
    again = tilefold.Ranges(ROWS, COLUMNS, VISIT)
    other = tilefold.Ranges(ROWS, COLUMNS, ~VISIT)
    one = reduction_of(GAUSSIAN)
    assert one == reduction_of(GAUSSIAN, again)
    assert hash(one) == hash(reduction_of(GAUSSIAN, again))
    assert one != reduction_of(GAUSSIAN, other)
    assert one != reduction_of(GAUSSIAN, None)
    assert "pairs" in repr(one)
    loaded = pickle.loads(pickle.dumps(one))
    assert loaded == one
    arrays = arrays_of(GAUSSIAN)
    assert same_bits(loaded(arrays), one(arrays))


def test_states_of_other_pairs_are_not_merged():
    arrays = arrays_of(GAUSSIAN)
    own, other = reduction_of(GAUSSIAN), reduction_of(GAUSSIAN, None)
    left = own.partial(part_of(arrays, 0, SEGMENT), j=(0, M))
    right = other.partial(part_of(arrays, SEGMENT, M), j=(SEGMENT, M))
    for mixed in (False, True):
        with pytest.raises(tilefold.ArgumentError, match="of another formula"):
            own.merge(left, right, mixed=mixed)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "text", ["median_j x_i·y_j", "quantile_j(x_i·y_j, 0.3)", "var_j x_i·y_j"]
)
def test_passes_that_count_the_pairs(text, dtype):
    """In float32 their number is a pass of its own, that reads no array."""
    reduction = reduction_of(text)
    arrays = {n: a.astype(dtype) for n, a in arrays_of(text).items()}
    passes, left = reduction.passes(arrays), dict(arrays)
    for step in passes:
        states = [
            step.partial({**left, **part_of(arrays, p, q)}, j=(p, M))
            for p, q in pairwise([0, SEGMENT, 4 * SEGMENT, M])
        ]
        left |= step.finalise(step.merge(*states), left)
    whole = reduction(arrays)
    assert passes.result(left).dtype == whole.dtype == dtype
    np.testing.assert_array_equal(passes.result(left), whole)


def test_ranges_beyond_an_axis_are_refused():
    reduction = reduction_of(GAUSSIAN)
    arrays = arrays_of(GAUSSIAN)
    with pytest.raises(tilefold.ArgumentError, match="999"):
        reduction.partial(part_of(arrays, 0, SEGMENT), j=(0, M - 1))
    with pytest.raises(tilefold.ArgumentError, match="pass a tilefold"):
        tilefold.Reduction(GAUSSIAN, ranges=VISIT)
