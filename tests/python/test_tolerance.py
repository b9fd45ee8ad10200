# tests/python/test_tolerance.py - squared distances as inner products, where
# a tolerance allows it.
"""Errors are relative to |x - c|² + |y - c|², c being a point of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilefold
from conftest import stages_of
from instruction_sets import HERE
from random_terms import TABLES

SETS = {row["name"]: row for row in TABLES["instruction sets"]}
#: The best one here where inner products are faster than differences.
EXPANDS = [isa for isa in HERE if not isa.startswith("znver")][-1]
LOOSE = tilefold.Options(isa=EXPANDS, tolerance=1e-6)
#: Enough for factors in parts of bf16, where the processor multiplies those.
COARSE = tilefold.Options(isa=EXPANDS, tolerance=1e-5)
#: Those whose lanes add products of bf16.
ROUNDS = [isa for isa in HERE if SETS[isa]["bf16"] and not SETS[isa]["blocks"]]
#: Four times the typical errors.
WORST = ((LOOSE, 4e-6), (COARSE, 1.3e-5))
GAUSSIAN = "sum_j exp(-|x_i - y_j|²/(2*l²))*b_j"


def draw(count: int, dimension: int, offset: float = 0) -> np.ndarray:
    random = np.random.default_rng(count + dimension)
    points = random.standard_normal((count, dimension)) + offset
    return points.astype(np.float32)


def as_bfloat16(x: np.ndarray) -> np.ndarray:
    """Rounded to the nearest, ties to even, in float64."""
    bits = x.view(np.uint32).astype(np.uint64)
    bits = bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))
    high = (bits & np.uint64(0xFFFF0000)).astype(np.uint32)
    return high.view(np.float32).astype(np.float64)


def distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    x, y = x.astype(np.float64), y.astype(np.float64)
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def scale(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|x - c|² + |y - c|²"""
    centre = y[:1]
    return distances(x, centre) + distances(centre, y)


@pytest.mark.parametrize(("options", "worst"), WORST)
@pytest.mark.parametrize("offset", [0, 100, -3000])
@pytest.mark.parametrize("dimension", [8, 15, 16, 17, 32, 33, 64, 97, 300, 700])
def test_distances_are_within_the_tolerance(
    dimension: int, offset: float, options: tilefold.Options, worst: float
) -> None:
    x, y = draw(70, dimension, offset), draw(300, dimension, offset)
    exact = distances(x, y)
    found = tilefold.reduce("min_j |x_i - y_j|²", x=x, y=y, options=options)
    error = np.abs(found - exact.min(1)) / scale(x, y).max(1)
    assert error.max() < worst
    far = tilefold.reduce("max_j |x_i - y_j|²", x=x, y=y, options=options)
    error = np.abs(far - exact.max(1)) / scale(x, y).max(1)
    assert error.max() < worst


@pytest.mark.parametrize(("options", "worst"), WORST)
@pytest.mark.parametrize("points", [1, 2, 31, 63, 65, 257, 1100])
@pytest.mark.parametrize("dimension", [8, 40, 200])
def test_sums_of_any_size(
    dimension: int, points: int, options: tilefold.Options, worst: float
) -> None:
    x, y = draw(points, dimension, 5), draw(points + 1, dimension, 5)
    b = draw(points + 1, 1)[:, 0]
    length = np.float32(dimension**0.5)
    terms = np.exp(-distances(x, y) / (2 * dimension))
    found = tilefold.reduce(GAUSSIAN, x=x, y=y, b=b, l=length, options=options)
    error = np.abs(found - terms @ b) / (terms @ np.abs(b))
    assert error.max() < 5 * worst


@pytest.mark.parametrize(("options", "worst"), WORST)
@pytest.mark.parametrize("dimension", [31, 32, 65, 300])
def test_products(
    dimension: int, options: tilefold.Options, worst: float
) -> None:
    x, y = draw(90, dimension), draw(310, dimension)
    exact = x.astype(np.float64) @ y.T.astype(np.float64)
    sizes = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)
    found = tilefold.reduce("max_j x_i·y_j", x=x, y=y, options=options)
    assert (np.abs(found - exact.max(1)) / sizes.max(1)).max() < worst
    weights = np.exp(exact / 8)
    v = draw(310, 40)
    attention = tilefold.reduce(
        "softmax_j(x_i·y_j/8, v_j)", x=x, y=y, v=v, options=options
    )
    wanted = weights @ v / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(attention, wanted, atol=20 * worst)


@pytest.mark.skipif("x86-64-v4-amx" not in HERE, reason="no AMX here")
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("columns", [1, 3, 4])
def test_every_plan_of_parts(rows: int, columns: int) -> None:
    plan = (
        f"isa=x86-64-v4-amx row_vectors={rows} columns={columns} panel=132 "
        "row_block=384 column_tile=60 parts=2"
    )
    options = tilefold.Options(isa="x86-64-v4-amx", plan=plan, tolerance=1e-5)
    x, y, b = draw(400, 90), draw(299, 90), draw(299, 1)[:, 0]
    given: dict[str, Any] = {"x": x, "y": y, "b": b, "l": np.float32(9)}
    found = tilefold.reduce(GAUSSIAN, **given, options=options)
    np.testing.assert_allclose(
        found, tilefold.reduce(GAUSSIAN, **given), atol=1e-4
    )


@pytest.mark.parametrize("isa", ROUNDS)
@pytest.mark.parametrize("dimension", [32, 33, 64, 127, 300])
def test_factors_are_rounded(dimension: int, isa: str) -> None:
    x, y = draw(93, dimension), draw(311, dimension)
    exact = x.astype(np.float64) @ y.T.astype(np.float64)
    sizes = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)
    options = tilefold.Options(isa=isa, tolerance=4e-3)
    kernel = tilefold.compile("max_j x_i·y_j")
    text = kernel.explain(x=x, y=y, options=options)
    assert "%2 dot: words" in text
    orders = [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda a: np.repeat(a, 2, 0)[::2],
    ]
    first, *others = (
        tilefold.reduce("max_j x_i·y_j", x=put(x), y=put(y), options=options)
        for put in orders
    )
    error = np.abs(first - exact.max(1)) / sizes.max(1)
    assert 1e-6 < error.max() < 4e-3
    for other in others:
        np.testing.assert_array_equal(other, first)
    rounded = (as_bfloat16(x) @ as_bfloat16(y).T).max(1)
    np.testing.assert_allclose(first, rounded, rtol=1e-5)


@pytest.mark.parametrize("isa", ROUNDS)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e38, 1e-40])
def test_rounded_factors_of_any_size(value: float, isa: str) -> None:
    x, y = np.zeros((5, 40), np.float32), np.ones((7, 40), np.float32)
    x[2, 33] = value
    found = tilefold.reduce(
        "max_j x_i·y_j",
        x=x,
        y=y,
        options=tilefold.Options(isa=isa, tolerance=4e-3),
    )
    np.testing.assert_allclose(
        found, [0, 0, np.float32(value), 0, 0], rtol=4e-3, atol=1e-38
    )


def test_it_is_another_program_where_it_may_be() -> None:
    def program(
        dimension: int, dtype: type, tolerance: float, isa: str = EXPANDS
    ) -> str:
        x = np.zeros((4, dimension), dtype)
        formula = tilefold.compile("sum_j exp(-|x_i - y_j|²)")
        options = tilefold.Options(isa=isa, tolerance=tolerance)
        stages = stages_of(formula, x=x, y=x, options=options)
        return str(stages["canonical ir"]["text"])

    for dimension, dtype, tolerance, expands in (
        (8, np.float32, 2e-7, True),
        (8, np.float32, 1e-7, False),
        (7, np.float32, 1, False),
        (64, np.float64, 1, False),
    ):
        text = program(dimension, dtype, tolerance)
        assert ("= dot" in text) == expands
        assert ("= sqdist" in text) != expands
    for isa in ("znver4", "znver5"):
        assert "= sqdist" in program(64, np.float32, 1e-5, isa)


def test_equal_points_have_no_distance_below_0() -> None:
    x = draw(300, 64)
    options: dict[str, Any] = {"x": x, "options": LOOSE}
    nearest = tilefold.reduce("min_j |x_i - x_j|²", **options)
    assert (nearest >= 0).all()
    lengths = tilefold.reduce("sum_j |x_i - x_j|", **options)
    expected = np.sqrt(distances(x, x)).sum(1)
    np.testing.assert_allclose(lengths, expected, rtol=1e-5)


def test_neighbours_are_found() -> None:
    x, y = draw(90, 32, 50), draw(400, 32, 50)
    found = tilefold.reduce(
        "argkmin_j(|x_i - y_j|², 5)", x=x, y=y, options=LOOSE
    )
    exact = distances(x, y)
    wanted = np.sort(exact, 1)[:, :5]
    reached = np.take_along_axis(exact, found.astype(int), 1)
    np.testing.assert_allclose(reached, wanted, rtol=1e-4)


def test_gradients() -> None:
    x, y, b = draw(50, 24, 3), draw(60, 24, 3), draw(60, 1)[:, 0]
    formula = f"grad({GAUSSIAN}, x_i)"
    given: dict[str, Any] = {"x": x, "y": y, "b": b, "l": np.float32(4)}
    exact = tilefold.reduce(formula, **given)
    found = tilefold.reduce(formula, **given, options=LOOSE)
    np.testing.assert_allclose(
        found, exact, rtol=1e-4, atol=1e-5 * np.abs(exact).max()
    )


def test_batches_have_a_centre_each() -> None:
    offsets = np.array([0, 1000, -500], np.float32)[:, None, None]
    x = np.stack([draw(40, 16)] * 3) + offsets
    y = np.stack([draw(50, 16)] * 3) + offsets
    found = tilefold.reduce("min_j |x_i - y_j|²", x=x, y=y, options=LOOSE)
    for k in range(3):
        exact = distances(x[k], y[k]).min(1)
        np.testing.assert_allclose(found[k], exact, rtol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(0, 5), (5, 0), (0, 0)])
def test_no_points(rows: int, columns: int) -> None:
    x, y = draw(rows, 64), draw(columns, 64)
    found = tilefold.reduce("sum_j exp(-|x_i - y_j|²)", x=x, y=y, options=LOOSE)
    np.testing.assert_array_equal(found, np.zeros(rows))
    batches = np.zeros((3, columns, 64), np.float32)
    found = tilefold.reduce(
        "sum_j exp(-|x_i - y_j|²)", x=x, y=batches, options=LOOSE
    )
    np.testing.assert_array_equal(found, np.zeros((3, rows)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_first_point_that_is_not_finite_is_no_centre(bad: float) -> None:
    x, y = draw(20, 16, 7), draw(30, 16, 7)
    y[0, 3] = bad
    kernel = tilefold.kernel("exp(-|x_i - y_j|²/32)", x=x, y=y, options=LOOSE)
    rest = np.arange(1, 30)
    np.testing.assert_allclose(
        kernel[:, rest].sum(1),
        np.exp(-distances(x, y[1:]) / 32).sum(1),
        rtol=1e-5,
    )


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, 0)[::2],
        lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    ],
)
def test_any_strides(make: Any) -> None:
    x, y = draw(130, 50, 2), draw(140, 50, 2)
    given: dict[str, Any] = {"options": LOOSE}
    usual = tilefold.reduce("max_j |x_i - y_j|²", x=x, y=y, **given)
    found = tilefold.reduce("max_j |x_i - y_j|²", x=make(x), y=make(y), **given)
    np.testing.assert_array_equal(found, usual)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-5])
@pytest.mark.parametrize("isa", HERE)
def test_every_instruction_set(isa: str, tolerance: float) -> None:
    x, y = draw(130, 50, 2), draw(140, 50, 2)
    options = tilefold.Options(isa=isa, tolerance=tolerance)
    found = tilefold.reduce("max_j |x_i - y_j|²", x=x, y=y, options=options)
    np.testing.assert_allclose(found, distances(x, y).max(1), rtol=2e-5)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-5])
def test_threads_change_no_bit(tolerance: float) -> None:
    x, y = draw(1500, 40), draw(1300, 40)
    b, length = draw(1300, 1)[:, 0], np.float32(6)
    results = [
        tilefold.reduce(
            GAUSSIAN,
            x=x,
            y=y,
            b=b,
            l=length,
            options=tilefold.Options(tolerance=tolerance, threads=threads),
        )
        for threads in (1, 2, 3, 8)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
