# python_bindings/tilefold/compat/pykeops/numpy/__init__.py - pykeops.numpy.
"""KeOps's formulas of NumPy's arrays."""

from __future__ import annotations

from typing import Any

from tilefold.compat.pykeops.numpy.callables import (
    Genred,
    KernelSolve,
    generic_argkmin,
    generic_argmin,
    generic_logsumexp,
    generic_sum,
)
from tilefold.compat.pykeops.numpy.lazy import (
    ComplexLazyTensor,
    LazyTensor,
    Pm,
    Vi,
    Vj,
)
from tilefold.compat.pykeops.registration import attribute_of

__all__ = [
    "ComplexLazyTensor",
    "Genred",
    "KernelSolve",
    "LazyTensor",
    "Pm",
    "Vi",
    "Vj",
    "generic_argkmin",
    "generic_argmin",
    "generic_logsumexp",
    "generic_sum",
]


def __getattr__(name: str) -> Any:
    return attribute_of("numpy", name)
