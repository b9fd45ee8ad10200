# python_bindings/tilefold/compat/pykeops/numpy/__init__.py - pykeops.numpy.
"""KeOps's formulas of NumPy's arrays."""

from tilefold.compat.pykeops.numpy.callables import (
    Genred,
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
