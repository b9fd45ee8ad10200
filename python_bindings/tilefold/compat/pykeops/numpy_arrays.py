# python_bindings/tilefold/compat/pykeops/numpy_arrays.py - NumPy's, for calls.
"""`NumpyArrays`: what calls of formulas do with arrays of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold.compat.pykeops.conjugate_gradients import conjugate_gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["NumpyArrays"]


class NumpyArrays:
    """Arrays of NumPy: shapes, views and results of calls."""

    name = "numpy"
    kind = np.ndarray
    module = np
    library = "NumPy arrays"

    @staticmethod
    def is_number(value: Any) -> bool:
        """Whether it is a number of NumPy's or Python's."""
        return isinstance(value, (bool, int, float, complex, np.generic))

    @staticmethod
    def is_complex(value: Any) -> bool:
        """Whether an array, or a number, is complex."""
        if isinstance(value, np.ndarray):
            return bool(value.dtype.kind == "c")
        return bool(np.iscomplexobj(value))

    @staticmethod
    def is_complex_input(value: Any) -> bool:
        """Whether a LazyTensor of it is complex."""
        if isinstance(value, np.ndarray):
            return bool(value.dtype.kind == "c")
        if isinstance(value, list):
            return any(isinstance(one, complex) for one in value)
        return isinstance(value, (complex, np.complexfloating))

    @staticmethod
    def dtype_name(value: Any) -> str:
        """Such as "float32"."""
        return str(value.dtype)

    @staticmethod
    def array(values: Any, like: Any = None) -> Any:
        """An array of numbers, with the dtype of another one."""
        return np.asarray(values, dtype=None if like is None else like.dtype)

    @staticmethod
    def ones(length: int, rank: int, like: Any) -> Any:
        """A number 1 for each point, of stride 0; `rank` batch dimensions."""
        shape = (1,) * rank + (length, 1)
        dtype = like.real.dtype if np.iscomplexobj(like) else like.dtype
        return np.broadcast_to(np.ones((), dtype), shape)

    @staticmethod
    def zeros(shape: tuple[int, ...], like: Any) -> Any:
        """Zeros of stride 0."""
        return np.broadcast_to(np.zeros((), like.dtype), shape)

    @staticmethod
    def reshape(value: Any, shape: tuple[int, ...]) -> Any:
        """The same numbers in another shape."""
        return value.reshape(shape)

    @staticmethod
    def exchange(value: Any) -> Any:
        """With the last two axes exchanged, contiguous."""
        return np.ascontiguousarray(np.swapaxes(value, -1, -2))

    @staticmethod
    def as_complex(value: Any) -> Any:
        """Pairs of real numbers as complex ones: a view where it can be."""
        name = f"c{2 * value.dtype.itemsize}"
        if value.strides[-1] != value.itemsize:
            value = np.ascontiguousarray(value)
        return value.view(name)

    @staticmethod
    def as_real(value: Any) -> Any:
        """Complex numbers as pairs of real ones."""
        value = np.ascontiguousarray(value)
        return value.view(value.real.dtype)

    @staticmethod
    def cast(value: Any, dtype: Any) -> Any:
        """The same numbers of another type, but for whole numbers."""
        if dtype.kind not in "fc":
            return value
        return value.astype(dtype, copy=False)

    @staticmethod
    def is_floating(value: Any) -> bool:
        """Whether it is of floating-point or complex numbers."""
        return bool(value.dtype.kind in "fc")

    @staticmethod
    def real_dtype(dtype: Any) -> Any:
        """The type of the parts of complex numbers."""
        return dtype.type(0).real.dtype

    @staticmethod
    def complex_dtype(dtype: Any) -> Any:
        """The type of complex numbers with such parts."""
        return np.result_type(dtype, np.complex64)

    @staticmethod
    def indices(value: Any) -> Any:
        """Indices, 0 where there is none."""
        return np.maximum(value, 0).astype(np.int64, copy=False)

    @staticmethod
    def smallest(values: Any, indices: Any, count: int, axis: int) -> Any:
        """The `count` smallest of several lists of values, and their indices.

        Lists lie along `axis`; of equal values the first come first.
        """
        joined = np.concatenate(values, axis)
        order = np.argsort(joined, axis, kind="stable")
        order = np.take(order, np.arange(count), axis)
        return (
            np.take_along_axis(joined, order, axis),
            np.take_along_axis(np.concatenate(indices, axis), order, axis),
        )

    @staticmethod
    def fit(out: Any, result: Any) -> bool:
        """Whether they have the same shape and type."""
        return bool(out.shape == result.shape and out.dtype == result.dtype)

    @staticmethod
    def written_to(out: Any, result: Any) -> Any:
        """`out`, which holds the result then."""
        out[...] = result
        return out

    @staticmethod
    def connected(result: Any, _values: Any, _used: Any = ()) -> Any:
        """The result: NumPy records no gradients."""
        return result

    @staticmethod
    def broadcast(value: Any, shape: tuple[int, ...]) -> Any:
        """The value in a shape with its last two axes, batches repeated."""
        return np.broadcast_to(value, (*shape[:-2], *value.shape[-2:]))

    @staticmethod
    def solved(
        evaluate: Callable[[Sequence[Any]], Any],
        place: int,
        alpha: Any,
        eps: float,
        quick: Callable[..., Any] | None,
        values: Sequence[Any],
    ) -> Any:
        """x, where evaluate of x in the place of a value b, plus αx, is b.

        `quick(values, alpha, eps)` gives it at once, or None.
        """
        found = quick(values, alpha, eps) if quick else None
        if found is not None:
            return found
        given = list(values)

        def linop(x: Any) -> Any:
            given[place] = x
            return evaluate(given) + np.asarray(alpha, x.dtype) * x

        return conjugate_gradients(linop, values[place], eps)
