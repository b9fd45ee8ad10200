# tests/python/random_checks.py - what results of random formulas are held
# against: bounds of their numbers, and slopes of their gradients.
"""Shared by the tests that call random formulas in one way or another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from meanings import OPERATIONS, SUGAR
from random_reductions import SMOOTH
from random_terms import all_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from bounded import Bounded
    from random_terms import Case

CHUNK = 25  # cases a test
SAFETY = 4  # of a bound to first order
TINY = 1e-36  # results below the smallest normal number are 0
TINY_SLOPE = 1e-12  # of values that cancel
DIGITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def chunks(count: int) -> list[range]:
    return [range(k, min(k + CHUNK, count)) for k in range(0, count, CHUNK)]


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


def dtype_of(result: Any) -> str:
    return str(result.dtype).removeprefix("torch.")


def numbers_of(result: Any) -> np.ndarray:
    if hasattr(result, "double"):  # a tensor, maybe of bfloat16
        result = result.detach().double().numpy()
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


def held_by(dtype: str, wanted: Bounded) -> Bounded:
    """What is wanted as the dtype holds it: an infinity of integers is the end
    of int64, and of truths it is one of both."""
    ends = {"bool": (0.0, 1.0), "uint64": (0.0, 2.0**64)}
    if dtype not in ends and "int" not in dtype:
        return wanted
    least, most = ends.get(dtype, (-(2.0**63), 2.0**63))
    held = wanted.with_unit(wanted.unit)
    held.value = np.clip(wanted.value, least, most)
    return held


def check_numbers(result: Any, wanted: Bounded, told: str) -> None:
    """Shape and every number; `told` says what was computed."""
    got, dtype = numbers_of(result), dtype_of(result)
    assert got.shape == wanted.value.shape, (
        f"{got.shape} and not {wanted.value.shape}: {told}"
    )
    wanted = held_by(dtype, wanted)
    wrong = differences(got, wanted, dtype)
    assert not wrong.any(), (
        f"{told}\ngot {got[wrong][:5]}, wanted {wanted.value[wrong][:5]} "
        f"within {allowed(wanted, dtype)[wrong][:5]}"
    )


def moved_sum(
    tried: Case,
    name: str,
    direction: Any,
    weights: Any,
    step: float,
) -> float:
    """Σ weights · f at the arguments moved by `step`."""
    arrays = dict(tried.arrays)
    arrays[name] = arrays[name] + step * direction
    found = tilefold.reduce(tried.text, **arrays)
    return float((weights * found).sum())


def check_slope(
    gradient: np.ndarray,
    direction: np.ndarray,
    total: Callable[[float], float],
    values: float,
    told: str,
) -> bool:
    """A gradient along a direction, against central differences of order 4 of
    `total` along it: whether it is steeper than differences tell.

    `values` is the size of the terms that `total` adds.
    """
    found = float((gradient * direction).sum())

    def slope(step: float) -> float:
        a, b, c, d = (total(k * step) for k in (-2, -1, 1, 2))
        return (8 * (c - b) - (d - a)) / (12 * step)

    for step in (1e-3, 1e-4):  # the shorter one where it is steep
        wanted, other = slope(step), slope(2 * step)
        size = np.abs(gradient * direction).sum() + np.abs(wanted)
        rounding = 1e-12 * values / step + TINY_SLOPE
        noise = abs(wanted - other) + rounding
        if noise <= 1e-3 * size + 10 * rounding:
            break
    assert abs(found - wanted) <= 2 * noise + 1e-8 * size, (
        f"{found} and {wanted}\n{told}"
    )
    return bool(noise > 1e-3 * size + 1e-6 + 10 * rounding)
