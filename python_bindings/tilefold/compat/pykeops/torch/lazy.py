# python_bindings/tilefold/compat/pykeops/torch/lazy.py - LazyTensors.
"""`LazyTensor`, `ComplexLazyTensor`, `Vi`, `Vj`, `Pm` and `Var`."""

from __future__ import annotations

from tilefold.compat.pykeops.lazy_tensor import (
    ComplexGenericLazyTensor,
    RealGenericLazyTensor,
    constructors,
)
from tilefold.compat.pykeops.torch_arrays import TorchArrays

__all__ = ["ComplexLazyTensor", "LazyTensor", "Pm", "Var", "Vi", "Vj"]


class LazyTensor(RealGenericLazyTensor):
    """A formula of PyTorch's tensors; complex ones make a ComplexLazyTensor."""

    arrays = TorchArrays


class ComplexLazyTensor(ComplexGenericLazyTensor):
    """A formula of PyTorch's tensors, complex."""

    arrays = TorchArrays


for _kind in (LazyTensor, ComplexLazyTensor):
    _kind.real_class = LazyTensor
    _kind.complex_class = ComplexLazyTensor

Var, Vi, Vj, Pm = constructors(LazyTensor)
