# python_bindings/tilefold/__init__.py - what `import tilefold` offers.
"""Formulas over pairs of points, compiled and reduced in tiles.

    out = tilefold.reduce("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                          x=x, y=y, b=b, l=0.5)

The N×M matrix is never stored. Importing does nothing else: threads, files
and the default `Session` come with the first call, and the modules
`tilefold.files`, `tilefold.torch` and others when they are first named.
"""

import importlib as _importlib
import typing as _typing

from tilefold._core import (
    Bound,
    DeviceArray,
    Formula,
    Options,
    Session,
    Statistics,
)
from tilefold._core import version as __version__
from tilefold.compiled import (
    compile,  # noqa: A004
    explain,
    natural_spelling,
    reduce,
    stats,
)
from tilefold.compiled import show_call as _show_call
from tilefold.errors import (
    ArgumentError,
    Cancelled,
    ConvergenceWarning,
    DeviceError,
    DTypeError,
    Error,
    FormulaError,
    InternalError,
    OutOfMemory,
    RowError,
    ShapeError,
)
from tilefold.roles import Pm, Vi, Vj

__all__ = [
    "ArgumentError",
    "ArgumentType",
    "Bound",
    "Cancelled",
    "Clusters",
    "ConvergenceWarning",
    "DTypeError",
    "DeviceArray",
    "DeviceError",
    "Error",
    "Formula",
    "FormulaError",
    "InternalError",
    "Kernel",
    "Lazy",
    "Neighbors",
    "Options",
    "OutOfMemory",
    "Pm",
    "Quantized",
    "Ranges",
    "Reduction",
    "ResultType",
    "RowError",
    "Session",
    "ShapeError",
    "State",
    "Statistics",
    "Vi",
    "Vj",
    "__version__",
    "cite",
    "compile",
    "explain",
    "get_cmake_dir",
    "get_include",
    "get_library",
    "kernel",
    "lazy",
    "natural_spelling",
    "quantize",
    "radius_neighbors",
    "reduce",
    "stats",
]


if _typing.TYPE_CHECKING:
    from tilefold import files as files
    from tilefold import solve as solve
    from tilefold import threads as threads
    from tilefold import trace as trace
    from tilefold.citation import cite
    from tilefold.clusters import Clusters
    from tilefold.kernel_matrix import Kernel, kernel
    from tilefold.lazy_arrays import lazy
    from tilefold.lazy_value import Lazy
    from tilefold.neighbors import Neighbors, radius_neighbors
    from tilefold.quantization import Quantized, quantize
    from tilefold.ranges import Ranges
    from tilefold.reduction import Reduction
    from tilefold.result_types import ArgumentType, ResultType
    from tilefold.sdk import get_cmake_dir, get_include, get_library
    from tilefold.states import State


def _own(value: object) -> None:
    """Says that a class or function is of the package, where it is found."""
    if getattr(value, "__module__", "").startswith("tilefold."):
        value.__module__ = __name__


for _name in __all__:
    _own(globals().get(_name))
del _name
_show_call()

# Members of modules that are imported where they are wanted. No module has
# the name of a member: its import would put it in the member's place.
_MEMBERS = {
    "ArgumentType": "result_types",
    "Clusters": "clusters",
    "Kernel": "kernel_matrix",
    "Lazy": "lazy_value",
    "Neighbors": "neighbors",
    "Quantized": "quantization",
    "Ranges": "ranges",
    "Reduction": "reduction",
    "ResultType": "result_types",
    "State": "states",
    "cite": "citation",
    "get_cmake_dir": "sdk",
    "get_include": "sdk",
    "get_library": "sdk",
    "kernel": "kernel_matrix",
    "lazy": "lazy_arrays",
    "quantize": "quantization",
    "radius_neighbors": "neighbors",
}
# Modules that are imported where they are wanted.
_MODULES = (
    "array_types",
    "benchmark",
    "cli",
    "compat",
    "dask",
    "described",
    "doctor",
    "files",
    "gpytorch",
    "jax",
    "pandas",
    "scipy",
    "sklearn",
    "solve",
    "threads",
    "torch",
    "trace",
)


def __getattr__(name: str) -> _typing.Any:
    """The modules, and members of others, that are imported when wanted."""
    if name in _MEMBERS:
        module = _importlib.import_module(f"tilefold.{_MEMBERS[name]}")
        _own(getattr(module, name))
        return globals().setdefault(name, getattr(module, name))
    missing = f"module 'tilefold' has no attribute {name!r}"
    if name not in _MODULES:
        raise AttributeError(missing)
    try:
        return _importlib.import_module(f"tilefold.{name}")
    except ModuleNotFoundError as error:  # as of torch, which is optional
        raise AttributeError(f"{missing}: {error}") from error


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_MEMBERS})
