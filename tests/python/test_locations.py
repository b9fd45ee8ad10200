# tests/python/test_locations.py - where the largest and the smallest are.
"""A tile's steps note which rows they beat, and columns are found out at the
end of a panel: ties, NaN and infinities have to come out as in NumPy, at any
place of a step, a panel and a tile, of short vectors and of long ones.
"""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from instruction_sets import HERE

NAN, INFINITY = float("nan"), float("inf")
#: Vectors that lie component by component, and those with a loop over them.
DIMENSIONS = [1, 3, 7, 20]


def whole_numbers(rows: int, dimension: int, most: int) -> np.ndarray:
    """Few different ones, so that distances are exact and often equal."""
    random = np.random.default_rng(rows + dimension)
    return random.integers(-most, most + 1, (rows, dimension)).astype("float32")


def products(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (x[:, None] * y).sum(-1)


def squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return ((x[:, None] - y) ** 2).sum(-1)


FORMULAS = {
    "argmin_j |x_i - y_j|²": lambda x, y: squares(x, y).argmin(1),
    "argmax_j |x_i - y_j|²": lambda x, y: squares(x, y).argmax(1),
    "argmin_j x_i·y_j": lambda x, y: products(x, y).argmin(1),
    "argmax_j x_i·y_j": lambda x, y: products(x, y).argmax(1),
}


def agree(
    formula: str, x: np.ndarray, y: np.ndarray, **settings: object
) -> None:
    found = tilefold.reduce(
        formula, x=x, y=y, options=tilefold.Options(**settings)
    )
    np.testing.assert_array_equal(found, FORMULAS[formula](x, y))


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_of_equal_columns_the_first(
    formula: str, dimension: int, isa: str
) -> None:
    x = whole_numbers(67, dimension, 1)
    for columns in (1, 7, 8, 9, 255, 257, 2047, 4100):
        agree(formula, x, whole_numbers(columns, dimension, 1), isa=isa)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("value", [NAN, INFINITY, -INFINITY])
def test_of_values_that_are_no_numbers(
    formula: str, dimension: int, value: float
) -> None:
    x = whole_numbers(40, dimension, 3) + 0.5
    for columns in (20, 2500):
        for at in (0, 1, 6, 15, 16, columns - 2, columns - 1):
            y = whole_numbers(columns, dimension, 3)
            y[at, dimension - 1] = value
            agree(formula, x, y)
            y[columns // 2] = value  # a later one changes nothing
            agree(formula, x, y)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_of_columns_each_of_which_is_better(
    formula: str, dimension: int
) -> None:
    """As well as the same ones the other way round, of which none is."""
    x = np.zeros((33, dimension), "float32")
    x[:, 0] = np.arange(1, 34)
    y = np.zeros((3000, dimension), "float32")
    y[:, 0] = np.linspace(100, -100, len(y))
    agree(formula, x, y)
    agree(formula, x, y[::-1])


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("rows", range(1, 6))
@pytest.mark.parametrize("columns", range(1, 10))
def test_by_any_tile(rows: int, columns: int, isa: str) -> None:
    lanes = 8 if isa == "x86-64-v3" else 16
    block = 2 * int(np.lcm(64, lanes * rows))
    x, y = whole_numbers(131, 3, 4), whole_numbers(523, 3, 4)
    for panel in (columns, 9 * columns, 60 * columns):
        plan = (
            f"isa={isa} nest=reduce lanes={lanes} row_vectors={rows} "
            f"columns={columns} panel={panel} row_block={block} unroll=5 "
            "k_block=0 column_tile=64 min_stage_cycles=0"
        )
        agree("argmin_j |x_i - y_j|²", x, y, isa=isa, plan=plan)


def test_where_all_rows_are_nan() -> None:
    x = np.full((20, 3), NAN, "float32")
    for formula in FORMULAS:
        agree(formula, x, whole_numbers(300, 3, 2))


#: Beside a tile, a block, and blocks of a piece, of any instruction set.
LENGTHS = [1, 15, 64, 65, 1000, 1024, 1025, 4097, 70_001]


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_of_one_array_whose_tiles_share_accumulators(
    dtype: str, isa: str
) -> None:
    random = np.random.default_rng(3)
    for length in LENGTHS:
        v = random.integers(-9, 10, length).astype(dtype)
        copies = [v]
        if dtype != "int8":
            copies += [v.copy(), v.copy(), np.full_like(v, INFINITY)]
            copies[1][random.integers(length, size=3)] = NAN
            copies[2][length // 2 :] = -INFINITY
        for values in copies:
            for threads in (1, 2):
                options = tilefold.Options(isa=isa, threads=threads)
                for name in ("argmin", "argmax", "min", "max"):
                    found = tilefold.reduce(
                        f"{name}_j v_j", v=values, options=options
                    )
                    wanted = getattr(np, name)(values)
                    np.testing.assert_array_equal(
                        found, wanted, err_msg=f"{name} of {length}"
                    )
