# python_bindings/tilefold/frames.py - tables and columns of other libraries, as
# arguments.
"""What is read of values that are no arrays, such as data frames.

NumPy turns them into arrays, but makes NaN or objects of missing values, and
computes or reads all of what is lazy. Both are refused here. No library is
imported: what a value is tells the module that its type comes from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilefold import _core

__all__ = ["is_lazy", "readable"]


def readable(name: str, value: Any) -> Any:
    """The value that `numpy.asarray` is to read for the argument `name`.

    Columns of pandas' extension types become NumPy's, which else were objects.
    Raises `DTypeError` where values are missing, NaN not among them, and for
    arrays of Dask and Zarr, also in lists; `ArgumentError` for lazy frames.
    """
    if is_lazy(value):
        while isinstance(value, (list, tuple)):
            value = value[0]
        kind = type(value)
        library = kind.__module__.partition(".")[0]
        _core.fail("LazyArray", name, f"{kind.__name__} of {library}")
    if hasattr(value, "collect_schema") and not hasattr(value, "shape"):
        cure = f"pass {name}.collect()"
        _core.fail("BadOption", f"'{name}'", "a lazy frame", cure)
    missing = _missing(value)
    if missing:
        _core.fail("MissingValues", name, missing)
    if getattr(value, "ndim", 0) != 2 or not _is_pandas(value):
        return value
    if all(isinstance(dtype, np.dtype) for dtype in value.dtypes):
        # Beside numbers truth values are numbers; pandas has objects.
        return value.to_numpy(np.result_type(np.bool_, *value.dtypes))
    return np.stack([np.asarray(column) for _, column in value.items()], 1)


def is_lazy(value: Any) -> bool:
    """Whether its values are computed or read only when asked for."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and is_lazy(value[0])
    library = _library(value)
    if library == "xarray":
        return getattr(value, "chunks", None) is not None
    return library in ("dask", "zarr")


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _is_pandas(value: Any) -> bool:
    return _library(value) == "pandas"


def _missing(value: Any) -> int:
    """How many values are missing: null, NA or None, and not NaN."""
    count = getattr(value, "null_count", None)  # of polars and pyarrow
    if callable(count):
        count = count()
        return int(count if isinstance(count, int) else sum(count.row(0)))
    if count is not None:
        return int(count)
    if _library(value) == "pyarrow" and hasattr(value, "columns"):
        return sum(column.null_count for column in value.columns)
    if not _is_pandas(value) or not hasattr(value, "isna"):
        return 0
    if getattr(value, "ndim", 1) == 2:
        return sum(_missing(column) for _, column in value.items())
    if isinstance(value.dtype, np.dtype) and value.dtype.kind != "O":
        return 0  # NumPy's have NaN alone
    return int(value.isna().sum())
