# tests/python/bounded.py - float64 arrays with a bound of their error.
"""Running error analysis: what a kernel may get for a formula.

A `Bounded` holds the value that exact arithmetic gives (in float64) and how
far a kernel that rounds every operation to `unit` may be from it. A sum adds
the bounds of its terms and a rounding of the sum of their absolute values; an
elementwise function is evaluated again at the ends of its operand's error, so
that a step function near a step has a bound of that step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTION_ULPS = 8  # of one library function: 4 at most, and the operand's


class Bounded:
    """Values and bounds of one shape; `unit` is half a step of 1."""

    def __init__(self, value, error=None, unit: float = 0.0) -> None:
        self.value = np.asarray(value, np.float64)
        zeros = np.zeros_like(self.value)
        self.error = zeros if error is None else np.asarray(error) + zeros
        self.unit = unit

    def rounded(self, value, error, terms=None) -> Bounded:
        """A result: `error`, and a rounding of `terms`, by default of it."""
        size = np.abs(value if terms is None else terms)
        with np.errstate(invalid="ignore", over="ignore"):
            total = error + self.unit * np.where(np.isfinite(size), size, 0)
        return Bounded(
            value, np.where(np.isnan(total), np.inf, total), self.unit
        )

    def with_unit(self, unit: float) -> Bounded:
        return Bounded(self.value, self.error, unit)

    def shaped(self, change: Callable) -> Bounded:
        """What moves numbers: a subscript, an axis more."""
        return Bounded(change(self.value), change(self.error), self.unit)

    def __add__(self, other: Bounded) -> Bounded:
        return self.rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Bounded) -> Bounded:
        return self.rounded(self.value - other.value, self.error + other.error)

    def __mul__(self, other: Bounded) -> Bounded:
        a, b = self, other
        error = np.abs(a.value) * b.error + np.abs(b.value) * a.error
        return self.rounded(a.value * b.value, error + a.error * b.error)

    def __truediv__(self, other: Bounded) -> Bounded:
        return elementwise(np.divide, self, other)

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.error, self.unit)

    def sum(self, axis) -> Bounded:
        terms = np.abs(self.value).sum(axis)
        count = np.prod([self.value.shape[k] for k in np.atleast_1d(axis)])
        return self.rounded(
            self.value.sum(axis), self.error.sum(axis), terms * (count + 2)
        )

    def over(self, count: int) -> Bounded:
        """Divided by a whole number."""
        return self.rounded(self.value / count, self.error / count)


def moved(function: Callable, bound: Bounded) -> np.ndarray:
    """How far a monotone function of all numbers moves with their errors."""
    value = function(bound.value)
    with np.errstate(invalid="ignore"):
        up = np.abs(function(bound.value + bound.error) - value)
        down = np.abs(function(bound.value - bound.error) - value)
    return np.nan_to_num(np.maximum(up, down), nan=0.0, posinf=np.inf)


def elementwise(function: Callable, *operands: Bounded) -> Bounded:
    """`function` of each component, and of the ends of each operand's error.

    An end outside the domain of the function counts as far as the value is
    from 0: the root of a number that may be below 0.
    """
    values = [operand.value for operand in operands]
    unit = max(operand.unit for operand in operands)
    with np.errstate(all="ignore"):
        value = np.asarray(function(*values), np.float64)
        error = np.zeros_like(value)
        for k, operand in enumerate(operands):
            if not operand.error.any():
                continue
            largest = np.zeros_like(value)
            for end in (operand.error, -operand.error):
                ends = [*values[:k], values[k] + end, *values[k + 1 :]]
                step = np.abs(function(*ends) - value)
                step = np.where(np.isnan(step), np.abs(value), step)
                largest = np.maximum(largest, step)
            # Twice: of two ends, one may be outside.
            error = error + 2 * largest
    return Bounded(value, error, unit).rounded(
        value, error, FUNCTION_ULPS * np.abs(value)
    )
