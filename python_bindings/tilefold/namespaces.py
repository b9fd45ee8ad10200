# python_bindings/tilefold/namespaces.py - arrays of libraries that have the
# functions of the array API standard, and few methods.
"""What is asked of arrays by their methods, or else by their library.

NumPy's arrays, PyTorch's and JAX's have methods for it; those of
array_api_strict, and of any library that has just what the standard says, have
functions in their namespace instead.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold.quantization import Quantized
from tilefold.roles import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "arrays_in",
    "beside",
    "complex_of",
    "dtype_name",
    "namespace_of",
    "of_library",
    "reduced",
    "reshaped",
    "swapped",
    "taken",
]


def arrays_in(arguments: Iterable[Any]) -> Iterator[Any]:
    """The arguments without their roles; the codes of quantized ones."""
    for value in arguments:
        while isinstance(value, Role | Quantized):
            value = value.value if isinstance(value, Role) else value.codes
        yield value


def of_library(arguments: Iterable[Any]) -> Any:
    """The first array that belongs to another library than NumPy, or None."""
    for value in arrays_in(arguments):
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            return value
    return None


def namespace_of(value: Any, version: str | None = None) -> Any:
    """The module of an array's library that has the standard's functions.

    PyTorch's is `array_api_compat.torch` where that is installed.
    """
    if hasattr(value, "__array_namespace__"):
        if version is None:
            return value.__array_namespace__()
        return value.__array_namespace__(api_version=version)
    library = type(value).__module__.partition(".")[0]
    try:
        return importlib.import_module(f"array_api_compat.{library}")
    except ImportError:
        return sys.modules.get(library, np)


def dtype_name(dtype: Any) -> str:
    """A dtype of any library as "float32" and the like."""
    try:
        return str(np.dtype(dtype).name)
    except TypeError:
        return str(dtype).rpartition(".")[2]


def reshaped(array: Any, shape: tuple[int, ...]) -> Any:
    """With the same elements in another shape."""
    if hasattr(array, "reshape"):
        return array.reshape(shape)
    return namespace_of(array).reshape(array, shape)


def swapped(array: Any, first: int, second: int) -> Any:
    """With two axes exchanged."""
    if hasattr(array, "swapaxes"):
        return array.swapaxes(first, second)
    axes = list(range(array.ndim))
    axes[first], axes[second] = axes[second], axes[first]
    return namespace_of(array).permute_dims(array, tuple(axes))


def complex_of(real: Any, imaginary: Any) -> Any:
    """A complex array of its parts, in their library.

    A sum with 1j times the imaginary part would make NaN of infinite ones.
    """
    names = [dtype_name(part.dtype) for part in (real, imaginary)]
    numbers = [name for name in names if name != "bfloat16"]
    dtype = np.result_type(np.complex64, *numbers)
    width = "float64" if dtype == np.complex128 else "float32"
    own = type(real).__module__.partition(".")[0]
    if own == "torch":
        import torch

        wide = getattr(torch, width)
        return torch.complex(real.to(wide), imaginary.to(wide))
    if own in ("jax", "jaxlib"):
        from jax import dtypes, lax

        kind = dtypes.canonicalize_dtype(width)
        return lax.complex(real.astype(kind), imaginary.astype(kind))
    if not hasattr(real, "astype"):  # of a library that has but the standard
        parts = (np.from_dlpack(part) for part in (real, imaginary))
        return namespace_of(real).asarray(
            complex_of(*parts), device=real.device
        )
    like = np.asarray(real) if isinstance(real, np.generic) else real
    joined = like.astype(dtype)
    joined.imag = imaginary
    return joined[()]


def beside(array: Any, numbers: Any) -> Any:
    """Real numbers of NumPy for arithmetic with an array, in its library.

    They have the width of its elements, so that those of results have it, too.
    """
    name = dtype_name(array.dtype)
    name = {"complex64": "float32", "complex128": "float64"}.get(name, name)
    if name not in ("float32", "float64"):
        name = "float64"
    numbers = np.asarray(numbers, name)
    if of_library([array]) is None:  # NumPy's, or Dask's
        return numbers
    library = namespace_of(array)
    if library.__name__.startswith("jax"):  # where tracers are on no device
        return library.asarray(numbers)
    return library.asarray(
        numbers, dtype=getattr(library, name), device=array.device
    )


def taken(array: Any, numbers: Any, axis: int) -> Any:
    """The elements at some places of an axis."""
    has_methods = hasattr(array, "reshape")
    library: Any = None if has_methods else namespace_of(array)
    if not hasattr(library, "take"):
        return array[(slice(None),) * (axis % array.ndim) + (numbers,)]
    places = library.asarray(np.asarray(numbers), device=array.device)
    return library.take(array, places, axis=axis % array.ndim)


def reduced(array: Any, name: str, axis: int) -> Any:
    """What a method of that name gives along an axis, or a function."""
    if hasattr(array, name):
        return getattr(array, name)(axis)
    return getattr(namespace_of(array), name)(array, axis=axis)
