# tests/python/test_narrow_vectors.py - sums of products of 8-bit and bf16
# numbers, which instructions add up several at a time.
"""Vectors of int8, uint8 and bfloat16, on every instruction set there is."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import tilefold
from instruction_sets import HERE

#: Of what takes long, another third each day.
pytestmark = pytest.mark.sample(0.34)

BYTES = [np.int8, np.uint8]


@pytest.fixture(params=HERE)
def session(request: pytest.FixtureRequest) -> tilefold.Session:
    return tilefold.Session(tilefold.Options(isa=request.param))


def draw(dtype: type, *shape: int) -> np.ndarray:
    """All values the dtype has, its ends more often."""
    ends = np.iinfo(dtype)
    random = np.random.default_rng(shape[-1])
    values = random.integers(ends.min, ends.max + 1, shape)
    values[random.random(shape) < 0.2] = ends.min
    values[random.random(shape) < 0.2] = ends.max
    return values.astype(dtype)


@pytest.mark.parametrize("dimension", [6, 7, 8, 63, 64, 65, 300, 768])
@pytest.mark.parametrize("dtypes", list(product(BYTES, repeat=2)))
def test_sums_of_bytes_are_exact(
    session: tilefold.Session, dtypes: tuple[type, type], dimension: int
) -> None:
    x, y = draw(dtypes[0], 70, dimension), draw(dtypes[1], 300, dimension)
    wide_x, wide_y = x.astype(np.int64), y.astype(np.int64)
    products = wide_x @ wide_y.T
    distances = ((wide_x[:, None] - wide_y[None]) ** 2).sum(-1)
    for formula, expected in (
        ("max_j |x_i - y_j|²", distances.max(1)),
        ("min_j |x_i - y_j|²", distances.min(1)),
        ("min_j x_i·y_j", products.min(1)),
        ("max_i y_j·x_i", products.max(0)),
    ):
        found = tilefold.reduce(formula, x=x, y=y, session=session)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, expected.astype(np.float32))


def layouts(array: np.ndarray) -> dict[str, np.ndarray]:
    """Equal arrays with other strides."""
    spread = np.repeat(np.repeat(array, 2, 0), 3, 1)
    return {
        "rows": array,
        "columns": np.asfortranarray(array),
        "spread": spread[::2, ::3],
        "backwards": np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1],
    }


@pytest.mark.parametrize("layout", layouts(np.zeros((1, 1))))
@pytest.mark.parametrize("points", [1, 63, 65, 1100])
def test_any_strides_and_sizes(
    session: tilefold.Session, layout: str, points: int
) -> None:
    x, y = draw(np.int8, points, 13), draw(np.uint8, points + 1, 13)
    distances = ((x.astype(int)[:, None] - y.astype(int)[None]) ** 2).sum(-1)
    nearest = tilefold.reduce(
        "min_j |x_i - y_j|²",
        x=layouts(x)[layout],
        y=layouts(y)[layout],
        session=session,
    )
    np.testing.assert_array_equal(nearest, distances.min(1))


def test_batches_lists_and_one_array_on_both_axes(
    session: tilefold.Session,
) -> None:
    x = draw(np.int8, 5, 40, 16)
    wide = x.astype(int)
    expected = ((wide[:, :, None] - wide[:, None]) ** 2).sum(-1)
    found = tilefold.reduce("max_j |x_i - x_j|²", x=x, session=session)
    np.testing.assert_array_equal(found, expected.max(-1))
    rows = np.array([7, 3, 3, 39])
    kernel = tilefold.kernel("x_i·x_j", x=x[0], session=session)
    np.testing.assert_array_equal(
        kernel[rows].max(1), (wide[0][rows] @ wide[0].T).max(1)
    )


def test_a_vector_that_is_read_twice_is_read_as_numbers(
    session: tilefold.Session,
) -> None:
    x, y = draw(np.int8, 50, 16), draw(np.int8, 60, 16)
    wide_x, wide_y = x.astype(float), y.astype(float)
    found = tilefold.reduce(
        "sum_j (|x_i - y_j|²/9999 + y_j[3])", x=x, y=y, session=session
    )
    distances = ((wide_x[:, None] - wide_y[None]) ** 2).sum(-1)
    expected = (distances / 9999 + wide_y[None, :, 3]).sum(1)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("dimension", [6, 7, 64, 65])
def test_products_of_bf16(session: tilefold.Session, dimension: int) -> None:
    generator = torch.Generator().manual_seed(dimension)

    def draw(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator).bfloat16()

    q, k, v = draw(90, dimension), draw(300, dimension), draw(300, 5)
    scores = q.double() @ k.double().T
    found = tilefold.reduce("max_j q_i·k_j", q=q, k=k, session=session)
    torch.testing.assert_close(
        found.double(), scores.max(1).values, rtol=1e-6, atol=1e-5
    )
    attention = tilefold.reduce(
        "softmax_j(q_i·k_j/8, v_j)", q=q, k=k, v=v, session=session
    )
    expected = torch.softmax(scores / 8, 1) @ v.double()
    torch.testing.assert_close(
        attention.double(), expected, rtol=1e-4, atol=1e-5
    )


def draw_bf16(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(shape[0] + shape[-1])
    return torch.randn(*shape, generator=generator).bfloat16()


def exact_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> torch.Tensor:
    scores = q.double() @ k.double().T / 8
    return torch.softmax(scores, 1) @ v.double()


@pytest.mark.parametrize("keys", [1, 2, 31, 33, 64, 65, 255, 257, 1000])
@pytest.mark.parametrize("dimensions", [(8, 6), (64, 64), (40, 33), (100, 80)])
def test_attention_of_bf16(
    session: tilefold.Session, dimensions: tuple[int, int], keys: int
) -> None:
    """Weights keep all their bits, although their products are of bf16."""
    q = draw_bf16(70, dimensions[0])
    k, v = draw_bf16(keys, dimensions[0]), draw_bf16(keys, dimensions[1])
    found = tilefold.reduce(
        "softmax_j(q_i·k_j/8, v_j)", q=q, k=k, v=v, session=session
    )
    torch.testing.assert_close(
        found.double(), exact_attention(q, k, v), rtol=1e-5, atol=1e-6
    )


#: Where weights of so few parts are faster than those of float32.
MOST_ROUNDED_PARTS = {
    "x86-64-v4-amx": 2,
    "x86-64-v4-bf16": 1,
    "znver4": 1,
    "znver5": 1,
}
ALLOWED = [(1e-6, 3, 1e-6), (1e-5, 2, 1e-5), (4e-3, 1, 2e-3)]


@pytest.mark.parametrize(("tolerance", "parts", "worst"), ALLOWED)
def test_weights_are_as_exact_as_asked(
    session: tilefold.Session, tolerance: float, parts: int, worst: float
) -> None:
    """They are rounded without a bias: sums of many are as large as before."""
    isa = session.options.isa
    given = {"q": draw_bf16(70, 40), "k": draw_bf16(999, 40)}
    given["v"] = draw_bf16(999, 33).abs()
    rounding = tilefold.Session(tilefold.Options(isa=isa, tolerance=tolerance))
    formula = tilefold.compile("softmax_j(q_i·k_j/8, v_j)", session=rounding)
    wanted = exact_attention(*given.values())
    error = formula(given).double() / wanted - 1
    assert error.abs().max() < worst
    assert error.mean().abs() < worst / 10
    told = f" weight_parts={parts}" in formula.plans(given)[0]
    assert told == (parts <= MOST_ROUNDED_PARTS.get(isa, 0))


@pytest.mark.parametrize("parts", [1, 2])
def test_rounded_weights_beside_values_that_are_not_finite(
    parts: int,
) -> None:
    q, k, v = draw_bf16(40, 8), draw_bf16(300, 8), draw_bf16(300, 20)
    v[280, 3], v[281, 4] = torch.inf, torch.nan
    k[7, 0] = torch.nan
    tolerance = {2: 1e-5, 1: 4e-3}[parts]
    options = tilefold.Options(tolerance=tolerance)
    text = "softmax_j(q_i·k_j/8, v_j)"
    found = tilefold.reduce(text, q=q, k=k, v=v, options=options)
    assert torch.isnan(found).all()
    k[7, 0] = 1
    found = tilefold.reduce(text, q=q, k=k, v=v, options=options)
    torch.testing.assert_close(
        found.double(),
        exact_attention(q, k, v),
        rtol=1e-2,
        atol=2e-3,
        equal_nan=True,
    )


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("columns", [1, 2, 3, 4])
@pytest.mark.parametrize("column_tile", [1, 13, 60, 128])
def test_every_plan_of_attention(
    session: tilefold.Session, rows: int, columns: int, column_tile: int
) -> None:
    isa = session.options.isa
    lanes = 8 if isa == "x86-64-v3" else 16
    plan = (
        f"isa={isa} lanes={lanes} row_vectors={rows} columns={columns} "
        f"panel=132 row_block=384 column_tile={column_tile}"
    )
    q, k, v = draw_bf16(150, 40), draw_bf16(299, 40), draw_bf16(299, 33)
    found = tilefold.reduce(
        "softmax_j(q_i·k_j/8, v_j)",
        q=q,
        k=k,
        v=v,
        session=tilefold.Session(tilefold.Options(isa=isa, plan=plan)),
    )
    torch.testing.assert_close(
        found.double(), exact_attention(q, k, v), rtol=1e-5, atol=1e-6
    )


def test_values_that_are_not_finite(session: tilefold.Session) -> None:
    """They touch their own component alone."""
    q, k, v = draw_bf16(40, 8), draw_bf16(300, 8), draw_bf16(300, 20)
    v[280, 3], v[281, 4] = torch.inf, torch.nan
    v[282, 5], v[283, 5] = torch.inf, -torch.inf
    found = tilefold.reduce(
        "softmax_j(q_i·k_j/8, v_j)", q=q, k=k, v=v, session=session
    )
    torch.testing.assert_close(
        found.double(),
        exact_attention(q, k, v),
        rtol=1e-5,
        atol=1e-6,
        equal_nan=True,
    )


def test_numbers_that_are_not_finite_in_bf16(
    session: tilefold.Session,
) -> None:
    q = torch.ones(3, 8).bfloat16()
    k = torch.ones(2, 8).bfloat16()
    q[1, 5], k[1, 0] = torch.inf, torch.nan
    sums = tilefold.reduce("sum_j q_i·k_j", q=q, k=k, session=session)
    assert torch.isnan(sums).all()
    first = tilefold.reduce("sum_j q_i·k_j", q=q, k=k[:1], session=session)
    assert first.tolist() == [8, float("inf"), 8]
