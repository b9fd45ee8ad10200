# tests/python/test_random_integers.py - random formulas of whole numbers.
"""Of arrays of few bits, whose values float32 would round: all are exact.

Each formula is an outer reduction of a term that may hold inner ones; NumPy's
int64 is the reference, and every value on the way is far below 2^53.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

DTYPES = ("i1", "i2", "u1", "u2", "?")
SIZES = (1, 2, 7, 17, 40)


class Formulas:
    """Random terms as text, with their values as int64 of shape (N, M)."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.rows, self.columns = map(int, self.random.choice(SIZES, 2))
        self.arrays: dict[str, Any] = {}

    def pick(self, choices: Any) -> Any:
        return choices[self.random.integers(len(choices))]

    def points(self, axis: str) -> tuple[str, Any]:
        """An array on an axis, of one of the dtypes."""
        dtype = np.dtype(self.pick(DTYPES))
        count = self.rows if axis == "i" else self.columns
        limits = (0, 2) if dtype.kind == "b" else None
        if limits is None:
            info = np.iinfo(dtype)
            limits = (max(info.min, -30000), min(info.max, 30000))
        values = self.random.integers(*limits, count).astype(dtype)
        name = f"v{len(self.arrays)}"
        self.arrays[name] = values
        whole = values.astype(np.int64)
        return f"{name}_{axis}", whole[:, None] if axis == "i" else whole[None]

    def leaf(self) -> tuple[str, Any]:
        kind = self.pick(("points", "points", "number", "index", "choice"))
        if kind == "points":
            return self.points(self.pick("ij"))
        if kind == "number":
            value = int(self.random.integers(-(10**9), 10**9))
            return f"({value})", np.int64(value)
        if kind == "index":
            numbers = np.arange(self.rows)[:, None], np.arange(self.columns)
            return self.pick((("i", numbers[0]), ("j", numbers[1][None])))
        (a, x), (b, y) = self.points("i"), self.points("j")
        return f"where({a} < {b}, 100000001, -3)", np.where(
            x < y, 100000001, -3
        )

    def term(self, depth: int) -> tuple[str, Any]:
        if depth == 0:
            return self.leaf()
        kind = self.pick(("+", "-", "*", "inner"))
        if kind == "*":
            (a, x), (b, y) = self.points("i"), self.points("j")
            return f"({a}*{b})", x * y
        if kind == "inner":
            return self.inner(depth)
        (a, x), (b, y) = self.term(depth - 1), self.term(depth - 1)
        return f"({a} {kind} {b})", x + y if kind == "+" else x - y

    def whole(self, depth: int) -> tuple[str, Any]:
        """A term with a value for each pair."""
        text, values = self.term(depth)
        a, x = self.points("i")
        b, y = self.points("j")
        text = f"({text} + {a} - {b})"
        return text, np.broadcast_to(values, (self.rows, self.columns)) + x - y

    def inner(self, depth: int) -> tuple[str, Any]:
        """A reduction that leaves numbers of the other axis, or one."""
        text, values = self.whole(depth - 1)
        axis = self.pick("ij")
        reduce = self.pick(("sum", "max", "min"))
        over = {"i": 0, "j": 1}[axis]
        return f"({reduce}_{axis} {text})", getattr(np, reduce)(
            values, over, keepdims=True
        )


def smallest(values: Any, count: int) -> Any:
    return np.sort(values, 1)[:, :count]


OUTER: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "sum": ("sum_j {}", lambda v: v.sum(1)),
    "max": ("max_j {}", lambda v: v.max(1)),
    "argmax": ("argmax_j {}", lambda v: v.argmax(1)),
    "argmin": ("argmin_j {}", lambda v: v.argmin(1)),
    "count": ("count_j ({} > 0)", lambda v: (v > 0).sum(1)),
    "kmin": ("kmin_j({}, 1)", lambda v: smallest(v, 1)),
    "argkmin": (
        "argkmin_j({}, 1)",
        lambda v: np.argsort(v, 1, kind="stable")[:, :1],
    ),
    "quantile": (
        "quantile_j({}, 0.25)",
        lambda v: np.quantile(v, 0.25, axis=1),
    ),
    "median": ("median_j {}", lambda v: np.median(v, 1)),
    "mean": ("mean_j {}", lambda v: v.mean(1)),
    "spread": ("ptp_j {}", lambda v: np.ptp(v, 1)),
    "deviation": ("std_j {}", lambda v: v.std(1)),
    "all": ("sum_ij {}", lambda v: v.sum()),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("outer", OUTER)
def test_whole_numbers_are_exact(outer, seed):
    form, reduce = OUTER[outer]
    for depth in (0, 1, 2):
        formulas = Formulas(100 * seed + depth)
        text, values = formulas.whole(depth)
        formula = form.format(text)
        found = np.asarray(tilefold.reduce(formula, formulas.arrays))
        wanted = reduce(values)
        # A mean rounds, and the deviation of large numbers cancels.
        scale = np.abs(values).max() if outer == "deviation" else 0
        np.testing.assert_allclose(
            found, wanted, rtol=1e-15, atol=1e-9 * scale, err_msg=formula
        )
