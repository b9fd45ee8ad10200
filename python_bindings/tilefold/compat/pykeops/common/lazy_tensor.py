# python_bindings/tilefold/compat/pykeops/common/lazy_tensor.py - the bases.
"""The classes that the LazyTensors of both sides derive from."""

from tilefold.compat.pykeops.lazy_tensor import (
    ComplexGenericLazyTensor,
    GenericLazyTensor,
)

__all__ = ["ComplexGenericLazyTensor", "GenericLazyTensor"]
