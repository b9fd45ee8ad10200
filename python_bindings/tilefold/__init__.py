# python_bindings/tilefold/__init__.py - what `import tilefold` offers.
"""Formulas over pairs of points, compiled and reduced in tiles.

    out = tilefold.reduce("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                          x=x, y=y, b=b, l=0.5)

The N×M matrix is never stored. Importing does nothing else: threads, files
and the default `Session` come with the first call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold._core import (
    Bound,
    DeviceArray,
    Formula,
    Options,
    Session,
    Statistics,
    compile,  # noqa: A004
    explain,
    reduce,
    stats,
)
from tilefold._core import version as __version__
from tilefold.clusters import Clusters
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
from tilefold.kernel import Kernel, kernel
from tilefold.lazy import lazy
from tilefold.neighbors import Neighbors, radius_neighbors
from tilefold.quantization import Quantized, quantize
from tilefold.ranges import Ranges
from tilefold.roles import Pm, Vi, Vj

if TYPE_CHECKING:
    from tilefold.lazy_value import Lazy

__all__ = [
    "ArgumentError",
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
    "RowError",
    "Session",
    "ShapeError",
    "Statistics",
    "Vi",
    "Vj",
    "__version__",
    "compile",
    "explain",
    "kernel",
    "lazy",
    "quantize",
    "radius_neighbors",
    "reduce",
    "stats",
]


def __getattr__(name: str) -> Any:
    """`Lazy`, which is imported where it is wanted."""
    if name == "Lazy":
        from tilefold.lazy_value import Lazy

        return Lazy
    raise AttributeError(f"module 'tilefold' has no attribute {name!r}")
