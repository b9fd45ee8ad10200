# python_bindings/tilefold/quantization.py - arrays of small integers that
# stand for numbers.
"""`quantize`: points in 8 bits, read in place of the array they stand for.

A kernel reads the codes, a quarter of the memory of float32, and turns them
into numbers while it packs a tile: once a row or column, never once a pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilefold import _core

__all__ = ["Quantized", "quantize"]

_TYPES: dict[int, Any] = {8: np.int8, 16: np.int16}


class Quantized:
    """Codes of an array: codes[n, d] stands for (codes - zero[d]) * step[d].

    `codes` has the shape of the array and dtype int8 or int16; `zero` and
    `step` have shape (D,) or (1,). `bound` is the largest error of a number,
    of shape (D,) or (1,): half a step.
    """

    __slots__ = ("__weakref__", "codes", "per_step", "step", "zero")

    def __init__(self, codes: Any, step: Any, zero: Any) -> None:
        self.codes = np.asarray(codes)
        self.step = np.atleast_1d(np.asarray(step, np.float64))
        self.zero = np.atleast_1d(np.asarray(zero, np.float64))
        # Whole numbers of codes are divided by this while they are packed.
        self.per_step = 1 / self.step

    @property
    def bound(self) -> Any:
        """The largest difference from the array, for each component."""
        return self.step / 2

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return tuple(self.codes.shape)

    @property
    def ndim(self) -> int:
        """Of the array."""
        return self.codes.ndim

    @property
    def dtype(self) -> Any:
        """Of the codes."""
        return self.codes.dtype

    def dequantize(self) -> Any:
        """The numbers that the codes stand for, float64."""
        return (self.codes - self.zero) * self.step

    def __repr__(self) -> str:
        return (
            f"tilefold.Quantized of shape {self.shape}, {self.dtype}, "
            f"error at most {self.bound.max():.3g}"
        )


def quantize(x: Any, bits: int = 8, per: str = "component") -> Quantized:
    """Chooses codes for an array of shape (N,) or (…, N, D).

    `bits` is 8 or 16; `per` is "component" for a step and a zero of each
    component, or "array" for one of all. The codes cover the range of the
    numbers, so that no error is larger than half a step
    (`Quantized.bound`). The result is passed in place of the array.

    Raises `ArgumentError` for other settings, and where a number is not
    finite.
    """
    if bits not in _TYPES:
        _core.fail("QuantizeSetting", "bits", repr(bits), "8 or 16")
    if per not in ("component", "array"):
        _core.fail(
            "QuantizeSetting", "per", repr(per), "'component' or 'array'"
        )
    numbers = np.asarray(x, np.float64)
    if not np.isfinite(numbers).all():
        _core.fail("QuantizeSetting", "x", "inf or NaN", "finite numbers")
    each = per == "component" and numbers.ndim > 1
    over = tuple(range(numbers.ndim - each))
    low = numbers.min(over, initial=np.inf)
    high = numbers.max(over, initial=-np.inf)
    low, high = np.where(low > high, 0, low), np.where(low > high, 0, high)
    levels = 2**bits - 1
    step = np.where(high > low, (high - low) / levels, 1.0)
    lowest = np.iinfo(_TYPES[bits]).min
    codes = np.rint((numbers - low) / step) + lowest
    return Quantized(codes.astype(_TYPES[bits]), step, lowest - low / step)
