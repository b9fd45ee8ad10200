# python_bindings/tilefold/compat/pykeops/common/utils.py - small tools.
"""Axes, batch dimensions and messages, by KeOps's names."""

from __future__ import annotations

import importlib
from typing import Any

from tilefold.compat import pykeops

__all__ = [
    "WarmUpGpu",
    "axis2cat",
    "c_type",
    "cat2axis",
    "check_broadcasting",
    "get_tools",
    "max_tuple",
    "pyKeOps_Message",
    "pyKeOps_Print",
    "pyKeOps_Warning",
]

# C's names of the element types.
c_type = {"float16": "half2", "float32": "float", "float64": "double"}


def axis2cat(axis: int) -> int:
    """The category that remains, 0 (i) or 1 (j), where `axis` is reduced."""
    if axis not in (0, 1):
        raise ValueError("Axis should be 0 or 1.")
    return 1 - axis


def cat2axis(cat: int) -> int:
    """The axis that is reduced where category 0 (i) or 1 (j) remains."""
    if cat not in (0, 1):
        raise ValueError("Category should be Vi or Vj.")
    return 1 - cat


def get_tools(lang: str) -> Any:
    """`numpytools` for "numpy", `torchtools` for "torch" or "pytorch"."""
    backend = "torch" if lang == "pytorch" else lang
    if backend not in {"numpy", "torch"}:
        raise ValueError(f"'{lang}' should be 'numpy' or 'torch'")
    utils = importlib.import_module(f"tilefold.compat.pykeops.{backend}.utils")
    return getattr(utils, backend + "tools")


def WarmUpGpu(lang: str) -> None:  # noqa: N802
    """Does nothing: the first call needs no warming."""


def max_tuple(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The larger of each two components."""
    return tuple(max(pair) for pair in zip(a, b, strict=False))


def check_broadcasting(
    dims_1: tuple[int, ...] | None, dims_2: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """The shape to which two batch shapes broadcast; None is no shape.

    Raises ValueError where they do not.
    """
    if dims_1 is None or dims_2 is None:
        return dims_2 if dims_1 is None else dims_1
    first = (1,) * (len(dims_2) - len(dims_1)) + tuple(dims_1)
    second = (1,) * (len(dims_1) - len(dims_2)) + tuple(dims_2)
    for one, other in zip(first, second, strict=True):
        if one != other and 1 not in (one, other):
            raise ValueError(
                f"Incompatible batch dimensions: {dims_1} and {dims_2}."
            )
    # An axis of length 0 beside one of length 1 has length 0.
    return tuple(b if a == 1 else a for a, b in zip(first, second, strict=True))


def pyKeOps_Print(message: object, **options: Any) -> None:  # noqa: N802
    """Prints where `pykeops.verbose` is set."""
    if pykeops.verbose:
        print(message, **options)


def pyKeOps_Message(  # noqa: N802
    message: str, use_tag: bool = True, **options: Any
) -> None:
    """Prints "[pyKeOps] …" where `pykeops.verbose` is set."""
    pyKeOps_Print(f"[pyKeOps] {message}" if use_tag else message, **options)


def pyKeOps_Warning(message: str) -> None:  # noqa: N802
    """Prints "[pyKeOps] Warning : …" where `pykeops.verbose` is set."""
    pyKeOps_Print(f"[pyKeOps] Warning : {message}")
