# python_bindings/tilefold/compat/pykeops/numpy/lazy.py - LazyTensors.
"""`LazyTensor`, `ComplexLazyTensor`, `Vi`, `Vj`, `Pm` and `Var`."""

from __future__ import annotations

from tilefold.compat.pykeops.lazy_tensor import (
    ComplexGenericLazyTensor,
    RealGenericLazyTensor,
    constructors,
)
from tilefold.compat.pykeops.numpy_arrays import NumpyArrays

__all__ = ["ComplexLazyTensor", "LazyTensor", "Pm", "Var", "Vi", "Vj"]


class LazyTensor(RealGenericLazyTensor):
    """A formula of NumPy's arrays; complex ones make a ComplexLazyTensor."""

    arrays = NumpyArrays


class ComplexLazyTensor(ComplexGenericLazyTensor):
    """A formula of NumPy's arrays, complex."""

    arrays = NumpyArrays


for _kind in (LazyTensor, ComplexLazyTensor):
    _kind.real_class = LazyTensor
    _kind.complex_class = ComplexLazyTensor

Var, Vi, Vj, Pm = constructors(LazyTensor)
