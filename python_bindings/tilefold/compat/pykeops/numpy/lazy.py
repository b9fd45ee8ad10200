# python_bindings/tilefold/compat/pykeops/numpy/lazy.py - LazyTensors.
"""`LazyTensor`, `ComplexLazyTensor`, `Vi`, `Vj`, `Pm` and `Var`."""

from __future__ import annotations

from typing import Any

from tilefold.compat.pykeops.lazy_tensor import (
    ComplexGenericLazyTensor,
    GenericLazyTensor,
    constructors,
)
from tilefold.compat.pykeops.numpy_arrays import NumpyArrays

__all__ = ["ComplexLazyTensor", "LazyTensor", "Pm", "Var", "Vi", "Vj"]


class LazyTensor(GenericLazyTensor):
    """A formula of NumPy's arrays; complex ones make a ComplexLazyTensor."""

    arrays = NumpyArrays

    def __new__(
        cls, x: Any = None, axis: Any = None, is_complex: bool = False
    ) -> Any:
        """One, or a ComplexLazyTensor of complex numbers."""
        if is_complex or NumpyArrays.is_complex_input(x):
            return ComplexLazyTensor(x, axis)
        return object.__new__(cls)

    def __init__(
        self, x: Any = None, axis: Any = None, is_complex: bool = False
    ) -> None:
        del is_complex  # `__new__` reads it
        super().__init__(x, axis)


class ComplexLazyTensor(ComplexGenericLazyTensor):
    """A formula of NumPy's arrays, complex."""

    arrays = NumpyArrays


for _kind in (LazyTensor, ComplexLazyTensor):
    _kind.real_class = LazyTensor
    _kind.complex_class = ComplexLazyTensor

Var, Vi, Vj, Pm = constructors(LazyTensor)
