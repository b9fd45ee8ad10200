# tests/python/test_batch_shapes.py - what is a batch by its shape, what has
# components, and what could be either.
from __future__ import annotations

import re

import numpy as np
import pytest

import tilefold

rng = np.random.default_rng(11)
B, N, D = 4, 6, 3
x, y = (
    rng.random((B, N, D)),
    rng.random((B, B, D)),
)  # as many columns as batches
tables = np.exp(-((x[:, :, None] - y[:, None]) ** 2).sum(-1))
TEXT = "sum_j exp(-|x_i - y_j|²) b_j"


def refusal(text, code, **arguments):
    """What follows `pass` and `for the first, …`, as Python reads it."""
    with pytest.raises(tilefold.ShapeError) as caught:
        tilefold.reduce(text, **arguments)
    assert caught.value.code == code
    return re.findall(r"\w+\.reshape\([\d, ]+\)", str(caught.value))


def test_a_matrix_is_a_batch_of_numbers_or_vectors():
    """(B, M) with M = B: numbers of each batch, or vectors of every batch."""
    b = rng.random((B, B))
    numbers, vectors = refusal(TEXT, "BatchOrComponents", x=x, y=y, b=b)
    out = tilefold.reduce(TEXT, x=x, y=y, b=eval(numbers))
    np.testing.assert_allclose(out[..., 0], np.einsum("bij,bj->bi", tables, b))
    out = tilefold.reduce(TEXT, x=x, y=y, b=eval(vectors))
    np.testing.assert_allclose(out, tables @ b)


def test_so_it_is_on_the_other_axis_and_of_ranges():
    c, points = rng.random((N, N)), rng.random((N, N, D))
    text = "sum_j |x_i - y_j|² c_i"
    wanted = ((points[:, :, None] - y[0]) ** 2).sum((-1, -2))
    numbers, vectors = refusal(text, "BatchOrComponents", x=points, y=y[0], c=c)
    out = tilefold.reduce(text, x=points, y=y[0], c=eval(numbers))
    np.testing.assert_allclose(out[..., 0], wanted * c)
    out = tilefold.reduce(text, x=points, y=y[0], c=eval(vectors))
    np.testing.assert_allclose(out, wanted[..., None] * c)

    kept = np.tri(B, dtype=bool)  # columns that each batch keeps
    ranges = tilefold.Ranges([0, N], np.arange(B + 1), kept[:, None])
    b = rng.random((B, B))
    given = {"x": x[0], "y": y[0], "ranges": ranges}
    numbers, vectors = refusal(TEXT, "BatchOrComponents", b=b, **given)
    out = tilefold.reduce(TEXT, b=eval(numbers), **given)
    for k in range(B):
        np.testing.assert_allclose(
            out[k, :, 0], tables[0][:, kept[k]] @ b[k, kept[k]]
        )


@pytest.mark.parametrize("batch", [(1,), (B,), (B, B)])
def test_so_it_is_where_nothing_else_says_how_many_points(batch):
    points = rng.random((*batch, N, 1))
    b = rng.random((*batch, 7))
    text = "sum_j cos(x_i*b_j)"
    numbers, vectors = refusal(text, "BatchOrComponents", x=points, b=b)
    out = tilefold.reduce(text, x=points, b=eval(numbers))
    wanted = np.cos(points * b[..., None, :]).sum(-1)
    np.testing.assert_allclose(out[..., 0], wanted)
    out = tilefold.reduce(text, x=points, b=eval(vectors))
    wanted = np.cos(points[..., None, :] * b[..., None, :, :]).sum(-2)
    np.testing.assert_allclose(out, wanted, rtol=1e-12)


def test_vectors_as_long_as_others_are_vectors():
    """Points that all batches share, as many as there are batches."""
    out = tilefold.reduce("sum_j exp(-|x_i - y_j|²)", x=x, y=y[0])
    table = np.exp(-((x[:, :, None] - y[0]) ** 2).sum(-1))
    np.testing.assert_allclose(out, table.sum(-1))


def test_two_arrays_that_may_both_be_batches_are_refused():
    b, c = rng.random((B, 7)), rng.random((B, 7))
    text = "sum_j cos(x_i*b_j)*c_j"
    refusal(text, "BatchOrComponents", x=x[..., :1], b=b, c=c)
    out = tilefold.reduce(text, x=x[..., :1], b=b[..., None], c=c[..., None])
    wanted = np.einsum("bij,bj->bi", np.cos(x[..., :1] * b[:, None]), c)
    np.testing.assert_allclose(out[..., 0], wanted)


def test_a_parameter_is_a_number_for_each_batch_or_a_vector():
    l = rng.random(D) + 0.5
    clouds = rng.random((D, N, D))
    text = "sum_j exp(-|(x_i - y_j)/l|²)"
    numbers, vector = refusal(text, "BatchOrComponents", x=clouds, y=y[0], l=l)
    d = clouds[:, :, None] - y[0]
    out = tilefold.reduce(text, x=clouds, y=y[0], l=eval(numbers))
    scaled = d / l[:, None, None, None]
    np.testing.assert_allclose(out, np.exp(-(scaled**2).sum(-1)).sum(-1))
    out = tilefold.reduce(text, x=clouds, y=y[0], l=eval(vector))
    np.testing.assert_allclose(out, np.exp(-((d / l) ** 2).sum(-1)).sum(-1))
    gradient = tilefold.compile(text).grad("l")(
        x=clouds, y=y[0], l=eval(vector), grad=np.ones((D, N))
    )
    assert gradient.shape == (1, D)


def test_tables_and_sizes_that_differ_have_one_reading():
    table = rng.random(B)
    out = tilefold.reduce(
        "sum_j A[k_j] |x_i|²", x=x, A=table, k=np.arange(3) % B
    )
    np.testing.assert_allclose(
        out, (x**2).sum(-1) * table[np.arange(3) % B].sum()
    )
    b = rng.random((5, B))
    clouds, points = rng.random((3, N, D)), rng.random((5, D))
    out = tilefold.reduce(TEXT, x=clouds, y=points, b=b)
    table = np.exp(-((clouds[:, :, None] - points) ** 2).sum(-1))
    np.testing.assert_allclose(out, table @ b)


def test_a_batch_of_numbers_of_other_lengths_is_told_its_shape():
    clouds, points = rng.random((3, N, D)), rng.random((5, D))
    b = rng.random((3, 5))
    (cure,) = refusal(TEXT, "BatchOfScalars", x=clouds, y=points, b=b)
    out = tilefold.reduce(TEXT, x=clouds, y=points, b=eval(cure))
    table = np.exp(-((clouds[:, :, None] - points) ** 2).sum(-1))
    np.testing.assert_allclose(out[..., 0], np.einsum("bij,bj->bi", table, b))

    clouds, b = rng.random((3, 4, N, 1)), rng.random((3, 4, 7))
    text = "sum_j cos(x_i*b_j)"
    (cure,) = refusal(text, "BatchOfScalars", x=clouds, b=b)
    out = tilefold.reduce(text, x=clouds, b=eval(cure))
    wanted = np.cos(clouds * b[..., None, :]).sum(-1)
    np.testing.assert_allclose(out[..., 0], wanted)


def test_products_of_kernels_are_numpys():
    """K @ b is of matrices, whatever number of batches there is."""
    b, c = rng.random((B, B)), rng.random((N, N))
    pairs = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y)
    np.testing.assert_allclose(pairs @ b, tables @ b)
    np.testing.assert_allclose(pairs @ b.tolist(), tables @ b)
    np.testing.assert_allclose(pairs.softmax(-1, b), softmax(tables) @ b)
    points = rng.random((N, N, D))
    pairs = tilefold.kernel("exp(-|x_i - y_j|²)", x=points, y=y[0])
    np.testing.assert_allclose(c @ pairs, c @ pairs.dense())
    vectors = tilefold.kernel("x_i - y_j", x=points, y=y[0])
    w = rng.random((N, 1, D))
    np.testing.assert_allclose(
        (vectors * w).sum(-2), (vectors.dense() * w).sum(-2)
    )
    square = tilefold.kernel("x_i - y_j", x=rng.random((N, N, N)), y=c)
    w = rng.random((N, 1, N))
    np.testing.assert_allclose(
        (square * w).sum(-2), (square.dense() * w).sum(-2)
    )


def softmax(values):
    weights = np.exp(values)
    return weights / weights.sum(-1, keepdims=True)


# ---- batch_rank ------------------------------------------------------------


def test_the_caller_says_how_many_dimensions_are_a_batch_s():
    """(B, N) is a batch of numbers then, and (B,) a number for each."""
    rng = np.random.default_rng(4)
    x, y, b = rng.random((3, 4)), rng.random((3, 5)), rng.random((3, 5))
    l = rng.random(3) + 0.5
    text = "sum_j exp(-(x_i - y_j)²/l²) b_j"
    found = tilefold.reduce(text, x=x, y=y, b=b, l=l, batch_rank=1)
    each = [
        tilefold.reduce(text, x=x[k], y=y[k], b=b[k], l=l[k]) for k in range(3)
    ]
    np.testing.assert_allclose(found, each, rtol=1e-14)
    g = tilefold.compile(text).grad(["x", "l"])
    of_x, of_l = g(x=x, y=y, b=b, l=l, grad=found, batch_rank=1)
    for k in range(3):
        own = g(x=x[k], y=y[k], b=b[k], l=l[k], grad=found[k])
        np.testing.assert_allclose(of_x[k], own[0], rtol=1e-13)
        np.testing.assert_allclose(of_l[k], own[1], rtol=1e-13)


def test_a_batch_rank_of_0_says_that_there_is_none():
    x, y = np.ones((3, 2)), np.ones((4, 2))
    text = "sum_j |x_i - y_j|²"
    assert tilefold.reduce(text, x=x, y=y, batch_rank=0).shape == (3,)
    with pytest.raises(tilefold.ShapeError, match="batch_rank=0 takes 0"):
        tilefold.reduce(text, x=x[None], y=y, batch_rank=0)
    with pytest.raises(tilefold.ShapeError, match="batch_rank=3 takes 3"):
        tilefold.reduce(text, x=x, y=y, batch_rank=3)


@pytest.mark.parametrize("rank", [-1, 1.0, True, "1", [1]])
def test_a_batch_rank_is_a_whole_number(rank):
    with pytest.raises(tilefold.ArgumentError, match="batch_rank"):
        tilefold.reduce("sum_j y_j", y=np.ones((2, 3)), batch_rank=rank)


@pytest.mark.parametrize("sizes", [(2, 0, 3), (2, 3, 0), (0, 2, 3), (2, 0, 0)])
def test_gradients_of_batches_of_no_points_have_their_arrays_shapes(sizes):
    """A cotangent (B, 0) has no components, but is of no points."""
    torch = pytest.importorskip("torch")
    batch, rows, columns = sizes
    given = {
        name: torch.ones(batch, count, width, requires_grad=True)
        for name, count, width in [
            ("x", rows, 3), ("y", columns, 3), ("b", columns, 1)
        ]
    }  # fmt: skip
    found = tilefold.reduce("x_i·(sum_j b_j*y_j)", given)
    assert found.shape == (batch, rows)
    found.sum().backward()
    for value in given.values():
        assert value.grad.shape == value.shape
