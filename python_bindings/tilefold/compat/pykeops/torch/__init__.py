# python_bindings/tilefold/compat/pykeops/torch/__init__.py - pykeops.torch.
"""KeOps's formulas of PyTorch's tensors."""

from __future__ import annotations

from typing import Any

from tilefold.compat.pykeops.registration import attribute_of
from tilefold.compat.pykeops.torch.callables import (
    Genred,
    KernelSolve,
    generic_argkmin,
    generic_argmin,
    generic_logsumexp,
    generic_sum,
)
from tilefold.compat.pykeops.torch.lazy import (
    ComplexLazyTensor,
    LazyTensor,
    Pm,
    Vi,
    Vj,
)

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
    return attribute_of("torch", name)
