# python_bindings/tilefold/compat/pykeops.torch/__init__.py - pykeops.torch.
"""KeOps's formulas of PyTorch's tensors."""

from tilefold.compat.pykeops.torch.callables import (
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
