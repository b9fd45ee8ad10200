# python_bindings/tilefold/torch/__init__.py - tilefold in PyTorch.
"""Formulas of tensors: gradients, transforms, `torch.compile`, modules.

Nothing has to be called: `tilefold.reduce`, formulas and kernels come here by
themselves where PyTorch records, transforms or compiles what is computed of a
tensor. Derivatives of any order are exact, since a formula's derivatives are
formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold.frameworks import requires_grad
from tilefold.roles import bare
from tilefold.torch.calls import call
from tilefold.torch.elements import elements
from tilefold.torch.solves import inv_quad_logdet, solve

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

__all__ = [
    "call",
    "dtype",
    "elements",
    "holds",
    "inv_quad_logdet",
    "real_numbers",
    "records",
    "solve",
    "unrecorded",
]


def holds(values: Iterable[Any]) -> bool:
    """Whether some of the values are tensors."""
    return any(isinstance(bare(value), torch.Tensor) for value in values)


def records(values: Iterable[Any]) -> bool:
    """Whether PyTorch records what is computed of the values."""
    return torch.is_grad_enabled() and any(map(requires_grad, values))


def unrecorded() -> AbstractContextManager[Any]:
    """Where PyTorch records nothing."""
    return torch.no_grad()


def dtype(name: str) -> Any:
    """PyTorch's element type of a name, such as "float32"."""
    return getattr(torch, name)


def real_numbers(values: Any, dtype: Any) -> Any:
    """A tensor of numbers: of float32 where `dtype` is, else of float64."""
    real = {torch.complex64: torch.float32, torch.float32: torch.float32}
    return torch.as_tensor(values, dtype=real.get(dtype, torch.float64))
