# tests/python/test_matrix_indexing.py - K[…] and products of kernels, as NumPy
# has them of arrays of the same shape.
from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg
import torch

import tilefold
from conftest import gaussian
from matrices import (
    GAUSSIAN,
    MATRICES,
    RANDOM,
    TENSORS,
    VECTORS,
    E,
    M,
    N,
    U,
    V,
    W,
    X,
    Y,
    close,
)
from random_indices import random_index


@pytest.fixture(params=MATRICES)
def matrix(request):
    return MATRICES[request.param]()


@pytest.fixture(params=[*MATRICES, *TENSORS])
def any_shape(request):
    return (MATRICES | TENSORS)[request.param]()


# ---- indexing ---------------------------------------------------------------

THREE = [
    0, -1, np.int64(1), np.array(1), slice(1, None), slice(None, None, -1),
    slice(0, 0), [1, 0, 1], np.array([0]), [], (0, 1), (0, 1, 2), (0, -1, -1),
    (slice(None), 2), (slice(None), slice(None), 1), (slice(None), 1, 2),
    (..., 1), (..., 1, 2), (1, ...), (0, ..., 2), (..., slice(0, 2)),
    (slice(None), [0, 2, 2]), (slice(None), slice(3), [1, 0]),
    (slice(None), [1, 3], [0, 2]), (slice(None), [[0, 1]], [[2], [0]]),
    (slice(0, 1), slice(1, 3), slice(None, None, 2)), (1, [0, 1]),
    (1, [0, 3], [2, 1]), ([0, 1], 2), ([0, 1], 2, 1), (slice(None), 2, [0, 1]),
    (0, slice(None), slice(1, 2)), (..., slice(None)), (), (0, slice(None), 2),
]  # fmt: skip


# Lists that stand for rows and columns in some, and for others elsewhere.
PAIRS = [
    (slice(None), [1, 3], [0, 2]), (slice(None), [[0, 1]], [[2], [0]]),
    (1, [0, 3], [2, 1]),
]  # fmt: skip
NOT_PAIRS = (
    "batches in two dimensions",
    "vectors",
    "transposed vectors",
    "lazy vectors",
)


@pytest.mark.parametrize("index", THREE, ids=str)
@pytest.mark.parametrize("name", TENSORS)
def test_indexing_is_numpys(name, index):
    value, dense = TENSORS[name]()
    if name in NOT_PAIRS and str(index) in map(str, PAIRS):
        with pytest.raises(tilefold.ArgumentError, match="has several lists"):
            value[index]
        return
    try:
        wanted = dense[index]
    except IndexError:
        with pytest.raises(IndexError):
            value[index]
        return
    close(value[index], wanted)


@pytest.mark.parametrize(
    "name", ["batches of vectors", "transposed batches of vectors"]
)
def test_indexing_four_axes(name):
    value, dense = TENSORS[name]()
    every = slice(None)
    for index in [
        (1, 2, 3, 1),
        (1, 2, 3),
        (1, every, 3, 2),
        (..., 0),
        (..., [2, 0]),
        (..., slice(1, None)),
        (0, slice(1, 3), slice(2), slice(None, None, -1)),
        (every, [0, 1], [2, 3], 1),
        (every, [0, 1], [2, 3]),
        (1, [0, 1], [2, 3], 1),
        (0, ..., 1),
        (every, 2, every, 0),
        (-1, -1, -1, -1),
        (every, every, every, [True, False, True]),
    ]:
        close(value[index], dense[index])


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
@pytest.mark.parametrize(
    "index",
    [
        (slice(None, None, -1), [1, 0]),
        ([2, 0, 1], slice(None, None, -1)),
        (slice(None, None, -1), [True, False]),
        (slice(None, 1, -1), slice(None, None, -1)),
        (slice(None, None, -1), 1),
    ],
    ids=str,
)
def test_backward_slices_beside_lists_choose_batches_apart(index, library):
    """They are no pairs of a number of one dimension and of another."""
    x, y = RANDOM.random((3, 1, 4, 2)), RANDOM.random((2, 5, 2))
    value = tilefold.kernel("x_i·y_j", x=library(x), y=library(y))
    dense = x @ y.swapaxes(-1, -2)
    found = value[index]
    assert found.shape == dense[index].shape
    close(np.asarray(found.dense()), dense[index])


def test_random_indices_are_numpys_or_refused():
    """And nearly all that NumPy takes are taken."""
    random = np.random.default_rng(6)
    arrays = [make() for make in (MATRICES | TENSORS).values()]
    taken = known = 0
    for _ in range(1500):
        value, dense = arrays[random.integers(len(arrays))]
        index = random_index(random, dense.shape, new_axes=False)
        try:
            wanted = dense[index]
        except IndexError:
            wanted = None
        known += wanted is not None
        try:
            found = value[index]
        except tilefold.Error:
            continue
        assert wanted is not None
        close(found, wanted)
        taken += 1
    assert taken > 0.8 * known


def test_parts_of_batches_have_one_reading():
    """As many points, or components of a parameter, as batches are left."""
    x, y, scale = (
        RANDOM.random((5, 4, 3)),
        RANDOM.random((7, 3)),
        np.arange(3.0),
    )
    text = "exp(-|(x_i - y_j)*s|²)"
    value = tilefold.kernel(text, x=x, y=y, s=scale)
    dense = gaussian(x * scale, y * scale, np.sqrt(0.5))
    close(value[:3], dense[:3])
    close(value[[4, 0, 1]][..., :3], dense[[4, 0, 1], :, :3])
    close(value[..., 2:5][::2], dense[..., 2:5][::2])
    close(value[:3, :3, :3].T, dense[:3, :3, :3].swapaxes(1, 2))
    assert value[:3, :, :3].sum(2).shape == (3, 4)


def test_kernels_with_and_without_batches_have_one_reading():
    x, y = RANDOM.random((3, 4, 3)), RANDOM.random((3, 3))
    one = tilefold.kernel(GAUSSIAN, x=x, y=y[None])
    other = tilefold.kernel(GAUSSIAN, x=x[0], y=y)
    dense = gaussian(x, y, 1)
    close(one * other, dense * dense[0])
    close(other + one, dense[0] + dense)
    close(np.maximum(one, 2 * other), np.maximum(dense, 2 * dense[0]))


def test_masks(any_shape):
    value, dense = any_shape
    mask = np.arange(len(dense)) != 1
    close(value[mask], dense[mask])
    close(value[torch.tensor(mask)], dense[mask])
    close(value[torch.tensor([0, 1])], dense[[0, 1]])


def test_parts_are_lazy_and_computed_with():
    value, dense = TENSORS["batches of vectors"]()
    part = value[1, 1:, ..., 2]
    assert isinstance(part, tilefold.Kernel)
    close(part @ V, dense[1, 1:, :, 2] @ V)
    close(part.T @ U[1:], dense[1, 1:, :, 2].T @ U[1:])
    value, dense = TENSORS["batches"]()
    close((value[0] * value[1]).sum(1), (dense[0] * dense[1]).sum(1))


@pytest.mark.parametrize(
    "wrong", [(0, [0, 1], [0, 1, 2]), (5,), (0, 9), (0, 0, 9)]
)
def test_rows_and_batches_that_do_not_exist(wrong):
    value, dense = TENSORS["batches"]()
    with pytest.raises(IndexError):
        dense[wrong]
    with pytest.raises(tilefold.Error):
        value[wrong]


UNREADABLE = {
    "None": (None, 0),
    "too many": (0, 0, 0, 0),
    "two dots": (..., ...),
    "fraction": 0.5,
    "truth": True,
    "text": "a",
    "no truth": np.array(True),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_does_not_index(name):
    value, _ = TENSORS["batches"]()
    with pytest.raises(tilefold.ArgumentError) as caught:
        value[UNREADABLE[name]]
    assert caught.value.code == "KernelIndex"


@pytest.mark.parametrize(
    "index",
    [
        ([0, 1], [1, 2]),
        ([0, 1], slice(None), 2),
        (0, slice(None), [1, 2]),
        (0, ..., 1, [1, 2]),  # dots between them, which stand for nothing
    ],
)
def test_what_numpy_would_pair_or_move(index):
    value, dense = TENSORS["batches"]()
    with pytest.raises(tilefold.ArgumentError) as caught:
        value[index]
    assert str(caught.value).endswith(
        " has several lists, or a list and a number apart\n"
        "index one axis after the other, as in K[:, :, 2][rows]"
    )
    rows = [1, 0]
    close(value[:, :, 2][rows], dense[:, :, 2][rows])


# ---- products ---------------------------------------------------------------


def test_products_in_all_spellings(matrix):
    value, dense = matrix
    for found in (
        value @ V,
        value.dot(V),
        value.matvec(V),
        np.dot(value, V),
        np.matmul(value, V),
    ):
        close(found, dense @ V)
    for found in (
        U @ value,
        value.rmatvec(U),
        value.T @ U,
        value.H @ U,
        np.dot(U, value),
    ):
        close(found, dense.T @ U)
    many = np.stack([V, V**2], 1)
    close(value.matmat(many), dense @ many)
    close(value @ many.tolist(), dense @ many)
    close(
        value.rmatmat(np.stack([U, U**2], 1)), dense.T @ np.stack([U, U**2], 1)
    )
    close(np.stack([U, U**2]) @ value, np.stack([U, U**2]) @ dense)
    close([[1.0] * N] @ value, [[1.0] * N] @ dense)
    close(value.adjoint().dense(), dense.T)
    close(value.transpose().dense(), dense.T)


def test_products_of_batches():
    value, dense = TENSORS["batches"]()
    close(value @ V, dense @ V)
    close(value @ np.stack([V, V], 1), dense @ np.stack([V, V], 1))
    close(U @ value, U @ dense)
    close(np.stack([U, U]) @ value, np.stack([U, U]) @ dense)


def test_products_of_vectors_sum_over_the_points():
    value, dense = TENSORS["vectors"]()
    close(value @ V, np.einsum("ije,j->ie", dense, V))
    close((value * V[:, None]).sum(-2), np.einsum("ije,j->ie", dense, V))
    y = RANDOM.random((E, 2))
    square = tilefold.kernel(VECTORS, x=X, y=y)  # as many columns as components
    dense = square.dense()
    for b in (W, RANDOM.random((E, E))):
        with pytest.raises(tilefold.ShapeError) as caught:
            square @ b
        cures = (
            str(caught.value)
            .splitlines()[1]
            .removeprefix("write ")
            .split(" or ")
        )
        scope = {"K": square, "b": b}
        wanted = [
            np.einsum("ije,j->ie", dense, b)
            if b.ndim == 1
            else (dense * b).sum(-2),
            (dense * b).sum(-1),
        ]
        for cure, array in zip(cures, wanted, strict=True):
            close(eval(cure, scope), array)
    with pytest.raises(tilefold.ShapeError) as caught:
        U @ value
    value, dense = TENSORS["vectors"]()
    rows, columns = (
        str(caught.value).splitlines()[1].removeprefix("write ").split(" or ")
    )
    close(eval(rows, {"K": value, "b": U}), np.einsum("ije,i->je", dense, U))
    close(eval(columns, {"K": value, "b": V}), np.einsum("ije,j->ie", dense, V))


def test_complex_kernels():
    kernel = tilefold.kernel("exp(im*x_i[0]*y_j[1] - |x_i - y_j|)", x=X, y=Y)
    dense = kernel.dense()
    assert kernel.dtype == np.complex128
    close(kernel.H, dense.conj().T)
    close(kernel.real, dense.real)
    close(np.imag(kernel), dense.imag)
    close(np.conj(kernel), dense.conj())
    close(np.angle(kernel), np.angle(dense))
    close(abs(kernel), abs(dense))
    close(kernel * (1 + 2j), dense * (1 + 2j))
    close(np.exp(1j * kernel), np.exp(1j * dense))
    close(kernel.sum(1), dense.sum(1))
    close(kernel.mean((0, 1), keepdims=True), dense.mean((0, 1), keepdims=True))
    close(kernel.rmatvec(U), dense.conj().T @ U)
    close(kernel[1], dense[1])
    real = tilefold.kernel(GAUSSIAN, x=X, y=Y)
    close(real * 2j, real.dense() * 2j)
    close(np.imag(real), np.zeros((N, M)))
    assert real.H is not None
    pair = tilefold.kernel("(1 + im)*[x_i[0], y_j[1]]", x=X, y=Y)
    assert pair.shape == (N, M, 2)
    close(pair[..., 1], pair.dense()[..., 1])


def test_a_kernel_is_a_linear_operator():
    x, y = RANDOM.random((40, 3)), RANDOM.random((30, 3))
    linalg = scipy.sparse.linalg
    square = tilefold.kernel("exp(-|x_i - x_j|²)", x=x)
    tall = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y)
    xi = tilefold.lazy(x, axis="i")
    lazy = np.exp(-((xi - tilefold.lazy(x, axis="j")) ** 2).sum(-1))
    dense = square.dense()
    for kernel in (square, lazy, square.T):
        largest = np.linalg.eigvalsh(dense)[-3:]
        np.testing.assert_allclose(linalg.eigsh(kernel, k=3)[0], largest)
        shifted = kernel.add_diag(0.1)
        b = RANDOM.random(40)
        wanted = np.linalg.solve(dense + 0.1 * np.eye(40), b)
        for method in (linalg.cg, linalg.minres, linalg.gmres):
            found, code = method(shifted, b, rtol=1e-10)
            assert code == 0
            np.testing.assert_allclose(found, wanted, atol=1e-6)
    for kernel in (tall, tall.T):
        dense = kernel.dense()
        largest = np.linalg.svd(dense)[1][:3][::-1]
        np.testing.assert_allclose(linalg.svds(kernel, k=3)[1], largest)
        operator = linalg.aslinearoperator(kernel)
        assert operator.dtype == np.float64
        n, m = operator.shape
        close(operator @ np.ones(m), dense.sum(1))
        close(operator.H @ np.ones((n, 2)), dense.T @ np.ones((n, 2)))
    single = tilefold.kernel("exp(-|x_i - x_j|²)", x=x.astype("float32"))
    values, vectors = linalg.eigsh(single, k=2)
    assert vectors.dtype == np.float32
    hermitian = tilefold.kernel("exp(im*(x_i[0] - x_j[0]) - |x_i - x_j|²)", x=x)
    wanted = np.linalg.eigvalsh(hermitian.dense())[-2:]
    values, _ = linalg.eigsh(hermitian, k=2)
    np.testing.assert_allclose(np.sort(values), wanted)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_listed_rows_of_formulas_of_i_keep_the_dtype(library):
    """Their numbers are arguments of few bits: digits, where they are large."""
    rng = np.random.default_rng(4)
    t, y = rng.random(70_000, np.float32), rng.random(4, np.float32)
    i, j = np.arange(t.size)[:, None], np.arange(4)
    wanted = np.where(i % 3 == j, t[:, None] * y, i).astype(np.float32)
    arrays = {"t": t, "y": y}
    if library == "torch":
        torch = pytest.importorskip("torch")
        arrays = {name: torch.from_numpy(a) for name, a in arrays.items()}
    kernel = tilefold.kernel("where(i mod 3 == j, t_i*y_j, i)", arrays)
    mask = np.zeros(t.size, bool)
    mask[[3, 32_767, 32_768]] = True
    for rows in ([2, 7], [0, 69_999, 65_536, -1], [], mask):
        part = kernel[rows]
        found = np.asarray(part.dense())
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, wanted[rows])
