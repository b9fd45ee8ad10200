# python_bindings/tilefold/gpytorch/lazy.py - what kernels give when called.
"""`LazyKernel`: GPyTorch's lazy covariance, whose algebra is one formula.

GPyTorch's own multiplies two lazy kernels through root decompositions of both,
and adds them as two matrices.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from gpytorch.beta_features import checkpoint_kernel
from gpytorch.lazy import LazyEvaluatedKernelTensor
from linear_operator.operators import DiagLinearOperator
from linear_operator.utils.memoize import cached

from tilefold.gpytorch.composites import AddedDiagonal, AddsDiagonals
from tilefold.gpytorch.operator import KernelOperator

if TYPE_CHECKING:
    from collections.abc import Callable

    from linear_operator import LinearOperator
    from torch import Tensor

__all__ = ["LazyKernel"]


def _as_made(method: Callable[..., Any]) -> Callable[..., Any]:
    """Records where the kernel was called under a state that records."""

    @functools.wraps(method)
    def wrapped(self: LazyKernel, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(self._is_grad_enabled):
            return method(self, *args, **kwargs)

    return wrapped


class LazyKernel(AddsDiagonals, LazyEvaluatedKernelTensor):
    """The covariance of a kernel at (…, N, D) and (…, M, D) points."""

    def matmul(self, other: Any) -> Any:
        """K @ other, recorded."""
        if checkpoint_kernel.value():
            return super().matmul(other)
        return self.evaluate_kernel().matmul(other)

    def sum(self, dim: int | None = None) -> Any:
        """The sum over a dimension, or over all of them."""
        if checkpoint_kernel.value():
            return super().sum(dim)
        return self.evaluate_kernel().sum(dim)

    @cached(name="to_dense")
    @_as_made
    def to_dense(self) -> Tensor:
        """The (…, N, M) matrix as a tensor."""
        return self.evaluate_kernel().to_dense()

    @_as_made
    def _mul_constant(self, other: Any) -> LinearOperator:
        fused = _fused(self)
        if fused is None:
            return super()._mul_constant(other)
        return fused._mul_constant(other)

    @_as_made
    def _mul_matrix(self, other: Any) -> LinearOperator:
        fused = _fused(self)
        if fused is None:
            return super()._mul_matrix(other)
        return fused._mul_matrix(other)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, DiagLinearOperator):
            return AddedDiagonal(self, other)
        if isinstance(other, LazyKernel | KernelOperator):
            first, second = _fused(self), _fused(other)
            if first is not None and second is not None:
                return first + second
        return super().__add__(other)


def _fused(operator: Any) -> KernelOperator | None:
    """The pair term of a lazy kernel, where it is one."""
    if isinstance(operator, KernelOperator):
        return operator
    if not getattr(operator.kernel, "is_pair_term", False):
        return None
    found = operator.evaluate_kernel()
    return found if isinstance(found, KernelOperator) else None
