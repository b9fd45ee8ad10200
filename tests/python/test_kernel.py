# tests/python/test_kernel.py - lazy kernel matrices against dense ones.
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilefold
from conftest import Points, gaussian

PAIR = "exp(-|x_i - y_j|²/2l²)"


def make(points: Points, transposed: bool = False):
    """A kernel of `points` and the dense matrix it stands for."""
    kernel = tilefold.kernel(PAIR, x=points.x, y=points.y, l=points.l)
    if transposed:
        return kernel.T, points.matrix.T
    return kernel, points.matrix


@pytest.fixture(params=[False, True], ids=["plain", "transposed"])
def pair(request, points):
    return make(points, request.param)


def test_shape_and_representation(points):
    kernel, dense = make(points)
    assert kernel.shape == dense.shape
    assert kernel.T.shape == dense.T.shape
    assert kernel.T.T.shape == dense.shape
    assert kernel.ndim == 2
    assert len(kernel) == 50
    assert repr(kernel) == f"tilefold.Kernel of shape (50, 60): ({PAIR})"


def test_a_formula_without_subscripts_takes_x_and_y(points):
    kernel = tilefold.kernel("exp(-|x-y|²/2l²)", x=points.x, y=points.y, l=0.5)
    np.testing.assert_allclose(kernel.dense(), points.matrix, rtol=1e-12)
    np.testing.assert_allclose(
        kernel @ points.b, points.matrix @ points.b, rtol=1e-11
    )


def test_a_head_names_the_two_variables(points):
    text = "k(u, v) = σ² exp(-|u-v|²/2)"
    kernel = tilefold.kernel(text, u=points.x, v=points.y, σ=3)
    expected = 9 * gaussian(points.x, points.y, 1)
    np.testing.assert_allclose(kernel.sum(1), expected.sum(1), rtol=1e-11)


def test_definitions_stay_with_the_pair_term(points):
    text = "k(x_i, y_j) + s with k(u, v) = exp(-|u-v|²/2), s = 2a²"
    kernel = tilefold.kernel(text, x=points.x, y=points.y, a=2)
    expected = gaussian(points.x, points.y, 1) + 8
    np.testing.assert_allclose(kernel.dense(), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.sum(0), expected.sum(0), rtol=1e-11)


def test_an_argument_called_b_does_not_meet_the_vector(points):
    kernel = tilefold.kernel("exp(-b*|x-y|²)", x=points.x, y=points.y, b=2)
    np.testing.assert_allclose(
        kernel @ points.b,
        gaussian(points.x, points.y, 0.5) @ points.b,
        rtol=1e-11,
    )


def test_products_with_vectors_and_matrices(pair):
    kernel, dense = pair
    random = np.random.default_rng(0)
    rows, columns = dense.shape
    for shape in [(columns,), (columns, 4), (2, columns, 3)]:
        right = random.random(shape)
        np.testing.assert_allclose(kernel @ right, dense @ right, rtol=1e-11)
    for shape in [(rows,), (4, rows)]:
        left = random.random(shape)
        np.testing.assert_allclose(left @ kernel, left @ dense, rtol=1e-11)


def log_sum_exp(dense, axis=None):
    return np.log(np.exp(dense).sum(axis))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "logsumexp"])
def test_reductions(pair, name, axis):
    kernel, dense = pair
    out = getattr(kernel, name)(axis)
    if name == "logsumexp":
        expected = log_sum_exp(dense, axis)
    else:
        expected = getattr(dense, name)(axis)
    np.testing.assert_allclose(out, expected, rtol=1e-11)


@pytest.mark.parametrize("axis", [0, 1])
def test_positions_of_extremes(pair, axis):
    kernel, dense = pair
    np.testing.assert_array_equal(kernel.argmin(axis), dense.argmin(axis))
    np.testing.assert_array_equal(kernel.argmax(axis), dense.argmax(axis))
    order = np.moveaxis(np.argsort(dense, axis, kind="stable"), axis, -1)
    smallest = np.moveaxis(np.sort(dense, axis), axis, -1)[:, :7]
    np.testing.assert_array_equal(kernel.argkmin(7, axis), order[:, :7])
    np.testing.assert_allclose(kernel.kmin(7, axis), smallest, rtol=1e-12)


def test_diagonal(points):
    kernel = tilefold.kernel("exp(-|x_i - x_j|) + i*j", x=points.x)
    expected = 1 + np.arange(50.0) ** 2
    np.testing.assert_allclose(kernel.diag(), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.T.diag(), expected, rtol=1e-12)


INDICES = [
    3,
    -1,
    np.int64(5),
    slice(None),
    slice(2, 9, 3),
    slice(None, None, -1),
    [1, 4, 4],
    np.array([7, -2]),
    [],
    (slice(None), 2),
    (slice(None), slice(3, 6)),
    (slice(5), [0, 2]),
    ([3, 1], slice(None)),
    (2, slice(4)),
    (2, 3),
    ([1, 2, 3], [4, 5, 6]),
    ([1, 2, 3], 4),
    ([[0, 1], [2, 3]], [[4, 5], [6, 7]]),
    (..., 2),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_as_in_numpy(pair, index):
    kernel, dense = pair
    out, expected = kernel[index], dense[index]
    if isinstance(out, tilefold.Kernel):
        assert out.shape == expected.shape
        out = out.dense()
    assert np.shape(out) == np.shape(expected)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_index_symbols_see_the_listed_index():
    kernel = tilefold.kernel(
        "x_i*0 + 100*i + j + 0*y_j", x=np.ones(5), y=np.ones(7)
    )
    np.testing.assert_array_equal(kernel[3], 300 + np.arange(7))
    np.testing.assert_array_equal(kernel[[1, 4], [6, 2]], [106, 402])


@given(rows=st.lists(st.integers(-50, 49)), seed=st.integers(0, 9))
def test_any_pairs(rows, seed):
    kernel, dense = make(Points())
    columns = np.random.default_rng(seed).integers(-60, 60, len(rows))
    rows = np.array(rows, int)
    np.testing.assert_allclose(
        kernel[rows, columns], dense[rows, columns], rtol=1e-12
    )


def test_batches_come_first():
    random = np.random.default_rng(0)
    x, y = random.random((4, 1, 6, 2)), random.random((3, 7, 2))
    kernel = tilefold.kernel(PAIR, x=x, y=y, l=1)
    dense = gaussian(x, y, 1)
    assert kernel.shape == (4, 3, 6, 7)
    np.testing.assert_allclose(kernel.dense(), dense, rtol=1e-12)
    np.testing.assert_allclose(kernel.T.dense(), dense.swapaxes(-1, -2))
    np.testing.assert_allclose(kernel.sum(-1), dense.sum(-1), rtol=1e-11)
    np.testing.assert_allclose(kernel[2].dense(), dense[2], rtol=1e-12)
    np.testing.assert_allclose(kernel[2, 1, 4], dense[2, 1, 4], rtol=1e-12)
    np.testing.assert_allclose(kernel[..., 2, :], dense[..., 2, :], rtol=1e-12)


def test_arrays_are_read_when_needed(points):
    kernel, _ = make(points)
    points.x[:] = points.y[:50]
    np.testing.assert_allclose(kernel.dense(), points.matrix, rtol=1e-12)


REFUSALS = [
    (
        np.asarray,
        "a kernel of shape (50, 60) is lazy; as an array it takes 23.4 KiB\n"
        "reduce it, as in K @ b or K.sum(1), or call K.dense(); "
        "tilefold.scipy.operator(K) is SciPy's",
    ),
    (
        bool,
        "a kernel of shape (50, 60) has no truth value; as an array it takes "
        "23.4 KiB\nreduce it, as in K.max(), or compare K.shape",
    ),
    (
        iter,
        "a kernel of shape (50, 60) is not iterated over; as an array it takes "
        "23.4 KiB\nK[3] is one row, K[rows] are several, K.dense() is all",
    ),
    (
        lambda k: k @ k.T,
        "the product of two kernels is not a kernel\nwrite K1 @ (K2 @ b)",
    ),
    (
        lambda k: k.sum(2),
        "'sum' has no axis 2: the kernel has shape (50, 60)\n"
        "axis 0 is i and 1 is j",
    ),
    (
        lambda k: k.argmin(None),
        "'argmin' has no axis None: the kernel has shape (50, 60)\n"
        "axis 0 is i and 1 is j",
    ),
    (
        lambda k: k[1, 2, 3],
        "(1, 2, 3) does not index a kernel\n"
        "write K[3], K[:, 3], K[rows] or K[rows, columns]",
    ),
    (
        lambda k: k[[[0, 1], [2, 3]]],
        "[[0, 1], [2, 3]] does not index a kernel\n"
        "write K[3], K[:, 3], K[rows] or K[rows, columns]",
    ),
    (
        lambda k: k[0.5],
        "0.5 does not index a kernel\n"
        "write K[3], K[:, 3], K[rows] or K[rows, columns]",
    ),
]


@pytest.mark.parametrize(("use", "message"), REFUSALS)
def test_what_a_kernel_is_not(points, use, message):
    kernel, _ = make(points)
    with pytest.raises(tilefold.ArgumentError) as caught:
        use(kernel)
    assert str(caught.value) == message


def test_rows_that_do_not_exist(points):
    kernel, _ = make(points)
    with pytest.raises(IndexError) as caught:
        kernel[[3, 50]]
    assert str(caught.value) == (
        "row 50 of an axis of 50 rows\nrows count from 0; -1 is the last"
    )
    assert isinstance(caught.value, tilefold.RowError)


def test_pairs_that_do_not_pair_up(points):
    kernel, _ = make(points)
    with pytest.raises(tilefold.ShapeError) as caught:
        kernel[[1, 2, 3], [1, 2]]
    assert str(caught.value) == (
        "3 rows and 2 columns do not pair up\n"
        "K[rows, columns] takes lists of one length, or one number and a list"
    )


def test_only_square_kernels_have_a_diagonal(points):
    kernel, _ = make(points)
    with pytest.raises(tilefold.ShapeError) as caught:
        kernel.diag()
    assert str(caught.value) == (
        "the diagonal of a kernel of shape (50, 60)\n"
        "a diagonal needs as many rows as columns; "
        "K[rows, columns] takes any pairs"
    )


def test_a_reduction_is_no_kernel(points):
    with pytest.raises(tilefold.Error):
        tilefold.kernel("sum_j x_i·y_j", x=points.x, y=points.y)


def test_arguments_are_checked_at_once(points):
    with pytest.raises(tilefold.ArgumentError):
        tilefold.kernel(PAIR, x=points.x, l=1)
    with pytest.raises(tilefold.ShapeError):
        tilefold.kernel(PAIR, x=points.x, y=points.y[:, :2], l=1)


DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "int64", "float16"]
DTYPES += ["float32", "float64", "bool"]


@pytest.mark.parametrize("dimension", [1, 3, 9, 20])
@pytest.mark.parametrize("other", ["float32", "int8"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pairs_of_vectors_of_each_dtype(dtype, other, dimension):
    """As blocks, rows, chosen elements and a diagonal."""
    random = np.random.default_rng(dimension)
    x = random.integers(0, 5, (37, dimension)).astype(dtype)
    y = random.integers(-4, 5, (37, dimension)).astype(other)
    wide_x, wide_y = x.astype(float), y.astype(float)
    for text, wanted in {
        "x_i·y_j": wide_x @ wide_y.T,
        "|x_i - y_j|²": ((wide_x[:, None] - wide_y[None]) ** 2).sum(-1),
    }.items():
        kernel = tilefold.kernel(text, x=x, y=y)
        np.testing.assert_array_equal(kernel.dense(), wanted)
        np.testing.assert_array_equal(kernel[5], wanted[5])
        np.testing.assert_array_equal(
            kernel[[0, 9], [3, 4]], wanted[[0, 9], [3, 4]]
        )
        np.testing.assert_array_equal(kernel.diag(), wanted.diagonal())


def test_a_product_with_itself_is_written_once():
    x = np.random.default_rng(9).random((6, 3))
    K = tilefold.kernel("exp(-|x_i - x_j|²) + |x_i - x_j|/2", x=x)
    wanted = K.dense()
    for _ in range(9):
        K, wanted = K * K, wanted * wanted
    assert len(repr(K)) < 400
    np.testing.assert_allclose(K.dense(), wanted, rtol=1e-12)
    np.testing.assert_allclose(K @ np.ones(6), wanted.sum(1), rtol=1e-12)
    np.testing.assert_allclose(K.T.dense(), wanted.T, rtol=1e-12)


def test_definitions_of_a_kernel_come_before_those_that_read_it():
    x = np.random.default_rng(9).random((6, 3))
    K = tilefold.kernel("exp(-t1) + t1 with t1 = |x_i - x_j|²", x=x)
    dense = K.dense()
    found = np.where(K > 1, K, K * K + K).dense()
    wanted = np.where(dense > 1, dense, dense * dense + dense)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_is_one_pass(dtype, largest):
    random = np.random.default_rng(5)
    x, y = (random.standard_normal((n, 3)).astype(dtype) for n in (40, 50))
    y[3] = y[5]
    K = tilefold.kernel("|x_i - y_j|", x=x, y=y)
    signed = -K if largest else K
    for k, axis in ((1, 1), (4, 0), (4, -1), (70, 1)):
        before = tilefold.stats().runs
        values, places = K.topk(k, axis, largest=largest)
        assert tilefold.stats().runs == before + 1
        best = signed.kmin(k, axis)
        assert np.array_equal(values, -best if largest else best)
        assert np.array_equal(places, signed.argkmin(k, axis))
        assert places.dtype == np.int64
        assert values.dtype == best.dtype
