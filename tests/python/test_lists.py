# tests/python/test_lists.py - the K smallest of many columns, in any order.
"""Lists bound what they look for by what they have seen: orders of columns in
which each, or none, is better than all before, and ties, and NaN, must give
what a stable sort gives."""
# ruff: noqa: ARG005 - every kind of points is made alike

from __future__ import annotations

import re

import numpy as np
import pytest

import tilefold
from fake_gpu import settings
from instruction_sets import HERE, PORTABLE

#: Of what takes long, another third each day.
pytestmark = pytest.mark.sample(0.34)

ROWS = 37
ORDERS = {
    "rising": np.sort,
    "falling": lambda values: np.sort(values)[..., ::-1],
    "any": lambda values: values,
    "equal": lambda values: np.round(values * 2),
}


def smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Where they are, NaN last, -1 where there are no more."""
    found = np.argsort(values, axis=1, kind="stable")[:, :count]
    wanted = np.full((len(values), count), -1)
    wanted[:, : found.shape[1]] = found
    return wanted


def check(
    columns: np.ndarray, count: int, options: tilefold.Options | None = None
) -> None:
    """Of |x - y|: each row shifts what the columns are."""
    x = np.linspace(0, 0.1, ROWS).astype(columns.dtype)
    found = tilefold.reduce(
        f"argkmin_j((y_j - x_i)·(y_j - x_i), {count})",
        x=x,
        y=columns,
        options=options or tilefold.Options(),
    )
    difference = columns[None] - x[:, None]
    wanted = smallest(difference * difference, count)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [1, 10, 33, 64, 65, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_order_of_columns(order, count, dtype):
    columns = np.random.default_rng(count).random(5003) * 50
    check(ORDERS[order](columns).astype(dtype), count)


@pytest.mark.parametrize("columns", [1, 3, 9, 10, 11, 255, 256, 257, 2049])
@pytest.mark.parametrize("count", [1, 10, 40])
def test_as_many_columns_as_places_or_fewer(columns, count):
    y = np.random.default_rng(columns).random(columns, np.float32) * 50
    check(y, count)


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_comes_last(isa, dtype):
    y = np.random.default_rng(0).random(3001) * 50
    y[::3] = np.nan
    y[5::7] = np.inf
    y[4:1500] = np.nan
    check(y.astype(dtype), 12, tilefold.Options(isa=isa))
    y[8:] = np.nan
    check(y.astype(dtype), 12, tilefold.Options(isa=isa))


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 6, 7, 12, 16])
@pytest.mark.parametrize("column_tile", [1, 13, 64, 250])
def test_any_plan(isa, columns, column_tile):
    """Of which some have tiles that their steps do not divide."""
    lanes = 8 if isa == "x86-64-v3" else 16
    plan = (
        f"isa={isa} nest=reduce lanes={lanes} row_vectors=2 columns={columns} "
        f"panel={columns * 100} row_block=1024 unroll=5 k_block=0 "
        f"column_tile={column_tile} min_stage_cycles=0"
    )
    y = np.random.default_rng(1).random(1009, np.float32) * 50
    check(np.round(y * 4) / 4, 9, tilefold.Options(plan=plan))


def test_ranges_leave_some_lists_short():
    """Many short runs of columns, of which some rows see few."""
    rng = np.random.default_rng(2)
    x, y = rng.random((300, 3)), rng.random((4000, 3))
    columns = np.sort(rng.choice(4001, 90, replace=False))
    ranges = tilefold.Ranges(
        [0, 5, 90, 300], columns, rng.random((3, 89)) < [[0.05], [0.5], [0.9]]
    )
    found = tilefold.reduce(
        "argkmin_j(|x_i - y_j|², 300)", x=x, y=y, ranges=ranges
    )
    squares = ((x[:, None] - y) ** 2).sum(-1)
    for row, square, met in zip(
        found, squares, ranges.mask(300, 4000), strict=True
    ):
        places = np.flatnonzero(met)
        order = places[np.argsort(square[places], kind="stable")[:300]]
        np.testing.assert_array_equal(row[: len(order)], order)
        assert (row[len(order) :] == -1).all()


KINDS = {
    "cube": lambda x, rng: x,
    "far": lambda x, rng: x + 1000,
    "clusters": lambda x, rng: x / 100 + rng.integers(0, 3, (len(x), 1)) * 50,
    "grid": lambda x, rng: np.round(x),
    "tiny": lambda x, rng: x * 1e-17,
    "subnormal": lambda x, rng: x * 1e-38,
    "huge": lambda x, rng: x * 1e19,
    "an outlier": lambda x, rng: x * np.where(np.eye(1, len(x)) > 0, 1e6, 1).T,
    "same": lambda x, rng: x[:1].repeat(len(x), 0),
    "no numbers": lambda x, rng: np.where(
        rng.random(x.shape) < 0.002,
        rng.choice([np.nan, np.inf, -np.inf], x.shape),
        x,
    ),
}


def points(kind: str, count: int, d: int, rng: np.random.Generator):
    """What roundings may put in another order."""
    return KINDS[kind](rng.random((count, d)), rng).astype(np.float32)


SIEVES = [isa for isa in HERE if isa not in ("x86-64-v3", "aarch64")]
INTEL = [isa for isa in SIEVES if not isa.startswith("znver")]


def filtered_plan(formula, isa, **arrays):
    """The plan that the model likes best, which has a filter."""
    plan = formula.plans(**arrays, options=tilefold.Options(isa=isa))[0]
    assert " filter=1" in plan
    return plan


@pytest.mark.parametrize("isa", SIEVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("d", "count"), [(32, 10), (33, 1), (64, 32), (100, 7), (257, 3)]
)
def test_a_filter_changes_nothing(isa, kind, d, count):
    rng = np.random.default_rng(d)
    x, y = (points(kind, n, d, rng) for n in (301, 3001))
    x[5] = y[2900]
    assert_filter_changes_nothing(isa, x, y, count)


def assert_filter_changes_nothing(isa, x, y, count):
    formula = tilefold.compile(f"argkmin_j(|x_i - y_j|², {count})")
    plan = filtered_plan(formula, isa, x=x, y=y)
    found, wanted = (
        formula(x=x, y=y, options=tilefold.Options(plan=text))
        for text in (plan, plan.replace(" filter=1", ""))
    )
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("isa", INTEL)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "count"), [(7, 10), (8, 1), (16, 32), (17, 3)])
def test_a_filter_of_short_vectors_changes_nothing(isa, kind, d, count):
    test_a_filter_changes_nothing(isa, kind, d, count)


# What is tiny or huge in float32 is as far from the ends of float64.
OF_DOUBLE = {
    "tiny": lambda x, rng: x * 1e-156,
    "subnormal": lambda x, rng: x * 1e-308,
    "huge": lambda x, rng: x * 1e154,
    "an outlier": lambda x, rng: x * np.where(np.eye(1, len(x)) > 0, 1e14, 1).T,
}


@pytest.mark.parametrize("isa", INTEL)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "count"), [(7, 10), (19, 1), (40, 32)])
def test_a_filter_of_doubles_changes_nothing(isa, kind, d, count):
    rng = np.random.default_rng(d)
    make = OF_DOUBLE.get(kind, KINDS[kind])
    x, y = (make(rng.random((n, d)), rng) for n in (301, 3001))
    x[5] = y[2900]
    assert_filter_changes_nothing(isa, x, y, count)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "count"), [(16, 5), (40, 10)])
def test_a_bound_changes_nothing_on_a_gpu(kind, d, count):
    """Of kernels that run on the host."""
    rng = np.random.default_rng(d)
    x, y = (points(kind, n, d, rng) for n in (70, 900))
    x[5] = y[800]
    text = f"argkmin_j(|x_i - y_j|², {count})"
    session = tilefold.Session(settings(devices="cuda:0"))
    found = tilefold.compile(text, session=session)(x=x, y=y)
    plain = PORTABLE[0]
    wanted = tilefold.reduce(
        text, x=x, y=y, options=tilefold.Options(isa=plain)
    )
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("isa", SIEVES)
@pytest.mark.parametrize("column_tile", [1, 13, 250])
@pytest.mark.parametrize("d", [33, 200])
def test_a_filter_in_any_tile_of_columns(isa, column_tile, d):
    """Falling distances: every column passes."""
    y = np.sort(np.random.default_rng(3).random(1009, np.float32))[::-1]
    x, y = np.zeros((70, d), np.float32), np.repeat(y[:, None], d, 1)
    formula = tilefold.compile("argkmin_j(|x_i - y_j|², 9)")
    plan = filtered_plan(formula, isa, x=x, y=y)
    plan = re.sub("column_tile=[0-9]+", f"column_tile={column_tile}", plan)
    assert " filter=1" in plan
    found = formula(x=x, y=y, options=tilefold.Options(plan=plan))
    wanted = np.broadcast_to(np.arange(1008, 999, -1), (70, 9))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("isa", SIEVES)
@pytest.mark.parametrize("rounded", ["rows", "columns"])
def test_a_filter_allows_for_all_that_rounding_does(isa, rounded):
    """Every coordinate of one side is rounded by half a step, away from the
    nearest column; the first row, from which all are counted, is 0."""
    half_step, little = 2.0**-8, 2.0**-16
    row, near = 1 + half_step - little, 1.5  # the row becomes 1
    if rounded == "columns":
        row, near = 1.0, 1.5 - half_step + little  # the column 1.5
    far = row - (near - row + little)
    x = np.full((40, 64), row, np.float32)
    x[0] = 0
    y = np.full((3000, 64), far, np.float32)
    y[2001] = near
    found = tilefold.reduce(
        "argkmin_j(|x_i - y_j|², 1)",
        x=x,
        y=y,
        options=tilefold.Options(isa=isa),
    )
    assert (found[1:] == 2001).all()


@pytest.mark.parametrize(
    "text",
    [
        "[kmin_j(|x_i - y_j|², 3), argkmin_j(|x_i - y_j|², 3)]",
        "[(sum_j x_i·y_j), (mean_j x_i·y_j)]",
    ],
)
def test_reductions_of_one_state_keep_it_once(text):
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal((n, 3)) for n in (40, 50))
    said = str(tilefold.explain(text, x=x, y=y))
    assert said.count("reduce: state") == 1
    assert said.count("reduce: the state of") == 1
    parts = text.strip("[]").split(", a" if "arg" in text else ", (mean")
    first = tilefold.reduce(parts[0], x=x, y=y)
    both = tilefold.reduce(text, x=x, y=y)
    assert np.array_equal(both[:, : both.shape[1] // 2].squeeze(), first)
    if "mean" in text:
        np.testing.assert_allclose(both[:, 1], both[:, 0] / 50)
    else:
        distances = ((x[:, None] - y) ** 2).sum(-1)
        assert np.array_equal(both[:, 3:], np.argsort(distances, 1)[:, :3])
