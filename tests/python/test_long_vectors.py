# tests/python/test_long_vectors.py - vectors of pairs and of points that are
# made part by part, or by a matrix, and are kept in memory.
"""Lists of many parts, as kron and tensordot make them, and products with a
matrix on either axis: right around the number of parts from which on a list is
kept, and compiled and computed in a time that grows with their length alone."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tilefold
from instruction_sets import HERE

#: Of what is compiled in many ways, a fifth each day.
pytestmark = pytest.mark.sample(0.2)

SETS = [*{HERE[0]: 0, HERE[-1]: 0}]  # the least and the most
DIGITS = {"float32": 1e-5, "float64": 1e-12}


def points(count: int, width: int, dtype: str) -> np.ndarray:
    return (
        np.random.default_rng(count)
        .standard_normal((count, width))
        .astype(dtype)
    )


def of_points(point: str, n: int) -> str:
    return f"kron({point}, {point}, [{n}], [{n}])"


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("isa", SETS)
def test_lists_of_products(n, dtype, isa):
    """Summed, contracted, and of the points of either axis."""
    x, y, c = (
        points(37, n, dtype),
        points(70, n, dtype),
        points(1, n * n, dtype),
    )
    wide_x, wide_y = x.astype(float), y.astype(float)
    options = tilefold.Options(isa=isa)
    kron = f"kron(x_i, y_j, [{n}], [{n}])"
    gap = ((wide_x[:, None] - wide_y[None]) ** 2).sum(2)
    product = wide_x @ c[0].astype(float).reshape(n, n) @ wide_y.T
    on_i, on_j = (
        np.einsum("ka,kb->kab", p, p).reshape(len(p), -1)
        for p in (wide_x, wide_y)
    )
    wanted = {
        f"sum_j {kron} exp(-|x_i - y_j|²)": np.einsum(
            "ij,ia,jb->iab", np.exp(-gap), wide_x, wide_y
        ).reshape(len(x), -1),
        f"sum_j cos({kron}·c)": np.cos(product).sum(1),
        f"max_j |{of_points('x_i', n)} - {of_points('y_j', n)}|²": (
            (on_i[:, None] - on_j[None]) ** 2
        )
        .sum(2)
        .max(1),
    }
    for formula, value in wanted.items():
        arrays = {"x": x, "y": y} | ({"c": c[0]} if "·c" in formula else {})
        got = tilefold.reduce(formula, **arrays, options=options)
        scale = np.abs(value).max()
        np.testing.assert_allclose(got, value, atol=DIGITS[dtype] * scale)
    values = tilefold.kernel(kron, x=x, y=y, options=options).dense()
    np.testing.assert_allclose(
        values, np.einsum("ia,jb->ijab", x, y).reshape(values.shape), rtol=1e-6
    )


@pytest.mark.parametrize("body", ["{}", "c_i - {}", "{}*(c_i·c_i)"])
def test_lists_of_parts_on_all_axes(body):
    """A list on fewer axes, as that of a literal and a parameter, is a part."""
    c, a, b, f = points(8, 11, "float64"), np.arange(8.0), np.arange(5.0), 0.3
    parts = [1.25, f, a, a[::-1], a, a * a, 2.0, f, a, a, a]
    columns = np.stack([np.broadcast_to(p, 8) for p in parts], axis=1)
    text = "[1.25, f, a_i, z_i, a_i, a_i², 2, f, a_i, a_i, a_i]"
    value = {
        "{}": columns,
        "c_i - {}": c - columns,
        "{}*(c_i·c_i)": columns * (c * c).sum(1)[:, None],
    }[body]
    formula = body.format(text)
    arrays = {"a": a, "z": a[::-1], "f": f} | ({"c": c} if "c" in body else {})
    got = tilefold.reduce(f"sum_i ({formula})", **arrays)
    np.testing.assert_allclose(got, value.sum(0))
    got = tilefold.reduce(f"sum_i (({formula})*b_j)", b=b, **arrays)
    np.testing.assert_allclose(got, np.outer(b, value.sum(0)))


@pytest.mark.parametrize("columns", [1, 2])
def test_a_list_times_a_matrix_of_few_columns(columns):
    f, a, g = np.arange(1.0, 6), np.arange(4.0), points(3, columns, "float64")
    got = tilefold.reduce("sum_j ([f_i, f_i, a_j] @ l)", f=f, a=a, l=g)
    both = np.broadcast_arrays(f[:, None], f[:, None], a)
    np.testing.assert_allclose(got, (np.stack(both, 2) @ g).sum(1))


@pytest.mark.parametrize("dtype", DIGITS)
@pytest.mark.parametrize("width", [5, 6, 17, 40])
@pytest.mark.parametrize("isa", SETS)
def test_products_of_points(width, dtype, isa):
    """Of the columns, of what is made of them, and beside themselves."""
    x, y, a = (points(k, width, dtype) for k in (33, 131, width))
    wide_x, wide_y, wide_a = (p.astype(float) for p in (x, y, a))
    by_a, halves = wide_y @ wide_a.T, (wide_y / 2) @ wide_a.T
    by_x = wide_x @ wide_a.T

    def gaps(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return ((p[:, None] - q[None]) ** 2).sum(2)

    for formula, value in {
        "min_j |A@y_j - x_i|²": gaps(wide_x, by_a),
        "min_j |A@(y_j/2) - x_i|²": gaps(wide_x, halves),
        "min_j (|A@y_j - x_i|² + |y_j - x_i|²)": gaps(wide_x, by_a)
        + gaps(wide_x, wide_y),
        "min_j |A@x_i - y_j|²": gaps(by_x, wide_y),
        "min_j |A@(A@y_j) - x_i|²": gaps(wide_x, by_a @ wide_a.T),
    }.items():
        got = tilefold.reduce(
            formula, x=x, y=y, A=a, options=tilefold.Options(isa=isa)
        )
        np.testing.assert_allclose(
            got, value.min(1), rtol=20 * DIGITS[dtype], err_msg=formula
        )


@pytest.mark.timing
def test_time_grows_with_the_length():
    """1,024 products took two minutes to compile, and each of them read all."""
    x, y = points(50, 32, "float32"), points(60, 32, "float32")
    start = time.perf_counter()
    run = tilefold.compile("sum_j kron(x_i, y_j, [32], [32])").bind(x=x, y=y)
    run()
    assert time.perf_counter() - start < 10


@pytest.mark.timing
def test_a_matrix_costs_the_same_on_either_axis():
    """Columns were gathered, number by number: 7 times the time."""
    x, y, a = (points(1000, 64, "float32") for _ in range(3))
    session = tilefold.Session(tilefold.Options(threads=1))
    runs = [
        tilefold.compile(text, session=session).bind(x=x, y=y, A=a[:64])
        for text in ("sum_j exp(-|A@y_j - x_i|²)", "sum_j exp(-|A@x_i - y_j|²)")
    ]
    best = [float("inf")] * 2
    for _ in range(9):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - start)
    assert best[0] < 2 * best[1]


@pytest.mark.timing
def test_a_value_is_asked_once_however_many_ways_lead_to_it():
    """Each level doubled the time: 28 took 13 seconds to compile."""
    levels = [f"t{k} = t{k - 1}*y_j + t{k - 1}" for k in range(2, 29)]
    definitions = ", ".join(["t1 = y_j*y_j", *levels])
    x, y = np.zeros((5, 64), "f4"), np.zeros((7, 64), "f4")
    start = time.perf_counter()
    tilefold.reduce(f"sum_j exp(-|x_i - t28|²) with {definitions}", x=x, y=y)
    assert time.perf_counter() - start < 3


def test_adjoints_of_components_are_one_list():
    """A sum of 96 lists that are 0 but for a component each had more than
    100,000 instructions."""
    torch = pytest.importorskip("torch")
    x = torch.rand(20, 2, 3, 2, 2, 4, dtype=torch.float64, requires_grad=True)
    y = torch.rand(25, 2, 4, 2, 3, 2, 3, dtype=torch.float64).requires_grad_()
    found = tilefold.reduce(
        "sum_j tensordot(x_i, y_j, [2,3,2,2,4], [2,4,2,3,2,3], "
        "[4,0,2], [1,4,2], [4,3,2,0,1])",
        x=x.reshape(20, -1),
        y=y.reshape(25, -1),
    )
    product = torch.tensordot(x, y, dims=([5, 1, 3], [2, 5, 3])).sum(3)
    wanted = product.permute(0, 5, 4, 3, 1, 2).reshape(20, -1)
    torch.testing.assert_close(found, wanted)
    seed = torch.rand_like(found)
    torch.testing.assert_close(
        torch.autograd.grad(found, (x, y), seed),
        torch.autograd.grad(wanted, (x, y), seed),
    )


@pytest.mark.parametrize(
    "text",
    [
        "sum_j (x_i[0:3]·y_j[0:3])*(x_i[1:4]·y_j[1:4])",
        "sum_j where(x_i[0] > 0, x_i[1]*y_j[2], x_i[0:2]·y_j[1:3])",
        "sum_j exp(-|x_i[1:3] - y_j[0:2]|²)*x_i[3]*y_j[3]",
    ],
)
def test_gradients_by_slices_that_overlap(text):
    torch = pytest.importorskip("torch")
    x = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    y = torch.randn(7, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x, y: tilefold.reduce(text, x=x, y=y), (x, y)
    )
