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
from linear_operator.operators import DiagLinearOperator, RootLinearOperator
from linear_operator.utils.getitem import _is_noop_index
from linear_operator.utils.memoize import cached

from tilefold.gpytorch.chosen import counted_from_start
from tilefold.gpytorch.composites import (
    AddedDiagonal,
    AddsDiagonals,
    Scaled,
    Summed,
    as_exact,
    multiplied,
)
from tilefold.gpytorch.low_rank import LowRank
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

    is_exact = True

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

    def __getitem__(self, index: Any) -> Any:
        """As of the evaluated matrix, where that is a pair term."""
        matrix = self._matrix()
        if matrix is not None:
            return matrix[index]
        return super().__getitem__(counted_from_start(index, self.shape))

    @_as_made
    def _getitem(self, rows: Any, columns: Any, *batches: Any) -> Any:
        # GPyTorch indexes the batches of points that have fewer of them.
        if all(map(_is_noop_index, batches)) or checkpoint_kernel.value():
            return super()._getitem(rows, columns, *batches)
        return self.evaluate_kernel()._getitem(rows, columns, *batches)

    def _get_indices(self, rows: Any, columns: Any, *batches: Any) -> Tensor:
        if checkpoint_kernel.value():
            return super()._get_indices(rows, columns, *batches)
        return self.evaluate_kernel()._get_indices(rows, columns, *batches)

    @_as_made
    def _mul_constant(self, other: Any) -> LinearOperator:
        matrix = self._matrix()
        if matrix is None:
            return Scaled(self, other)
        return matrix._mul_constant(other)

    @_as_made
    def _mul_matrix(self, other: Any) -> LinearOperator:
        return multiplied(self.evaluate_kernel(), other.evaluate_kernel())

    @_as_made
    def _prod_batch(self, dim: int) -> LinearOperator:
        return self.evaluate_kernel()._prod_batch(dim)

    @_as_made
    def __add__(self, other: Any) -> Any:
        if isinstance(other, DiagLinearOperator):
            return AddedDiagonal(self, other)
        first = self._matrix()
        second = other._matrix() if isinstance(other, LazyKernel) else other
        if first is not None and isinstance(second, KernelOperator | LowRank):
            return first + second
        if isinstance(other, RootLinearOperator):
            return Summed(self, other)
        return as_exact(super().__add__(other))

    def _matrix(self) -> KernelOperator | LowRank | None:
        """The evaluated matrix, where it is a pair term."""
        if checkpoint_kernel.value():
            return None
        if not getattr(self.kernel, "is_pair_term", False):
            return None
        found = self.evaluate_kernel()
        return found if isinstance(found, KernelOperator | LowRank) else None
