# tests/python/test_batch_sums.py - results summed over batch dimensions.
"""`sum_batch=` gives what NumPy sums of the batched results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tilefold

rng = np.random.default_rng(8)
X = rng.normal(size=(4, 1, 60, 3))
Y = rng.normal(size=(3, 50, 3))
L = rng.uniform(0.5, 2, size=(4, 1, 1, 1))
B = rng.normal(size=(50, 2))
given = {"x": X, "y": Y, "l": L, "b": B}

FORMULAS = {
    "sum_j exp(-|x_i - y_j|²/l) b_j": (60, 2),
    "max_j exp(-|x_i - y_j|²/l)": (60,),
    "sum_ij exp(-|x_i - y_j|²/l) b_j": (2,),
    "logsumexp_j (-|x_i - y_j|²/l)": (60,),
    "count_j (|x_i - y_j|² < l)": (60,),
    "sum_j exp(im*|x_i - y_j|/l) b_j": (60, 2),
    "var_j exp(-|x_i - y_j|²/l)": (60,),
    "sum_i |sum_j exp(-|x_i - y_j|²/l) b_j|²": (),
}


@pytest.mark.parametrize("dimensions", [0, 1, (0,), (0, 1), [1, 0], ()])
@pytest.mark.parametrize("text", FORMULAS)
def test_values(text: str, dimensions: Any) -> None:
    """Any dimensions, by number or several; none is no sum."""
    arrays = {n: a for n, a in given.items() if n + "_" in text or n == "l"}
    batched = tilefold.reduce(text, arrays)
    assert batched.shape == (4, 3, *FORMULAS[text])
    over = tuple(dimensions) if np.iterable(dimensions) else dimensions
    wanted = batched.sum(axis=over)
    found = tilefold.reduce(text, arrays, sum_batch=dimensions)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_float32_is_summed_in_double() -> None:
    """A thousand batches lose no more than one does."""
    x = rng.normal(size=(20, 3)).astype(np.float32)
    y = rng.normal(size=(1000, 30, 3)).astype(np.float32)
    text = "sum_j exp(-|x_i - y_j|²)"
    wanted = tilefold.reduce(
        text, x=x.astype(float), y=y.astype(float), sum_batch=0
    )
    found = tilefold.reduce(text, x=x, y=y, sum_batch=0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=2e-7)


@pytest.mark.parametrize("threads", [1, 3, 8])
def test_same_bits_on_any_threads(threads: int) -> None:
    """The order of the sum is that of the batches."""
    x, y = rng.normal(size=(700, 3)), Y
    text = "sum_j exp(-|x_i - y_j|²)"
    wanted = tilefold.reduce(text, x=x, y=y, sum_batch=0)
    found = tilefold.reduce(
        text, x=x, y=y, sum_batch=0, options=tilefold.Options(threads=threads)
    )
    assert (found == wanted).all()


def test_out_accumulate_and_no_batches() -> None:
    """`out` has the shape of the sum; the sum over no batch is 0."""
    text = "sum_j exp(-|x_i - y_j|²/l) b_j"
    wanted = tilefold.reduce(text, given).sum((0, 1))
    out = np.ones((60, 2))[:, ::-1]
    tilefold.reduce(text, given, out=out, accumulate=True, sum_batch=(0, 1))
    np.testing.assert_allclose(out, 1 + wanted)
    none = tilefold.reduce(text, given | {"y": Y[:0]}, sum_batch=1)
    assert (none == np.zeros((4, 60, 2))).all()
    with pytest.raises(
        tilefold.ShapeError, match=r"\(4, 3, 60, 2\).*\(60, 2\)"
    ):
        tilefold.reduce(
            text, given, out=np.ones((4, 3, 60, 2)), sum_batch=(0, 1)
        )
    shared = "sum_j exp(-|x_i - y_j|²/l) z_i"
    with pytest.raises(tilefold.ArgumentError, match="shares memory with 'z'"):
        tilefold.reduce(shared, x=X, y=Y, l=L, z=out, out=out, sum_batch=(0, 1))


def test_batches_of_ranges() -> None:
    """Ranges may be what has batches."""
    visit = rng.random((5, 3, 2)) < 0.5
    ranges = tilefold.Ranges([0, 20, 40, 60], [0, 30, 50], visit)
    text = "sum_j exp(-|x_i - y_j|²)"
    batched = tilefold.reduce(text, x=X[0, 0], y=Y[0], ranges=ranges)
    assert batched.shape == (5, 60)
    found = tilefold.reduce(text, x=X[0, 0], y=Y[0], ranges=ranges, sum_batch=0)
    np.testing.assert_allclose(found, batched.sum(0), rtol=1e-14)


@pytest.mark.parametrize("dimensions", [1, (0, 1)])
def test_gradients(dimensions: Any) -> None:
    """PyTorch's graph goes through the sum, to the second order."""
    text = "sum_j exp(-|x_i - y_j|²/l) b_j"

    def value(*values: torch.Tensor) -> torch.Tensor:
        arrays = dict(zip("xylb", values, strict=True))
        return tilefold.reduce(text, arrays, sum_batch=dimensions)

    tensors = [
        torch.tensor(array, requires_grad=True)
        for array in (X[:2, :, :4], Y[:2, :5], L[:2], B[:5])
    ]
    assert value(*tensors).shape == ((2, 4, 2) if dimensions == 1 else (4, 2))
    torch.autograd.gradcheck(value, tensors)
    torch.autograd.gradgradcheck(value, tensors)


REFUSED: list[tuple[str, Any, str]] = [
    ("sum_j x_i·y_j", 2, "names dimension 2, but there are 2 batch dimensions"),
    ("sum_j x_i·y_j", -1, "names dimension -1, but there are 2"),
    ("sum_j x_i·y_j", (0, 0), "name each once"),
    ("sum_j x_i·y_j", True, "sum_batch cannot be a bool"),
    ("sum_j x_i·y_j", "0", "sum_batch cannot be a str"),
    ("sum_j x_i·y_j", 0.0, "sum_batch cannot be a float"),
    ("any_j (x_i·y_j > 0)", 0, "this result is true or false"),
]


@pytest.mark.parametrize(("text", "dimensions", "message"), REFUSED)
def test_refusals(text: str, dimensions: Any, message: str) -> None:
    """What is no batch dimension, or has no sum."""
    with pytest.raises(tilefold.ArgumentError, match=message):
        tilefold.reduce(text, x=X, y=Y, sum_batch=dimensions)
    x = torch.tensor(X, requires_grad=True)
    with pytest.raises(tilefold.ArgumentError, match=message):
        tilefold.reduce(text, x=x, y=torch.tensor(Y), sum_batch=dimensions)


def test_more_batches_than_an_integer_counts() -> None:
    """Results are counted before they are summed."""
    points = np.ones((60, 3))
    x = np.broadcast_to(points, (2**31, 1, 60, 3))
    y = np.broadcast_to(points, (2**31, 60, 3))
    text = "sum_j exp(-|x_i - y_j|²)"
    for options in ({"sum_batch": (0, 1)}, {"sum_batch": 0}, {}):
        with pytest.raises(
            tilefold.OutOfMemory, match="2147483648, 2147483648"
        ):
            tilefold.reduce(text, x=x, y=y, **options)
    gradient = tilefold.compile(text).grad("x")
    many = np.broadcast_to(points, (2**50, 60, 3))
    with pytest.raises(tilefold.OutOfMemory):
        gradient(x=points, y=many, grad=1.0)


def test_what_else_has_no_sum() -> None:
    """Gradients."""
    formula = tilefold.compile("sum_j exp(-|x_i - y_j|²)")
    with pytest.raises(tilefold.ArgumentError, match="cotangent of the sum"):
        formula.grad("x")(x=X, y=Y, grad=1.0, sum_batch=0)
