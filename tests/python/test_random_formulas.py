# tests/python/test_random_formulas.py - random formulas of random arrays,
# against NumPy in float64 and against the interpreter.
"""300 values and 60 gradients, each around a row of the tables, so that every
row is met; the same ones every time, or of a sample those of its word.

TILEFOLD_RANDOM_FORMULAS=10000 makes as many values, and a fifth as many
gradients; TILEFOLD_RANDOM_SEED=7 makes others.
"""

from __future__ import annotations

import functools
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sample
import tilefold
from meanings import ELSEWHERE, OPERATIONS, SUGAR
from random_checks import (
    allowed,
    check_numbers,
    check_slope,
    chunks,
    dtype_of,
    held_by,
    moved_sum,
    smooth_rows,
)
from random_formulas import make_case
from random_reductions import REDUCTIONS
from random_terms import BATCHES, LAYOUTS, TABLES, Case, all_rows

COUNT = int(os.environ.get("TILEFOLD_RANDOM_FORMULAS", "300"))
FIXED = "1"
SEED = os.environ.get(
    "TILEFOLD_RANDOM_SEED", FIXED if sample.is_whole() else sample.SAMPLE
)
GRADIENTS = COUNT // 5


@functools.cache
def case(number: int, seed: str = SEED) -> Case:
    """The case of a number: around the rows in turn."""
    rows = all_rows()
    return make_case(
        random.Random(f"{seed}/{number}"), rows[number % len(rows)]
    )


def smooth_case(number: int) -> Case:
    rows = smooth_rows()
    generator = random.Random(f"{SEED}/smooth/{number}")
    return make_case(generator, rows[number % len(rows)], smooth=True)


def compute(tried: Case):
    if tried.kernel:
        return tilefold.kernel(tried.text, **tried.arrays).dense()
    return tilefold.reduce(tried.text, **tried.arrays)


def check_value(tried: Case) -> None:
    """Shape, kind of dtype and every number."""
    result = compute(tried)
    dtype = dtype_of(result)
    kinds = {"truth": "bool", "index": "int64", "real": "float"}
    whole = tried.wanted.value[np.isfinite(tried.wanted.value)] % 1 == 0
    exact = dtype == "int64" and whole.all()  # of indices and 64-bit integers
    assert exact or kinds.get(tried.kind, "") in dtype, (
        f"{dtype}: {tried.describe()}"
    )
    tried.wanted = held_by(dtype, tried.wanted)
    check_numbers(result, tried.wanted, tried.describe())


def check_interpreter(tried: Case) -> None:
    """f.check agrees that what NumPy allows is all that there is."""
    if tried.kernel or not tried.wanted.value.size:
        return
    if tried.kind == "index" and "nested reductions" in tried.traits:
        return  # a place is checked by its value, whose bound is not kept
    formula = tilefold.compile(tried.text)
    try:
        found = formula.check(**tried.arrays, rows=10**6)
    except tilefold.ArgumentError as error:
        assert "several sweeps" in str(error), tried.describe()  # noqa: PT017
        return
    bound = 2 * allowed(tried.wanted, dtype_of(compute(tried)))
    finite = np.abs(tried.wanted.value[np.isfinite(tried.wanted.value)])
    scale = finite.max(initial=0)
    if scale <= bound.max():
        return  # everything cancels: what is left is rounding
    assert found <= bound.max() / scale * 1.01, tried.describe()


@pytest.mark.parametrize("numbers", chunks(COUNT), ids=lambda r: f"{r.start}")
def test_values(numbers):
    for number in numbers:
        tried = case(number)
        check_value(tried)
        check_interpreter(tried)


def test_the_cases_cover_the_language():
    """Every row of the tables, dtype, layout, and way to broadcast."""
    cases = [case(number, FIXED) for number in range(min(COUNT, 300))]
    rows = set().union(*(tried.rows for tried in cases))
    assert rows >= set(all_rows())
    traits = set().union(*(tried.traits for tried in cases))
    wanted = {f"dtype {row['name']}" for row in TABLES["dtypes"]}
    wanted |= {f"layout {name}" for name in LAYOUTS}
    wanted |= {f"batch {name}" for name in [*BATCHES, "ones", "fewer", "whole"]}
    wanted |= {f"argument on {a} of rank {r}" for a in "ij" for r in (0, 1)}
    wanted |= {f"argument on none of rank {r}" for r in (0, 1, 2)}
    wanted |= {f"reduce over {axes}" for axes in ("i", "j", "ij")}
    wanted |= {
        "map over i",
        "map over j",
        "kernel over ij",
        "index symbol",
        "size",
    }
    wanted |= {"argument on both axes", "subscript", "list"}
    wanted |= {"two reductions", "nested reductions", "after a reduction"}
    wanted |= {"one component"}
    assert traits >= wanted
    sizes = {size for tried in cases for size in tried.wanted.value.shape}
    assert {0, 1} <= sizes


def test_every_row_has_a_meaning():
    """A row that is new in a table needs one in meanings.py."""
    meant = {"operations": OPERATIONS, "functions": SUGAR}
    for table, meanings in {**meant, "reductions": REDUCTIONS}.items():
        names = {row["name"] for row in TABLES[table]}
        assert names == set(meanings) | set(ELSEWHERE[table])
        for file in ELSEWHERE[table].values():
            assert (Path(__file__).parent / file).exists()


def test_the_bounds_are_sharp():
    """Nearly all numbers may differ in their last digits only."""
    sharp = total = 0
    for number in range(min(COUNT, 300)):
        wanted = case(number, FIXED).wanted
        finite = np.isfinite(wanted.value)
        size = np.maximum(np.abs(wanted.value), 1)
        sharp += int((wanted.error < 1e-3 * size)[finite].sum())
        total += int(finite.sum())
    assert total > 10_000
    assert sharp > 0.95 * total


@settings(derandomize=True, max_examples=30)
@given(
    generator=st.randoms(use_true_random=False),
    row=st.sampled_from(all_rows()),
)
def test_values_that_hypothesis_finds(generator, row):
    """The same, where a failure is shrunk to a small formula."""
    check_value(make_case(generator, row))


def check_gradient(number: int) -> tuple[int, int]:
    """Gradients along a direction, against central differences of order 4: how
    many, and how many of them are steeper than differences tell."""
    count = steep = 0
    tried = smooth_case(number)
    generator = np.random.default_rng(number)
    weights = generator.standard_normal(tried.wanted.value.shape)
    formula = tilefold.compile(tried.text)
    for name, array in tried.arrays.items():
        direction = generator.standard_normal(array.shape)
        gradient = formula.grad(name)(**tried.arrays, grad=weights)
        assert gradient.shape == array.shape, tried.describe()
        steep += check_slope(
            gradient,
            direction,
            functools.partial(moved_sum, tried, name, direction, weights),
            np.abs(weights * tried.wanted.value).sum(),
            f"by {name}: {tried.describe()}",
        )
        count += 1
    return count, steep


@pytest.mark.parametrize(
    "numbers", chunks(GRADIENTS), ids=lambda r: f"{r.start}"
)
def test_gradients(numbers):
    found = [check_gradient(number) for number in numbers]
    count, steep = map(sum, zip(*found, strict=True))
    assert count >= len(numbers)
    assert steep <= 0.1 * count
