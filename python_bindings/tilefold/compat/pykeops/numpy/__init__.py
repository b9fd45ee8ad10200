# python_bindings/tilefold/compat/pykeops/numpy/__init__.py - pykeops.numpy.
"""KeOps's formulas of NumPy's arrays."""

from tilefold.compat.pykeops.numpy.callables import (
    Genred,
    generic_argkmin,
    generic_argmin,
    generic_logsumexp,
    generic_sum,
)

__all__ = [
    "Genred",
    "generic_argkmin",
    "generic_argmin",
    "generic_logsumexp",
    "generic_sum",
]
