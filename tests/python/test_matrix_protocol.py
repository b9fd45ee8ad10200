# tests/python/test_matrix_protocol.py - kernels and lazy matrices answer as the
# arrays they stand for.
from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import torch

import tilefold
from conftest import gaussian
from matrices import (
    GAUSSIAN,
    MATRICES,
    RANDOM,
    TENSORS,
    XB,
    B,
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


@pytest.fixture(params=MATRICES)
def matrix(request):
    return MATRICES[request.param]()


@pytest.fixture(params=[*MATRICES, *TENSORS])
def any_shape(request):
    return (MATRICES | TENSORS)[request.param]()


def test_what_it_is(any_shape):
    value, dense = any_shape
    assert value.shape == dense.shape
    assert value.ndim == np.ndim(value) == dense.ndim
    assert value.size == np.size(value) == dense.size
    assert np.shape(value) == dense.shape
    assert value.dtype == dense.dtype
    assert len(value) == len(dense)
    close(value, dense)


ELEMENTWISE = {
    "exp": np.exp,
    "exp as a method": lambda k: k.exp() if hasattr(k, "exp") else np.exp(k),
    "abs": lambda k: abs(k - 0.5),
    "minus": lambda k: -k,
    "plus": lambda k: +k,
    "roots": lambda k: np.sqrt(k) + k**0.5,
    "powers": lambda k: k**2 + 2**k + np.power(k, 1.5) + k ** np.int64(3),
    "maximum": lambda k: np.maximum(k, 0.3) + np.minimum(0.4, k),
    "where": lambda k: np.where(k > 0.3, k, 0),
    "clip": lambda k: np.clip(k, 0.1, 0.4) + np.clip(k, None, 0.3),
    "clip by name": lambda k: np.clip(k, a_min=0.2, a_max=0.5),
    "quotients": lambda k: 1 / k + k / 3 + np.reciprocal(k),
    "whole parts": lambda k: (9 * k) // 2 + k % 0.3 + np.floor(5 * k),
    "two operands": lambda k: np.arctan2(k, k + 1) + np.logaddexp(k, 2 * k),
    "comparison": lambda k: k < 0.4,
    "equality": lambda k: (k == k) & (k != 0.5),
    "logic": lambda k: ((k > 0.2) & (k < 0.5)) | ~(k > 0.1),
    "signs and squares": lambda k: np.sign(k - 0.4) * np.square(k),
    "numbers of NumPy": lambda k: np.float64(2) * k + k * np.int64(3),
    "an array of no axes": lambda k: np.array(1.5) * k - np.array([0.5]),
    "large whole numbers": lambda k: k * 1000 + 12345,
    "truth": lambda k: k * (k > 0.3),
    "trigonometry": lambda k: np.sin(k) + np.tanh(k) + np.arcsin(k / 9),
    "logarithms": lambda k: np.log(k) + np.log1p(k) + np.log2(k) + np.log10(k),
    "with itself": lambda k: k * k + k - k / (1 + k),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_values_make_another_matrix(any_shape, name):
    value, dense = any_shape
    made = ELEMENTWISE[name](value)
    assert hasattr(made, "dense")
    close(made, ELEMENTWISE[name](dense))


BROADCAST = {
    "rows": lambda k: k * U[:, None],
    "rows from the left": lambda k: U[:, None] - k,
    "columns": lambda k: k * V,
    "columns from the left": lambda k: V / k,
    "one row": lambda k: k + V[None],
    "both": lambda k: U[:, None] * k * V,
    "one element": lambda k: k * np.array([[2.5]]),
    "a list": lambda k: k * list(V),
    "a list of rows": lambda k: [[u] for u in U] * k,
    "within functions": lambda k: np.where(k > V / 2, U[:, None], k),
    "single": lambda k: k * U.astype("float32")[:, None],
    "whole": lambda k: k * np.arange(M),
    "normalised": lambda k: k / k.sum(1, keepdims=True),
    "normalised by columns": lambda k: k / np.sum(k, axis=0),
    "centred": lambda k: k - k.mean(0) - k.mean(1, keepdims=True) + k.mean(),
}


@pytest.mark.parametrize("name", BROADCAST)
def test_arrays_broadcast_as_in_numpy(matrix, name):
    value, dense = matrix
    made = BROADCAST[name](value)
    assert hasattr(made, "dense")
    close(made, BROADCAST[name](dense))
    close(made @ V, BROADCAST[name](dense) @ V)


def test_arrays_broadcast_with_a_square_matrix_from_the_last_axis():
    kernel = tilefold.kernel("exp(-|x_i - x_j|²)*x_i[0]", x=X)
    dense = kernel.dense()
    close(U * kernel, U * dense)
    close(kernel * U, dense * U)
    close(U[:, None] * kernel, U[:, None] * dense)


TENSOR_SCALES = {
    "batches": [(B, 1, 1), (B, N, 1), (B, 1, M), (M,), (N, 1), (3, 1, 1, 1)],
    "transposed batches": [(B, 1, 1), (B, N, 1), (B, 1, M), (M,), (N, 1)],
    "batches in two dimensions": [
        (2, 1, 1, 1),
        (2, 1, M),
        (N, 1),
        (1, 2, 1, 1),
    ],
    "vectors": [(E,), (M, E), (M, 1), (N, 1, 1), (N, 1, E), (1, 1, E)],
    "lazy vectors": [(E,), (M, E), (M, 1), (N, 1, 1), (N, 1, E), (1, 1, E)],
    "transposed vectors": [(E,), (M, E), (M, 1), (N, 1, 1), (N, 1, E)],
    "batches of vectors": [(B, 1, 1, 1), (B, 1, M, E), (B, N, 1, 1), (E,)],
}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        (name, shape)
        for name, shapes in TENSOR_SCALES.items()
        for shape in shapes
    ],
    ids=str,
)
def test_arrays_broadcast_with_more_axes(name, shape):
    value, dense = TENSORS[name]()
    array = RANDOM.random(shape)
    close(value * array, dense * array)
    close(array - value, array - dense)


def test_numbers_beside_vectors_go_with_each_component():
    for vectors_of in ("vectors", "lazy vectors"):
        value, dense = TENSORS[vectors_of]()
        numbers, one = MATRICES[
            "kernel" if vectors_of == "vectors" else "lazy"
        ]()
        close(value * numbers, dense * one[..., None])
        close(numbers - value, one[..., None] - dense)
    # NumPy has another reading where there are as many rows, columns and
    # components; the cure has both.
    x = X[:E]
    vectors_of = tilefold.kernel("exp(-|x_i - x_j|²)*[x_i[0], 1, 2]", x=x)
    numbers = tilefold.kernel("exp(-|x_i - x_j|²)*x_i[0]", x=x)
    xi, xj = tilefold.lazy(x, axis="i"), tilefold.lazy(x, axis="j")
    lazy = np.stack([(xi - xj).sum(-1), xi[..., 0], xj[..., 1]], -1)
    for v, k in ((vectors_of, numbers), (lazy, (xi * xj).sum(-1))):
        with pytest.raises(tilefold.ShapeError) as caught:
            v * k
        assert str(caught.value) == (
            "'mul with a kernel of shape (3, 3)' of a kernel of shape (3, 3, 3)"
            " can be read two ways\nwrite it of V.dense() and "
            "K.dense()[..., None] or of V.dense() and K.dense()"
        )


def test_a_scaled_kernel_is_one_formula():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    kernel = tilefold.kernel(GAUSSIAN, x=X, y=Y, session=session)
    close(
        (U[:, None] * kernel * V) @ V, (U[:, None] * gaussian(X, Y, 1) * V) @ V
    )
    assert session.stats().runs == session.stats().compiles == 1
    (2 * U[:, None] * kernel * (3 * V)) @ V  # other numbers, the same kernel
    (U[:, None] * np.exp(0.5 * kernel)) @ V
    (V[:N, None] * np.exp(0.25 * kernel)) @ U[[0, 1, 2, 3, 0]]
    assert session.stats().compiles == 2


AXES = {2: [None, 0, 1, -1, -2, (0, 1), (1,), (-1, 0)]}
AXES[3] = [*AXES[2], 2, -3, (0, 2), (1, 2), (0, 1, 2)]
AXES[4] = [*AXES[3], 3, (1, 3), (2, 3), (0, 1, 2, 3)]
REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all", "count")
NUMPY = {"count": np.count_nonzero}


def points_and_others(value, axis):
    """Which axes of points are reduced, and which of batches or components."""
    batches = value.ndim - 2 - (value.ndim > 2 and value.shape[-1] == E)
    axes = range(value.ndim) if axis is None else np.atleast_1d(axis)
    axes = {int(a) % value.ndim for a in axes}
    points = {batches, batches + 1}
    return axes & points, axes - points


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_any_axes(any_shape, name, keepdims):
    value, dense = any_shape
    whole = NUMPY.get(name) or getattr(np, name)
    kept = {"keepdims": True} if keepdims else {}
    for axis in AXES[value.ndim]:
        points, _ = points_and_others(value, axis)
        if not points:
            continue
        wanted = whole(dense, axis=axis, **kept)
        close(getattr(value, name)(axis, **kept), wanted)
        close(getattr(value, name)(axis=axis, keepdims=keepdims), wanted)
        close(whole(value, axis=axis, **kept), wanted)
    if name in ("any", "all", "count"):
        condition = dense > 0.4
        close(getattr(value > 0.4, name)(-2), whole(condition, axis=-2))


def spread_axes(value):
    """Those over which `var` and others are told: of points alone."""
    for axis in AXES[value.ndim]:
        points, others = points_and_others(value, axis)
        if points and not others:
            yield axis


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("name", ["var", "std"])
def test_spread(any_shape, name, ddof, keepdims):
    value, dense = any_shape
    settings = {"ddof": ddof, "keepdims": keepdims}
    for axis in spread_axes(value):
        wanted = getattr(dense, name)(axis, **settings)
        close(getattr(value, name)(axis, **settings), wanted, 1e-9)
        close(getattr(np, name)(value, axis, **settings), wanted, 1e-9)


def test_log_sum_exp(matrix):
    value, dense = matrix
    for axis in AXES[2]:
        for keepdims in (False, True):
            wanted = scipy.special.logsumexp(dense, axis, keepdims=keepdims)
            close(value.logsumexp(axis, keepdims=keepdims), wanted)


def test_norms(matrix):
    value, dense = matrix
    for axis in AXES[2]:
        close(value.norm(axis=axis), np.sqrt((dense**2).sum(axis)))
    close(np.linalg.norm(value), np.linalg.norm(dense))
    close(np.linalg.norm(value, "fro"), np.linalg.norm(dense))
    close(np.linalg.norm(value, axis=1), np.linalg.norm(dense, axis=1))
    close(
        np.linalg.norm(value, axis=0, keepdims=True),
        np.linalg.norm(dense, axis=0, keepdims=True),
    )


def test_places_of_extremes(any_shape):
    value, dense = any_shape
    if value.shape[-1] == E:
        return  # of vectors there is no smallest
    for axis in (-1, -2, value.ndim - 1):
        for name in ("argmin", "argmax"):
            whole = getattr(np, name)
            close(getattr(value, name)(axis), whole(dense, axis))
            close(whole(value, axis), whole(dense, axis))
            close(
                whole(value, axis, keepdims=True),
                whole(dense, axis, keepdims=True),
            )


def test_the_place_of_the_largest_component():
    value, dense = TENSORS["vectors"]()
    for name in ("argmin", "argmax"):
        found = getattr(value, name)(-1)
        np.testing.assert_array_equal(found.dense(), getattr(dense, name)(-1))


def test_components_are_taken_together_lazily():
    for name in ("vectors", "transposed vectors", "lazy vectors"):
        value, dense = TENSORS[name]()
        for reduction in ("sum", "mean", "max", "min"):
            for axis in (-1, 2):
                made = getattr(value, reduction)(axis)
                assert hasattr(made, "dense")
                close(made, getattr(dense, reduction)(axis))
            close(
                getattr(np, reduction)(value, axis=-1, keepdims=True),
                getattr(dense, reduction)(axis=-1, keepdims=True),
            )
        close(np.linalg.norm(value, axis=-1), np.linalg.norm(dense, axis=-1))
        close((value * W).sum(-1) @ V, (dense * W).sum(-1) @ V)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_softmax(matrix, axis):
    value, dense = matrix
    weights = scipy.special.softmax(5 * dense, axis)
    close((5 * value).softmax(axis), weights, 1e-10)
    close(
        (1000 * value).softmax(axis),
        scipy.special.softmax(1000 * dense, axis),
        1e-9,
    )
    along = weights if axis % 2 else weights.T
    values = V if axis % 2 else U
    close((5 * value).softmax(axis, values=values), along @ values, 1e-10)
    both = np.stack([values, values**2], 1)
    close((5 * value).softmax(axis, values=both), along @ both, 1e-10)


def test_diagonals_and_traces():
    square = tilefold.kernel("exp(-|x_i - x_j|²) + x_i[0]", x=X)
    dense = square.dense()
    close(square.trace(), dense.trace())
    close(np.trace(square.T), dense.trace())
    close(np.diagonal(square), dense.diagonal())
    close(np.diag(square), np.diag(dense))
    close(np.transpose(square), dense.T)
    batches = tilefold.kernel("exp(-|x_i - x_j|²) + x_i[0]", x=XB)
    dense = batches.dense()
    close(batches.trace(), np.trace(dense, axis1=-2, axis2=-1))
    close(batches.diag(), np.diagonal(dense, axis1=-2, axis2=-1))
    of_vectors = tilefold.kernel("[x_i[0], x_j[1], 2]", x=X)
    dense = of_vectors.dense()
    close(of_vectors.diag(), dense[np.arange(N), np.arange(N)])
    close(of_vectors.trace(), dense[np.arange(N), np.arange(N)].sum(0))


def test_best_of_batches():
    value, dense = TENSORS["transposed batches"]()
    order = np.argsort(dense, 1, kind="stable").swapaxes(1, 2)[..., :2]
    close(value.argkmin(2, axis=1), order)
    close(value.kmin(2, axis=-1), np.sort(dense, -1)[..., :2])


# ---- types ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y"),
    [("float32", "float32"), ("float32", "float64"), ("float16", "float16"),
     ("int32", "int32"), ("int8", "float32"), ("bool", "bool")],
)  # fmt: skip
def test_the_type_of_the_values_is_told(x, y):
    x, y = (9 * X).astype(x), (9 * Y).astype(y)
    for text in (
        "x_i·y_j",
        "x_i[0] < y_j[1]",
        "x_i + y_j",
        "im*x_i[0] + y_j[0]",
    ):
        kernel = tilefold.kernel(text, x=x, y=y)
        assert kernel.dtype == kernel.dense().dtype
        tensors = tilefold.kernel(text, x=torch.tensor(x), y=torch.tensor(y))
        assert tensors.dtype == tensors.dense().dtype
        assert isinstance(tensors.dtype, torch.dtype)


def test_bfloat16():
    import ml_dtypes

    kernel = tilefold.kernel("x_i·x_j", x=X.astype(ml_dtypes.bfloat16))
    assert (
        kernel.dtype == np.dtype(ml_dtypes.bfloat16)
        or kernel.dtype == np.float32
    )
    tensor = tilefold.kernel("x_i·x_j", x=torch.tensor(X).bfloat16())
    assert tensor.dtype == tensor.dense().dtype


# ---- PyTorch ----------------------------------------------------------------

TORCH = {
    "exp": torch.exp,
    "methods": lambda k: k.sqrt() * k.abs(),
    "rows": lambda k: torch.tensor(U)[:, None] * k,
    "columns": lambda k: k * torch.tensor(V),
    "where": lambda k: torch.where(k > 0.3, k, 0.5 * k),
    "clamp": lambda k: torch.clamp(k, min=0.2, max=0.4),
    "sums": lambda k: torch.sum(k, dim=1, keepdim=True),
    "all": lambda k: torch.sum(k),
    "means": lambda k: torch.mean(k, dim=(0, 1)),
    "spread": lambda k: torch.var(k, dim=1),
    "spread of all": lambda k: torch.std(k, dim=1, correction=0),
    "biased": lambda k: torch.var(k, dim=0, unbiased=False),
    "biased by place": lambda k: torch.var(k, 0, False),
    "unbiased by place": lambda k: torch.std(k, (0, 1), True),
    "all by place": lambda k: torch.var(k, False),
    "kept by place": lambda k: torch.std(k, 1, False, True),
    "largest": lambda k: torch.amax(k, dim=1),
    "log sum exp": lambda k: torch.logsumexp(k, 1, keepdim=True),
    "product": lambda k: torch.matmul(k, torch.tensor(V)),
    "product from the left": lambda k: torch.tensor(U) @ k,
    "norm": lambda k: torch.linalg.vector_norm(k, dim=1),
    "softmax": lambda k: torch.softmax(k, 1),
    "rows of an array": lambda k: k[[1, 2]][:, 3],
}


@pytest.mark.parametrize("make", ["kernel", "lazy"])
@pytest.mark.parametrize("name", TORCH)
def test_functions_of_torch(name, make):
    x, y = torch.tensor(X), torch.tensor(Y)
    dense = torch.exp(-((x[:, None] - y) ** 2).sum(-1))
    if make == "kernel":
        value = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y)
    else:
        xi, yj = tilefold.lazy(x, axis="i"), tilefold.lazy(y, axis="j")
        value = (-((xi - yj) ** 2).sum(-1)).exp()
    found = TORCH[name](value)
    found = found.dense() if hasattr(found, "dense") else found
    torch.testing.assert_close(found, TORCH[name](dense))


def test_whether_tensors_are_equal_asks_all_pairs():
    """`torch.eq` is of each pair, `torch.equal` would be one answer."""
    x, y = torch.tensor(X), torch.tensor(Y)
    kernel = tilefold.kernel(GAUSSIAN, x=x, y=y)
    lazy = tilefold.lazy(x[:, 0], axis="i") * tilefold.lazy(y[:, 0], axis="j")
    for value in (kernel, lazy):
        with pytest.raises(tilefold.ArgumentError, match=r"\(K == L\).all\(\)"):
            torch.equal(value, value)
    assert torch.eq(kernel, kernel).all()


# ---- what is refused --------------------------------------------------------

AXIS = "axis 0 is i and 1 is j"
BATCH_AXIS = "axis 0 is a batch dimension, 1 is i and 2 is j"
REFUSALS = [
    (
        "kernel", lambda k: k.sum(2),
        f"'sum' has no axis 2: the kernel has shape (4, 5)\n{AXIS}",
    ),
    (
        "transpose", lambda k: k.argmin(None),
        "'argmin' has no axis None: the kernel has shape (4, 5)\n"
        "axis 0 is j and 1 is i",
    ),
    (
        "kernel", lambda k: k.mean((0, 0)),
        f"'mean' has no axis (0, 0): the kernel has shape (4, 5)\n{AXIS}",
    ),
    (
        "kernel", lambda k: k.mean(()),
        f"'mean' has no axis (): the kernel has shape (4, 5)\n{AXIS}",
    ),
    (
        "kernel", lambda k: k.max(True),
        f"'max' has no axis True: the kernel has shape (4, 5)\n{AXIS}",
    ),
    (
        "batches", lambda k: k.sum(0),
        f"'sum' of a kernel of shape (2, 4, 5) reduces over i, j or both\n"
        f"{BATCH_AXIS}; K.dense() is an array, and has every reduction",
    ),
    (
        "batches", lambda k: k.var(),
        f"'var' of a kernel of shape (2, 4, 5) reduces over i, j or both\n"
        f"{BATCH_AXIS}; K.dense() is an array, and has every reduction",
    ),
    (
        "batches", lambda k: k.kmin(2, axis=0),
        "'kmin' of a kernel of shape (2, 4, 5) reduces over i, j or both\n"
        f"{BATCH_AXIS}; K.dense() is an array, and has every reduction",
    ),
    (
        "vectors", lambda k: k.sum(3),
        "'sum' has no axis 3: the kernel has shape (4, 5, 3)\n"
        "axis 0 is i, 1 is j and 2 is the components",
    ),
    (
        "kernel", lambda k: k * U,
        "an array of shape (4,) does not broadcast with a kernel of shape "
        "(…, 4, 5)\nshapes are matched from the last axis, as in NumPy: K * v "
        "goes with the columns, K * u[:, None] with the rows",
    ),
    (
        "kernel", lambda k: k + np.ones((4, 5)),
        "a kernel and an array of shape (4, 5), which has rows and columns\n"
        "write it into the formula as a table, A[i, j], or compute with "
        "K.dense()",
    ),
    (
        "kernel", lambda k: k * None,
        "NoneType is no value of a formula\n"
        "use numbers, and arrays of at most two dimensions",
    ),
    (
        "kernel", lambda k: np.add.reduce(k),
        "'add.reduce' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "kernel", lambda k: np.spacing(k),
        "'spacing' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "kernel", lambda k: np.sum(k, dtype="float32"),
        "'sum(…, dtype=…)' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "kernel", lambda k: np.concatenate([k, k]),
        "'concatenate of kernels' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "kernel", lambda k: np.linalg.norm(k, 2),
        "'norm of order 2' has no meaning in a formula\n"
        "see 'tilefold formulas' for what has",
    ),
    (
        "batches", lambda k: np.trace(k),
        "'trace' of a kernel of shape (2, 4, 5), which is more than one "
        "matrix\ntake one first, as in K[0] or K[..., 0]; K.T, K.diag() and "
        "K.trace() are those of each",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "use", "message"), REFUSALS)
def test_what_is_refused(name, use, message):
    value, _ = (MATRICES | TENSORS)[name]()
    with pytest.raises(tilefold.Error) as caught:
        use(value)
    assert str(caught.value) == message


def test_the_table_that_a_message_names_is_read():
    table = RANDOM.random((N, M))
    kernel = tilefold.kernel(f"({GAUSSIAN})*A[i, j]", x=X, y=Y, A=table)
    close(kernel, gaussian(X, Y, 1) * table)


def test_attributes_that_there_are_not():
    kernel, _ = MATRICES["kernel"]()
    for name in ("psolve", "nosuch", "_private", "__dlpack__"):
        assert not hasattr(kernel, name)
