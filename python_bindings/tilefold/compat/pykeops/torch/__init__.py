# python_bindings/tilefold/compat/pykeops.torch/__init__.py - pykeops.torch.
"""KeOps's formulas of PyTorch's tensors."""

from tilefold.compat.pykeops.torch.callables import (
    Genred,
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
    "LazyTensor",
    "Pm",
    "Vi",
    "Vj",
    "generic_argkmin",
    "generic_argmin",
    "generic_logsumexp",
    "generic_sum",
]
