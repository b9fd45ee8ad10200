# tests/python/test_slices.py - kernels on some of their rows and columns.
from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tilefold
from conftest import gaussian

N, M = 20, 26
_random = np.random.default_rng(2)
X, Y = _random.standard_normal((N, 3)), _random.standard_normal((M, 3))
PAIR = "exp(-|x_i - y_j|²/2l²)"
MASK = np.arange(N) % 3 == 1

ROWS = {
    "a slice": slice(3, 11),
    "steps": slice(1, None, 4),
    "backwards": slice(None, None, -1),
    "backwards with steps": slice(15, 2, -3),
    "nothing": slice(7, 7),
    "a list": [4, 0, 4, -1],
    "a mask": MASK,
    "no rows": [],
}
COLUMNS = {"all": slice(None), "some": slice(2, 9), "few": [5, 1, 1]}


def blocks(rows, columns, dense):
    """Of a matrix: NumPy would pair two lists."""
    return dense[rows][:, columns]


def check(kernel, dense):
    """All that a kernel does, against the dense matrix."""
    assert kernel.shape == dense.shape
    b, c = _random.random(dense.shape[1]), _random.random(dense.shape[0])
    close = np.testing.assert_allclose
    close(kernel @ b, dense @ b, rtol=1e-11, atol=1e-300)
    close(c @ kernel, c @ dense, rtol=1e-11, atol=1e-300)
    close(kernel.T @ c, dense.T @ c, rtol=1e-11, atol=1e-300)
    close(kernel.dense(), dense, rtol=1e-12)
    close((2 * kernel - 1).sum(), (2 * dense - 1).sum(), rtol=1e-9, atol=1e-9)
    if dense.size:
        np.testing.assert_array_equal(kernel.argmax(1), dense.argmax(1))
        close(kernel.mean(0), dense.mean(0), rtol=1e-11)
        close(kernel[-1], dense[-1], rtol=1e-12)
        close(kernel[:, 0], dense[:, 0], rtol=1e-12)
        close(kernel[0, 0], dense[0, 0], rtol=1e-12)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", ROWS)
def test_a_block_is_a_kernel(rows, columns):
    rows, columns = ROWS[rows], COLUMNS[columns]
    kernel = tilefold.kernel(PAIR, x=X, y=Y, l=0.8)
    dense = gaussian(X, Y, 0.8)
    first = kernel[rows]
    assert isinstance(first, tilefold.Kernel)
    check(first[:, columns], blocks(rows, columns, dense))
    check(kernel.T[:, rows], dense[rows].T)
    if isinstance(rows, slice) or isinstance(columns, slice):
        check(kernel[rows, columns], blocks(rows, columns, dense))


@pytest.mark.parametrize("rows", ROWS)
def test_one_array_on_both_axes(rows):
    rows = ROWS[rows]
    kernel = tilefold.kernel(PAIR.replace("y_j", "x_j"), x=X, l=0.8)
    dense = gaussian(X, X, 0.8)
    check(kernel[rows], dense[rows])
    check(kernel[:, rows], dense[:, rows])
    square = kernel[rows][:, rows]
    check(square, dense[rows][:, rows])
    np.testing.assert_allclose(square.diag(), np.ones(square.shape[0]))


@pytest.mark.parametrize("rows", ROWS)
def test_index_symbols_keep_their_numbers(rows):
    rows = ROWS[rows]
    kernel = tilefold.kernel("100*i + j + 0*x_i·y_j", x=X, y=Y)
    dense = 100.0 * np.arange(N)[:, None] + np.arange(M)
    check(kernel[rows], dense[rows])
    check(kernel.T[:, rows], dense[rows].T)
    check(kernel[rows, ::2][1:, 1:], dense[rows][1:, 2::2])


@pytest.mark.parametrize("rows", ROWS)
def test_diagonals_stay_where_they_are(rows):
    rows = ROWS[rows]
    kernel = tilefold.kernel("x_i·x_j", x=X).add_diag(np.arange(N))
    dense = X @ X.T + np.diag(np.arange(float(N)))
    check(kernel[rows], dense[rows])
    check(kernel[rows][:, rows], dense[rows][:, rows])


def test_names_that_are_taken_already():
    """x2, start and list are arguments of the formula."""
    text = "list*|x_i - x_j|² + start + x2_i*x2_j + step*i with x1 = 3"
    kernel = tilefold.kernel(text, x=X, x2=X[:, 0], start=2, step=3, list=4)
    squares = ((X[:, None] - X) ** 2).sum(-1)
    dense = 4 * squares + 2 + np.outer(X[:, 0], X[:, 0])
    dense += 3 * np.arange(N)[:, None]
    check(kernel[3:9], dense[3:9])
    check(kernel[[3, 9]], dense[[3, 9]])


def test_formulas_with_heads_definitions_and_no_subscripts():
    bare = tilefold.kernel("exp(-|x-y|²/2)", x=X, y=Y)
    check(bare[2:5, 4:], gaussian(X, Y, 1)[2:5, 4:])
    head = tilefold.kernel("k(u, v) = d(u, v)² with d(a, b) = |a-b|", u=X, v=Y)
    check(head[2:5], ((X[2:5, None] - Y) ** 2).sum(-1))


def test_letters_with_two_spellings():
    kernel = tilefold.kernel("λ_i*λ_j", λ=X[:, 0])
    check(kernel[4:8], np.outer(X[4:8, 0], X[:, 0]))


def test_declared_roles_and_quantized_arrays():
    kernel = tilefold.kernel(
        "u·v", u=tilefold.Vi(X), v=tilefold.Vj(Y)
    )  # fmt: skip
    check(kernel[1:4, [3, 2]], (X @ Y.T)[1:4, [3, 2]])
    codes = tilefold.quantize(X)
    kernel = tilefold.kernel("x_i·y_j", x=codes, y=Y)
    np.testing.assert_allclose(
        kernel[[2, 7]].dense(), (codes.dequantize() @ Y.T)[[2, 7]], rtol=1e-6
    )


def test_ranges_are_of_the_whole_kernel():
    ranges = tilefold.Ranges([0, N], [0, M], np.ones((1, 1), bool))
    kernel = tilefold.kernel(PAIR, x=X, y=Y, l=1, ranges=ranges)
    for use in (lambda: kernel[2:5], lambda: kernel.radius_neighbors(1)):
        with pytest.raises(tilefold.ArgumentError) as caught:
            use()
        assert str(caught.value) == (
            "ranges choose pairs of a reduction; this reads elements of the "
            "kernel\nleave ranges away, or write a mask into the formula"
        )


def test_lists_in_place_of_arrays():
    kernel = tilefold.kernel("a_i + b_j", a=[1.0, 2, 3], b=[10.0, 20])
    np.testing.assert_array_equal(kernel[1:].dense(), [[12, 22], [13, 23]])


def test_batches():
    x, y = _random.random((4, 1, 6, 2)), _random.random((3, 7, 2))
    kernel = tilefold.kernel(PAIR, x=x, y=y, l=1)
    dense = gaussian(x, y, 1)
    out = kernel[..., 1:5, [6, 0]]
    assert out.shape == (4, 3, 4, 2)
    np.testing.assert_allclose(out.dense(), dense[..., 1:5, [6, 0]])
    np.testing.assert_allclose(kernel[..., :3].sum(-1), dense[..., :3].sum(-1))


def test_slices_are_views_and_lists_are_copies():
    x = X.copy()
    kernel = tilefold.kernel(PAIR, x=x, y=Y, l=1)
    views, copies = kernel[2:6], kernel[[2, 3, 4, 5]]
    x[:] = 0
    np.testing.assert_allclose(views.dense(), gaussian(x, Y, 1)[2:6])
    np.testing.assert_allclose(copies.dense(), gaussian(X, Y, 1)[2:6])


def test_all_rows_are_the_kernel_itself():
    kernel = tilefold.kernel(PAIR, x=X, y=Y, l=1)
    assert kernel[:]._pair is kernel._pair
    assert kernel[:, :]._pair is kernel._pair


def test_float32_stays_float32():
    kernel = tilefold.kernel("x_i·y_j + i", x=X.astype("f"), y=Y.astype("f"))
    assert kernel[2:4].dense().dtype == np.float32


def test_every_block_is_the_same_compiled_kernel():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    kernel = tilefold.kernel(
        "exp(-|x_i - x_j|²) + i", x=X, session=session
    )  # fmt: skip
    for start in range(2, 10):
        kernel[start : start + 5] @ np.ones(N)
    assert session.stats().compiles == 1


@pytest.mark.parametrize("rows", ["a slice", "backwards", "a list", "a mask"])
def test_gradients_of_blocks_through_torch(rows):
    rows = ROWS[rows]
    x = torch.tensor(X, requires_grad=True)
    kernel = tilefold.kernel("exp(-|x_i - x_j|²/2)", x=x)
    out = kernel[rows] @ torch.ones(N, dtype=torch.float64)
    out.square().sum().backward()
    again = torch.tensor(X, requires_grad=True)
    dense = torch.exp(-((again[:, None] - again) ** 2).sum(-1) / 2)
    picked = np.arange(N)[rows].copy()
    dense[picked].sum(1).square().sum().backward()
    torch.testing.assert_close(x.grad, again.grad)


def test_solving_a_leading_block():
    kernel = tilefold.kernel(PAIR.replace("y_j", "x_j"), x=X, l=0.5)
    dense = gaussian(X, X, 0.5)[:9, :9]
    b = _random.random(9)
    np.testing.assert_allclose(
        kernel[:9, :9].solve(b, ridge=0.1, rtol=1e-10),
        np.linalg.solve(dense + 0.1 * np.eye(9), b),
        rtol=1e-7,
    )


@given(
    rows=st.slices(N), columns=st.slices(M), again=st.slices(N // 2)
)  # fmt: skip
def test_any_slices(rows, columns, again):
    kernel = tilefold.kernel("x_i·y_j + 3*i - j", x=X, y=Y)
    dense = X @ Y.T + 3.0 * np.arange(N)[:, None] - np.arange(M)
    out = kernel[rows, columns][again]
    wanted = dense[rows, columns][again]
    assert out.shape == wanted.shape
    np.testing.assert_allclose(out.dense(), wanted, atol=1e-12)
