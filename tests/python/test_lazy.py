# tests/python/test_lazy.py - array code read as formulas, against dense arrays.
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

import tilefold

N, M, D = 9, 13, 3
_random = np.random.default_rng(5)
X = _random.uniform(0.2, 0.9, (N, D))
Y = _random.uniform(0.2, 0.9, (M, D))
B = _random.standard_normal(M)
C = _random.standard_normal(N)
W = np.array([0.5, 1.5, 2.5])
A = _random.standard_normal((2, D))


def lazies():
    return tilefold.lazy(X, axis="i"), tilefold.lazy(Y, axis="j")


# Functions of x of shape (N, 1, D) and y of shape (1, M, D).
EXPRESSIONS = {
    "gaussian": lambda x, y: np.exp(-((x - y) ** 2).sum(-1) / (2 * 0.3**2)),
    "sum of NumPy": lambda x, y: np.sum(x * y, axis=-1),
    "sum over axis 2": lambda x, y: (x * y).sum(axis=2),
    "largest component": lambda x, y: (x - y).max(-1) + (x * y).min(axis=-1),
    "distance": lambda x, y: np.sqrt(np.square(x - y).sum(-1) + 1e-20),
    "norm": lambda x, y: np.linalg.norm(x - y, 2, axis=-1),
    "weights of components": lambda x, y: (W * np.abs(x - y)).sum(-1),
    "numbers": lambda x, y: 2.5 - 3 * (x * y).sum(-1) / 1.5 + np.float32(2),
    "numbers to the left": lambda x, y: 1 / (1.5 - (x * y).sum(-1) ** 2.5),
    "roots as powers": lambda x, y: ((x - y) ** 2).sum(-1) ** 0.5,
    "where": lambda x, y: np.where(x < y, x, 0.25).sum(-1),
    "comparison": lambda x, y: np.where((x[..., 0] >= y[..., 1]), 1.0, 0.0),
    "logic": lambda x, y: np.where(
        (x[..., 0] < y[..., 0]) & ~(x[..., 1] != 0.5), 1.0, 2.0
    ),
    "components": lambda x, y: x[..., 0] * y[:, :, -1] + y[..., 1],
    "slices": lambda x, y: (x[..., 1:] * y[..., :2]).sum(-1),
    "two arguments": lambda x, y: np.maximum(x, y).sum(-1) + np.arctan2(
        x[..., 0], y[..., 1]
    ),
    "array on the left": lambda x, y: (W + x - y).sum(-1),
    "array of points": lambda x, y: (X[:, None, :] * y - x).sum(-1) * C[0],
    "clipped": lambda x, y: np.clip(x - y, -0.1, 0.2).sum(-1),
    "concatenated": lambda x, y: (x * x).sum(-1) + (y * y).sum(-1),
    "whole parts": lambda x, y: (9 * x // 2 + 7 // (y + 1)).sum(-1),
    "scalar operands": lambda x, y: np.tanh(np.log1p(x[..., 0] * y[..., 0])),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_is_the_matrix_it_would_be(name):
    make = EXPRESSIONS[name]
    dense = np.broadcast_to(make(X[:, None, :], Y[None, :, :]), (N, M))
    value = make(*lazies())
    assert value.shape == (N, M)
    np.testing.assert_allclose(value.dense(), dense, rtol=1e-12)
    np.testing.assert_allclose(value @ B, dense @ B, rtol=1e-11)
    again = make(tilefold.lazy(X[:, None, :]), tilefold.lazy(Y[None, :, :]))
    np.testing.assert_allclose(again.sum(1), dense.sum(1), rtol=1e-11)


def gaussian():
    x, y = lazies()
    value = np.exp(-((x - y) ** 2).sum(-1) / 0.18)
    return value, np.exp(-((X[:, None] - Y) ** 2).sum(-1) / 0.18)


def test_what_a_matrix_offers():
    value, dense = gaussian()
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11)  # noqa: E731
    for axis in (0, 1, -1, -2):
        close(value.sum(axis), dense.sum(axis))
        close(np.sum(value, axis=axis), dense.sum(axis))
        close(value.mean(axis=axis), dense.mean(axis))
        close(np.mean(value, axis), dense.mean(axis))
        close(value.max(axis), dense.max(axis))
        close(np.min(value, axis), dense.min(axis))
        close(value.logsumexp(axis), np.log(np.exp(dense).sum(axis)))
        np.testing.assert_array_equal(value.argmin(axis), dense.argmin(axis))
        np.testing.assert_array_equal(
            np.argmax(value, axis), dense.argmax(axis)
        )
    close(value.sum(), dense.sum())
    close(value.logsumexp(), np.log(np.exp(dense).sum()))
    order = np.argsort(dense, 1, kind="stable")[:, :4]
    np.testing.assert_array_equal(value.argkmin(4, axis=1), order)
    close(value.kmin(4, axis=1), np.sort(dense, 1)[:, :4])
    close(value.topk(2, axis=1)[0], -np.sort(-dense, 1)[:, :2])
    close(value.T @ C, dense.T @ C)
    close(C @ value, C @ dense)
    close(value @ np.stack([B, 2 * B], 1), dense @ np.stack([B, 2 * B], 1))
    close(value[3], dense[3])
    close(value[2, 5], dense[2, 5])
    assert len(value) == N
    assert value.ndim == 2


def test_values_of_vectors_are_reduced_component_by_component():
    x, y = lazies()
    value, dense = x * y, X[:, None] * Y
    assert value.shape == (N, M, D)
    assert value.ndim == 3
    for axis in (0, 1, -2, -3):
        np.testing.assert_allclose(value.sum(axis), dense.sum(axis))
        np.testing.assert_allclose(value.max(axis), dense.max(axis))
    np.testing.assert_allclose(value.dense(), dense)


def test_a_value_on_j_in_place_of_a_product():
    value, dense = gaussian()
    b = _random.standard_normal((M, 2))
    out = (value * tilefold.lazy(b, axis="j")).sum(axis=1)
    np.testing.assert_allclose(out, dense @ b, rtol=1e-11)


def test_shapes_before_the_other_axis_is_met():
    x, y = lazies()
    assert x.shape == (N, 1, D)
    assert y.shape == (1, M, D)
    assert (x[..., 0] * 2).shape == (N, 1)
    assert tilefold.lazy(C, axis="i").shape == (N, 1)
    assert tilefold.lazy(B, axis=1).shape == (1, M)
    assert tilefold.lazy(W).shape == (1, 1, D)
    assert (matrix() * tilefold.lazy(W)).shape == (N, M, D)
    assert (lazies()[0] * [1, 2, 3] + W[None]).shape == (N, 1, D)
    assert tilefold.lazy(0.5).shape == (1, 1)


def test_points_that_are_scalars():
    u, v = tilefold.lazy(C, axis=0), tilefold.lazy(B, axis=1)
    dense = (C[:, None] - B) ** 2
    np.testing.assert_allclose(((u - v) ** 2).dense(), dense, atol=1e-15)
    np.testing.assert_array_equal(((u - v) ** 2).argmin(1), dense.argmin(1))


def test_one_array_on_both_axes_is_one_argument():
    value = (tilefold.lazy(X, axis="i") * tilefold.lazy(X, axis="j")).sum(-1)
    text, arguments = value.to_formula()
    assert text == "sum((x_i * x_j))"
    assert list(arguments) == ["x"]
    np.testing.assert_allclose(value.dense(), X @ X.T)
    np.testing.assert_allclose(value.diag(), (X * X).sum(1))


def test_many_arrays_on_an_axis_have_names_of_their_own():
    arrays = [_random.random((M, D)) for _ in range(4)]
    lazy = [tilefold.lazy(array, axis="j") for array in arrays]
    value = (tilefold.lazy(X, axis="i") * (lazy[0] + 2 * lazy[1])).sum(-1)
    value = value + (lazy[2] * lazy[3] * lazy[1]).sum(-1)
    dense = X @ (arrays[0] + 2 * arrays[1]).T
    dense += (arrays[2] * arrays[3] * arrays[1]).sum(1)
    np.testing.assert_allclose(value.dense(), dense)


def test_one_array_on_an_axis_and_as_a_parameter():
    w = np.array([1.0, 2.0, 3.0])
    x = tilefold.lazy(w, axis="i") * tilefold.lazy(Y, axis="j")
    value = (x * tilefold.lazy(w)).sum(-1)
    np.testing.assert_allclose(value.dense(), w[:, None] * (Y @ w))


def test_a_matrix_times_the_components():
    x, y = lazies()
    out = ((A @ x) * (A @ y)).sum(-1)
    np.testing.assert_allclose(out.dense(), (X @ A.T) @ (Y @ A.T).T)
    out = (x @ A.T * (y @ A.T)).sum(-1)
    np.testing.assert_allclose(out.dense(), (X @ A.T) @ (Y @ A.T).T)
    np.testing.assert_allclose((x @ y).dense(), X @ Y.T)


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("columns", [1, 4])
def test_a_single_point_keeps_its_axis(rows, columns):
    x, y = X[:rows, None], Y[None, :columns]
    value = ((tilefold.lazy(x) - tilefold.lazy(y)) ** 2).sum(-1)
    dense = ((x - y) ** 2).sum(-1)
    assert value.shape == dense.shape
    np.testing.assert_allclose(value.sum(1), dense.sum(1))
    np.testing.assert_allclose(value.sum(0), dense.sum(0))


def test_batches():
    x, y = _random.random((4, 1, 6, 2)), _random.random((3, 7, 2))
    value = np.exp(
        -((tilefold.lazy(x[..., :, None, :]) - y[..., None, :, :]) ** 2).sum(-1)
    )
    dense = np.exp(-((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1))
    assert value.shape == (4, 3, 6, 7)
    np.testing.assert_allclose(value.dense(), dense)
    np.testing.assert_allclose(value.sum(-1), dense.sum(-1))
    np.testing.assert_allclose(value.sum(2), dense.sum(2))


def test_the_formula_that_says_the_same_is_the_same_kernel():
    """Other numbers are no other formula, either."""
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    x, y = lazies()
    for width in (0.5, 0.7, 2.0, 3.0):
        value = (-((x - y) ** 2).sum(-1) / (2 * width**2)).exp()
        kernel = tilefold.kernel(value, session=session)
        same = tilefold.kernel(
            "exp(-|x_i - y_j|²/s)", x=X, y=Y, s=2 * width**2, session=session
        )
        np.testing.assert_array_equal(kernel @ B, same @ B)
    assert session.stats().compiles == 1


def test_copies_are_values_of_their_own():
    x, y = lazies()
    value = ((x - y) ** 2).sum(-1)
    dense = ((X[:, None] - Y) ** 2).sum(-1)
    again = pickle.loads(pickle.dumps(value))
    for other in (again, copy.copy(value), copy.deepcopy(value)):
        np.testing.assert_allclose(other.dense(), dense)
    moved = copy.deepcopy(x)
    next(iter(moved.sources.values())).value[:] = 0
    np.testing.assert_allclose(((x - moved) * y).sum(-1).dense(), X @ Y.T)


def test_quantized_points():
    codes = tilefold.quantize(X)
    value = (tilefold.lazy(codes, axis="i") * tilefold.lazy(Y, axis=1)).sum(-1)
    np.testing.assert_allclose(value.dense(), codes.dequantize() @ Y.T)


def test_a_kernel_is_made_of_a_lazy_value():
    value, dense = gaussian()
    kernel = tilefold.kernel(value)
    assert isinstance(kernel, tilefold.Kernel)
    other = tilefold.kernel("x_i·y_j", x=X, y=Y)
    for mixed in (value + other, other + value, 2 * value + other):
        assert isinstance(mixed, tilefold.Kernel)
    np.testing.assert_allclose((value - other).dense(), dense - X @ Y.T)
    np.testing.assert_allclose((other - value).dense(), X @ Y.T - dense)
    np.testing.assert_allclose((value / other).dense(), dense / (X @ Y.T))
    np.testing.assert_allclose((other * value).dense(), dense * (X @ Y.T))


def test_solving_with_a_lazy_matrix():
    x = tilefold.lazy(X, axis="i")
    value = np.exp(-((x - tilefold.lazy(X, axis="j")) ** 2).sum(-1))
    dense = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    np.testing.assert_allclose(
        value.solve(C, ridge=0.1, rtol=1e-10),
        np.linalg.solve(dense + 0.1 * np.eye(N), C),
        rtol=1e-7,
    )


TORCH = {
    "gaussian": lambda x, y, s: torch.exp(-((x - y) ** 2).sum(-1) / s),
    "methods": lambda x, y, s: (x * y).sum(dim=-1).exp() * s,
    "tensor on the left": lambda x, y, s: s * torch.sigmoid((x * y).sum(-1)),
    "norm": lambda x, y, s: torch.linalg.vector_norm(x - y, dim=-1) + s,
}


@pytest.mark.parametrize("name", TORCH)
def test_gradients_through_torch(name):
    def tensors():
        return [
            torch.tensor(value, requires_grad=True) for value in (X, Y, 0.7)
        ]

    b = torch.tensor(B)
    x, y, s = tensors()
    out = TORCH[name](
        tilefold.lazy(x[:, None, :]), tilefold.lazy(y[None, :, :]), s
    )
    (out @ b).square().sum().backward()
    x2, y2, s2 = tensors()
    dense = TORCH[name](x2[:, None, :], y2[None, :, :], s2)
    (dense @ b).square().sum().backward()
    with torch.no_grad():
        torch.testing.assert_close(out.dense(), dense)
    for mine, wanted in [(x, x2), (y, y2), (s, s2)]:
        torch.testing.assert_close(mine.grad, wanted.grad)


def test_reductions_of_torch():
    x, y = torch.tensor(X), torch.tensor(Y)
    value = (tilefold.lazy(x, axis="i") * tilefold.lazy(y, axis="j")).sum(-1)
    dense = x @ y.T
    torch.testing.assert_close(torch.sum(value, dim=1), dense.sum(1))
    torch.testing.assert_close(torch.logsumexp(value, 1), dense.logsumexp(1))
    torch.testing.assert_close(torch.argmin(value, dim=0), dense.argmin(0))
    torch.testing.assert_close(torch.tensor(C) @ value, torch.tensor(C) @ dense)


def matrix():
    return gaussian()[0]


REFUSALS = [
    (
        lambda: tilefold.lazy(X, axis=2),
        "a lazy array on axis 2\npass axis='i' or axis='j' (0 or 1)",
    ),
    (
        lambda: tilefold.lazy(X[:, None], axis="i"),
        "a lazy array of shape (9, 1, 3) with an axis\n"
        "pass (N,) or (N, D) with axis=; without it a shape says the axis: "
        "(…, N, 1, D) or (…, 1, M, D)",
    ),
    (
        lambda: tilefold.lazy(X),
        "an array of shape (9, 3) does not say which axis it is on\n"
        "pass axis='i' or axis='j' to tilefold.lazy, or the shape "
        "(…, N, 1, D) or (…, 1, M, D)",
    ),
    (
        lambda: lazies()[0] * np.zeros((2, 3, 4)),
        "an array of shape (2, 3, 4) does not say which axis it is on\n"
        "pass axis='i' or axis='j' to tilefold.lazy, or the shape "
        "(…, N, 1, D) or (…, 1, M, D)",
    ),
    (
        lambda: matrix() * C,
        "an array of shape (9,) does not broadcast with a kernel of shape "
        "(…, 9, 13)\nshapes are matched from the last axis, as in NumPy: "
        "K * v goes with the columns, K * u[:, None] with the rows",
    ),
    (
        lambda: np.where(matrix() < 0.5, np.zeros((N, M)), 1),
        "a kernel and an array of shape (9, 13), which has rows and columns\n"
        "write it into the formula as a table, A[i, j], or compute with "
        "K.dense()",
    ),
    (
        lambda: lazies()[0] - Y,
        "an array of shape (13, 3) does not say which axis it is on\n"
        "pass axis='i' or axis='j' to tilefold.lazy, or the shape "
        "(…, N, 1, D) or (…, 1, M, D)",
    ),
    (
        lambda: lazies()[0][[0, 2]],
        "the index [0, 2] takes points of a value of shape (9, 1, 3)\n"
        "x[..., k] is component k; take points of the array itself, before "
        "tilefold.lazy",
    ),
    (
        lambda: lazies()[0].sum(0),
        "a value of shape (9, 1, 3) has no points on j\n"
        "combine it with a value on j; over one axis alone, reduce the array "
        "itself",
    ),
    (
        lambda: np.linalg.norm(lazies()[0]),
        "the norm over axis None of a value of shape (9, 1, 3)\n"
        "pass axis=-1 for the norm of the components of a value of shape "
        "(N, M, D)",
    ),
    (
        lambda: matrix() @ matrix(),
        "a product of lazy values of shapes (9, 13) and (9, 13)\n"
        "write (K*b).sum(axis=1), or K1 @ (K2 @ b) with an array b",
    ),
    (
        lambda: bool(matrix()),
        "a kernel of shape (9, 13) has no truth value; as an array it takes "
        "936 bytes\nreduce it, as in K.max(), or compare K.shape",
    ),
    (
        lambda: iter(matrix()),
        "a kernel of shape (9, 13) is not iterated over; as an array it takes "
        "936 bytes\nK[3] is one row, K[rows] are several, K.dense() is all",
    ),
    (
        lambda: np.asarray(matrix()),
        "a kernel of shape (9, 13) is lazy; as an array it takes 936 bytes\n"
        "reduce it, as in K @ b or K.sum(1), or call K.dense(); "
        "tilefold.scipy.operator(K) is SciPy's",
    ),
    (
        lambda: list(lazies()[0]),
        "a traced value is not iterated over\n"
        "use x[k] for a component, x.sum(), or x @ y",
    ),
    (
        lambda: float(matrix()),
        "a traced value is no single number: it stands for all pairs\n"
        "use numpy.exp and the like, which know it, in place of math.exp and "
        "float()",
    ),
    (
        lambda: np.spacing(matrix()),
        "'spacing' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        lambda: np.add.reduce(matrix()),
        "'add.reduce' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        lambda: np.linalg.norm(lazies()[0], 0, axis=-1),
        "'norm of order 0' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        lambda: lazies()[0].max(-1, initial=0.0),
        "'max(…, initial=…)' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        lambda: np.add(matrix(), 1, out=np.zeros((N, M))),
        "'add(…, out=…)' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        lambda: matrix() * None,
        "NoneType is no value of a formula\n"
        "use numbers, and arrays of at most two dimensions",
    ),
    (
        lambda: tilefold.kernel(matrix(), x=X),
        "the argument 'x' is not in the formula, which has its own: x, y, p\n"
        "drop it, or correct its name",
    ),
]


@pytest.mark.parametrize(("use", "message"), REFUSALS)
def test_what_is_refused(use, message):
    with pytest.raises(tilefold.Error) as caught:
        use()
    assert str(caught.value) == message


def test_shapes_that_do_not_fit_are_refused_where_they_meet():
    x, _ = lazies()
    with pytest.raises(tilefold.ShapeError):
        x - tilefold.lazy(Y[:, :2], axis="j")
    with pytest.raises(tilefold.ShapeError):
        x * np.ones(D + 1)
    with pytest.raises(tilefold.ShapeError):
        x - tilefold.lazy(X[1:], axis="i")
    batched = tilefold.lazy(np.ones((2, N, 1, D)))
    with pytest.raises(tilefold.ShapeError):
        batched - tilefold.lazy(np.ones((3, 1, M, D)))
    with pytest.raises(tilefold.ShapeError):
        matrix() @ C


def test_arrays_of_two_devices_are_refused():
    x = tilefold.lazy(torch.zeros(4, 3), axis="i")
    y = tilefold.lazy(torch.zeros(4, 3, device="meta"), axis="j")
    with pytest.raises(tilefold.DeviceError):
        x - y


def test_a_value_that_is_used_again_is_written_once():
    value, wanted = matrix(), matrix().dense()
    for _ in range(60):
        value = value / (1 + value * value)
        wanted = wanted / (1 + wanted * wanted)
    text, _ = value.to_formula()
    assert len(text) < 60 * 100
    assert "with" in text
    np.testing.assert_allclose(value.sum(1), wanted.sum(1), rtol=1e-10)
    again = pickle.loads(pickle.dumps(value))
    np.testing.assert_array_equal(again.sum(1), value.sum(1))


def test_a_long_chain_is_no_deep_nesting():
    value = matrix()
    for _ in range(300):
        value = value + 1
    np.testing.assert_allclose(value.dense(), matrix().dense() + 300)
