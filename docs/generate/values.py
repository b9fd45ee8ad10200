# docs/generate/values.py - where functions are defined, and special values.
"""Domains and values at signed zeros, infinities and NaN, found by running."""

from __future__ import annotations

import math
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from generate.markdown import code, table

if TYPE_CHECKING:
    from collections.abc import Callable

SPECIAL = [-math.inf, -1.0, -0.0, 0.0, 1.0, math.inf, math.nan]
GRID = [-1e30, -2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5, 1e30]
ALL = "all real numbers"
DOMAINS = {
    (1, 1, 1, 1, 1, 1, 1, 1, 1): ALL,
    (0, 0, 0, 0, 1, 1, 1, 1, 1): "a ≥ 0",
    (0, 0, 0, 0, 0, 1, 1, 1, 1): "a > 0",
    (0, 0, 1, 1, 1, 1, 1, 1, 1): "a ≥ −1",
    (0, 0, 0, 0, 0, 0, 1, 1, 1): "a ≥ 1",
    (0, 1, 0, 1, 1, 1, 1, 1, 1): "all but the negative whole numbers",
    (0, 0, 1, 1, 1, 1, 1, 0, 0): "−1 ≤ a ≤ 1",
}
PAIRS = [
    (0.0, 0.0),
    (-0.0, 0.0),
    (1.0, 0.0),
    (1.0, math.inf),
    (math.inf, math.inf),
    (math.inf, -math.inf),
    (1.0, math.nan),
]
#: Of both operands, where that is not all pairs: in words, and as a condition.
OF_PAIRS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Div": ("all but a = b = 0", lambda a, b: (a != 0) | (b != 0)),
    "FloorDiv": ("all but a = b = 0", lambda a, b: (a != 0) | (b != 0)),
    "Mod": ("b ≠ 0", lambda a, b: (b != 0) & (a == a)),
    "Pow": ("a ≥ 0, or b a whole number", lambda a, b: (a >= 0) | (b % 1 == 0)),
    "Polygamma": (
        "a = 0, 1, 2, …, and b none of 0, −1, −2, …",
        lambda a, b: (a >= 0) & (a % 1 == 0) & ((b > 0) | (b % 1 != 0)),
    ),
    "BesselJ": (
        "b ≥ 0, or a a whole number",
        lambda a, b: (b >= 0) | (a % 1 == 0),
    ),
    "BesselY": ("b ≥ 0", lambda a, b: (b >= 0) & (a == a)),
    "BesselI": (
        "b ≥ 0, or a a whole number",
        lambda a, b: (b >= 0) | (a % 1 == 0),
    ),
    "BesselK": ("b ≥ 0", lambda a, b: (b >= 0) & (a == a)),
}
#: What cannot be found by trying numbers.
SAID = {
    "And": "truth values; of numbers, 0 does not hold and others do",
    "Or": "truth values; of numbers, 0 does not hold and others do",
    "Not": "truth values; of numbers, 0 does not hold and others do",
    "Where": "a truth value, or a number that is not 0 where it holds; "
    "b and c are any numbers",
    "Rand": "whole numbers",
    "Randn": "whole numbers",
    "Gather": "b a whole number from 0 to the last component",
    "GatherRow": "b a whole number from 0 to the last row",
    "GatherElement": "b and c whole numbers from 0 to the last row and column",
}
#: What is reduced to show special values, of reductions that take more.
REDUCED = {
    "softmax": "softmax_j(b_j, v_j)",
    "kmin": "kmin_j(b_j, 1)",
    "argkmin": "argkmin_j(b_j, 1)",
    "kmax": "kmax_j(b_j, 1)",
    "argkmax": "argkmax_j(b_j, 1)",
    "quantile": "quantile_j(b_j, 0.5)",
    "any": "any_j (b_j > 0)",
    "all": "all_j (b_j > 0)",
    "count": "count_j (b_j > 0)",
}
SETS = [
    [1.0, math.inf],
    [1.0, -math.inf],
    [math.inf, -math.inf],
    [1.0, math.nan],
    [],
]


def domain(name: str, written: str, arity: int, is_function: bool) -> str:
    """For which operands an operation gives a number."""
    if name in SAID:
        return SAID[name]
    if not is_function:
        return ALL
    return _of_number(written) if arity == 1 else _of_pair(name, written)


def _of_number(written: str) -> str:
    """Of a function of one number, found by running."""
    values = np.asarray(of_one(written, np.array(GRID)), float)
    found = DOMAINS.get(tuple(int(not math.isnan(value)) for value in values))
    if found is None:
        numbers = [
            f"{x:g}" for x, y in zip(GRID, values, strict=True) if y == y
        ]
        raise ValueError(f"{written}: a domain without words, {numbers}")
    return found


def _of_pair(name: str, written: str) -> str:
    """Of a function of two numbers: what is said of it holds on a grid."""
    words, holds = OF_PAIRS.get(name, (ALL, lambda a, b: a + b == a + b))
    grid = np.array([-2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5])
    a, b = (part.ravel() for part in np.meshgrid(grid, grid))
    found = ~np.isnan(np.asarray(of_two(written, a, b), float))
    if not (found == holds(a, b)).all():
        wrong = np.stack([a, b], 1)[found != holds(a, b)]
        raise ValueError(f"{written} is not defined for {words}: {wrong}")
    return words


def of_one(written: str, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The values of a formula of x at some numbers."""
    formula = re.sub(r"\b[ax]\b", "x_i", written)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(tilefold.reduce(formula, x=x))


def of_two(written: str, a: Any, b: Any) -> np.ndarray[Any, Any]:
    """The values of a formula of a and b at some numbers."""
    formula = re.sub(r"\b([ab])\b", r"\1_i", written)
    return np.asarray(tilefold.reduce(formula, a=a, b=b))


def special(written: str, arity: int) -> str:
    """What a function gives at signed zeros, infinities and NaN."""
    if arity == 1 and written != "not a":
        values = of_one(written, np.array(SPECIAL))
        operand = "x" if "x" in re.split(r"\W", written) else "a"
        head = [operand, *map(number, SPECIAL)]
        return table(head, [[code(written), *map(number, values)]])
    if arity == 2 and written.split()[1:2] not in (["and"], ["or"]):
        a, b = np.array(PAIRS).T
        values = of_two(written, a, b)
        return table(
            ["a", *map(number, a)],
            [
                ["b", *map(number, b)],
                [code(written), *map(number, values)],
            ],
        )
    return ""


def of_sets(stem: str) -> str:
    """What a reduction gives of infinities, of NaN and of nothing."""
    if stem == "fold":
        return ""
    formula = REDUCED.get(stem, f"{stem}_j b_j")
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for values in SETS:
            given = {"b": np.array(values, float)}
            if "v_j" in formula:
                given["v"] = np.arange(1.0, len(values) + 1)
            found.append(np.ravel(tilefold.reduce(formula, given))[0])
    heads = [", ".join(map(number, values)) or "nothing" for values in SETS]
    operand = "b; v = 1, 2" if "v_j" in formula else "b"
    return table([operand, *heads], [[code(formula), *map(number, found)]])


def number(value: object) -> str:
    """A number as mathematics writes it."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    real = float(value)  # type: ignore[arg-type]
    if math.isnan(real):
        return "NaN"
    sign = "−" if math.copysign(1, real) < 0 else ""
    return sign + ("∞" if math.isinf(real) else f"{abs(real):.5g}")
