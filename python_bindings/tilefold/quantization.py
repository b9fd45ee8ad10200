# python_bindings/tilefold/quantization.py - arrays of small integers that
# stand for numbers.
"""`quantize`: points in 8 bits, read in place of the array they stand for.

A kernel reads the codes, a quarter of the memory of float32, and turns them
into numbers while it packs a tile: once a row or column, never once a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike

__all__ = ["Quantized", "quantize"]

_TYPES: dict[int, Any] = {8: np.int8, 16: np.int16}


class Quantized:
    """Codes of an array, which a kernel reads in its place.

    The code ``codes[n, d]`` stands for ``(codes[n, d] - zero[d]) * step[d]``.
    Made by ``quantize``; passed where the array would be. Kernels turn codes
    into numbers while they pack a tile, once a row or column, never once a
    pair.

    Parameters
    ----------
    codes : array of int8 or int16
        Of the shape of the array, (N,) or (..., N, D).
    step : array of float64
        The difference between two codes: shape (D,) or (1,).
    zero : array of float64
        The code of zero, which need not be whole: shape (D,) or (1,).

    Raises
    ------
    ValueError
        For a step or a zero that is no number.

    See Also
    --------
    quantize : what makes one.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 256)[:, None]
    >>> q = tilefold.quantize(x)
    >>> float(np.abs(q.dequantize() - x).max()) <= float(q.bound[0])
    True
    >>> bool(tilefold.reduce("sum_ij |x_i - x_j|", x=q) > 0)
    True
    """

    __module__ = "tilefold"  # where it is found

    __slots__ = {
        "__weakref__": "What weak references keep.",
        "codes": "The codes, int8 or int16, of the shape of the array.",
        "per_step": "One over the step: float64, (D,) or (1,).",
        "step": "The difference between two codes: float64, (D,) or (1,).",
        "zero": "The code of zero, not always whole: float64, (D,) or (1,).",
    }

    def __init__(
        self, codes: ArrayLike, step: ArrayLike, zero: ArrayLike
    ) -> None:
        self.codes: Any = np.asarray(codes)
        self.step: Any = np.atleast_1d(np.asarray(step, np.float64))
        self.zero: Any = np.atleast_1d(np.asarray(zero, np.float64))
        # Whole numbers of codes are divided by this while they are packed.
        self.per_step: Any = 1 / self.step

    @property
    def bound(self) -> Any:
        """The largest error of a number, half a step: float64, (D,) or (1,)."""
        return self.step / 2

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that the codes stand for, such as (N, D)."""
        return tuple(self.codes.shape)

    @property
    def ndim(self) -> int:
        """How many dimensions the array has that the codes stand for."""
        return int(self.codes.ndim)

    @property
    def dtype(self) -> Any:
        """The dtype of the codes: NumPy's int8 or int16."""
        return self.codes.dtype

    def dequantize(self) -> Any:
        """Gives the numbers that the codes stand for, as an array of floats.

        Returns
        -------
        array of float64
            Of the shape of the codes, each at most ``bound`` from the array.

        Examples
        --------
        >>> q = tilefold.quantize(np.array([0.0, 0.5, 1.0]), bits=16)
        >>> np.round(q.dequantize(), 4)
        array([0. , 0.5, 1. ])
        """
        return (self.codes - self.zero) * self.step

    def __repr__(self) -> str:
        """Tells shape, dtype and the largest error."""
        return (
            f"tilefold.Quantized of shape {self.shape}, {self.dtype}, "
            f"error at most {self.bound.max():.3g}"
        )


def quantize(x: ArrayLike, bits: int = 8, per: str = "component") -> Quantized:
    """Chooses codes of 8 or 16 bits for an array.

    The codes cover the range of the numbers, so that none is wrong by more than
    half a step. An array of int8 takes a quarter of the memory of float32.

    Parameters
    ----------
    x : array
        Numbers of shape (N,) or (..., N, D), finite.
    bits : {8, 16}, default 8
        Of a code.
    per : {"component", "array"}, default "component"
        Whether each component has a step and a zero of its own, or all have
        one.

    Returns
    -------
    Quantized
        The codes, to be passed in the place of the array.

    Raises
    ------
    ArgumentError
        For other settings, and where a number is not finite.

    See Also
    --------
    Quantized : what it gives.

    Examples
    --------
    >>> x = np.array([[0.0, 0.0], [1.0, 255.0]])
    >>> q = tilefold.quantize(x)
    >>> q.codes
    array([[-128, -128],
           [ 127,  127]], dtype=int8)
    >>> q.bound[1]
    np.float64(0.5)
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
