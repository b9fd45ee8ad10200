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
from bounded import Bounded
from meanings import ELSEWHERE, OPERATIONS, SUGAR
from random_formulas import make_case
from random_reductions import REDUCTIONS, SMOOTH
from random_terms import BATCHES, LAYOUTS, TABLES, Case, all_rows

COUNT = int(os.environ.get("TILEFOLD_RANDOM_FORMULAS", "300"))
FIXED = "1"
SEED = os.environ.get(
    "TILEFOLD_RANDOM_SEED", FIXED if sample.is_whole() else sample.SAMPLE
)
CHUNK = 25  # cases a test
GRADIENTS = COUNT // 5
SAFETY = 4  # of a bound to first order
TINY = 1e-36  # results below the smallest normal number are 0
TINY_SLOPE = 1e-12  # of values that cancel
DIGITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def chunks(count: int) -> list[range]:
    return [range(k, min(k + CHUNK, count)) for k in range(0, count, CHUNK)]


@functools.cache
def case(number: int, seed: str = SEED) -> Case:
    """The case of a number: around the rows in turn."""
    rows = all_rows()
    return make_case(
        random.Random(f"{seed}/{number}"), rows[number % len(rows)]
    )


def smooth_rows() -> list[tuple[str, str]]:
    """The rows that have a derivative everywhere."""
    tables = {"operations": OPERATIONS, "functions": SUGAR}
    rows = []
    for table, name in all_rows():
        smooth = (
            name in SMOOTH
            if table == "reductions"
            else tables[table][name].smooth
        )
        if smooth:
            rows.append((table, name))
    return rows


def smooth_case(number: int) -> Case:
    rows = smooth_rows()
    generator = random.Random(f"{SEED}/smooth/{number}")
    return make_case(generator, rows[number % len(rows)], smooth=True)


def dtype_of(result) -> str:
    return str(result.dtype).removeprefix("torch.")


def numbers_of(result) -> np.ndarray:
    if not isinstance(result, np.ndarray | np.generic):
        result = result.double().numpy()
    return np.asarray(result, np.float64)


def allowed(wanted: Bounded, dtype: str) -> np.ndarray:
    """How far a result of `dtype` may be from what is wanted."""
    size = np.where(np.isfinite(wanted.value), np.abs(wanted.value), 0)
    digits = DIGITS.get(dtype, 2.0**-53 if dtype == "float64" else 2.0**-24)
    return SAFETY * wanted.error + size * digits + TINY


def differences(got: np.ndarray, wanted: Bounded, dtype: str) -> np.ndarray:
    """Where the result is farther from what is wanted than it may be."""
    value = wanted.value
    with np.errstate(invalid="ignore"):
        far = ~(np.abs(got - value) <= allowed(wanted, dtype))
    same = (got == value) | (np.isnan(got) & np.isnan(value))
    return far & ~same & ~np.isinf(wanted.error)


def compute(tried: Case):
    if tried.kernel:
        return tilefold.kernel(tried.text, **tried.arrays).dense()
    return tilefold.reduce(tried.text, **tried.arrays)


def check_value(tried: Case) -> None:
    """Shape, kind of dtype and every number."""
    result = compute(tried)
    got, dtype = numbers_of(result), dtype_of(result)
    assert got.shape == tried.wanted.value.shape, tried.describe()
    kinds = {"truth": "bool", "index": "int64", "real": "float"}
    whole = tried.wanted.value[np.isfinite(tried.wanted.value)] % 1 == 0
    exact = dtype == "int64" and whole.all()  # of indices and 64-bit integers
    assert exact or kinds.get(tried.kind, "") in dtype, (
        f"{dtype}: {tried.describe()}"
    )
    if "int" in dtype:  # an infinity is the end of int64
        least, most = (
            (0, 2.0**64) if dtype == "uint64" else (-(2.0**63), 2.0**63)
        )
        tried.wanted.value = np.clip(tried.wanted.value, least, most)
    wrong = differences(got, tried.wanted, dtype)
    assert not wrong.any(), (
        f"{tried.describe()}\ngot {got[wrong][:5]}, "
        f"wanted {tried.wanted.value[wrong][:5]} "
        f"within {allowed(tried.wanted, dtype)[wrong][:5]}"
    )


def check_interpreter(tried: Case) -> None:
    """f.check agrees that what NumPy allows is all that there is."""
    if tried.kernel or not tried.wanted.value.size:
        return
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


def moved_sum(tried: Case, name: str, direction, weights, step: float) -> float:
    """Σ weights · f at the arguments moved by `step`."""
    arrays = dict(tried.arrays)
    arrays[name] = arrays[name] + step * direction
    return float((weights * tilefold.reduce(tried.text, **arrays)).sum())


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
        found = float((gradient * direction).sum())

        def slope(step: float, name=name, direction=direction) -> float:
            ends = (
                moved_sum(tried, name, direction, weights, k * step)
                for k in (-2, -1, 1, 2)
            )
            a, b, c, d = ends
            return (8 * (c - b) - (d - a)) / (12 * step)

        values = np.abs(weights * tried.wanted.value).sum()
        for step in (1e-3, 1e-4):  # the shorter one where it is steep
            wanted, other = slope(step), slope(2 * step)
            size = np.abs(gradient * direction).sum() + np.abs(wanted)
            rounding = 1e-12 * values / step + TINY_SLOPE
            noise = abs(wanted - other) + rounding
            if noise <= 1e-3 * size + 10 * rounding:
                break
        assert abs(found - wanted) <= 2 * noise + 1e-8 * size, (
            f"by {name}: {found} and {wanted}\n{tried.describe()}"
        )
        count += 1
        steep += noise > 1e-3 * size + 1e-6 + 10 * rounding
    return count, steep


@pytest.mark.parametrize(
    "numbers", chunks(GRADIENTS), ids=lambda r: f"{r.start}"
)
def test_gradients(numbers):
    found = [check_gradient(number) for number in numbers]
    count, steep = map(sum, zip(*found, strict=True))
    assert count >= len(numbers)
    assert steep <= 0.1 * count
