# python_bindings/tilefold/array_types.py - what type checkers take for arrays.
"""`ArrayLike`: any library's array, column or frame, lists and numbers.

A class is an array by what it lends its memory through, whichever library it
is of. Only type checkers import this module, and programs that name these
types in annotations of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from tilefold import _core
    from tilefold.quantization import Quantized
    from tilefold.ranges import Ranges
    from tilefold.roles import Role

__all__ = [
    "ArrayLike",
    "Keyword",
    "SupportsArray",
    "SupportsArrayInterface",
    "SupportsDLPack",
]


class SupportsDLPack(Protocol):
    """What lends its memory through DLPack: of PyTorch, JAX, CuPy, NumPy."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """Lends the memory, in a capsule."""


class SupportsArray(Protocol):
    """What NumPy reads: of pandas, polars, PyArrow, Dask, xarray, Zarr."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """Makes an array of NumPy's."""


class SupportsArrayInterface(Protocol):
    """What describes its memory in NumPy's terms."""

    @property
    def __array_interface__(self) -> Any:
        """A dictionary with the address, the shape and the element type."""


# What is imported for type checkers alone stands in quotes, which | does not
# take, and type checkers read one string only.
ArrayLike: TypeAlias = Union[
    SupportsDLPack,
    SupportsArray,
    SupportsArrayInterface,
    "Buffer",
    list[Any],
    tuple[Any, ...],
    complex,
    "Role",
    "Quantized",
]

# What calls of formulas take by name: arrays, and settings.
Keyword: TypeAlias = Union[
    ArrayLike, "_core.Session", "_core.Options", "Ranges", None
]
