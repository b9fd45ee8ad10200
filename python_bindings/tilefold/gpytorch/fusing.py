# python_bindings/tilefold/gpytorch/fusing.py - sums and products of kernels.
"""Kernels whose sums and products are kernels, and one formula."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

import gpytorch.kernels as theirs
import torch
from gpytorch.lazy import LazyEvaluatedKernelTensor
from linear_operator import to_linear_operator

from tilefold.gpytorch.composites import is_exact, multiplied
from tilefold.gpytorch.lazy import LazyKernel
from tilefold.gpytorch.operator import KernelOperator, as_kernel_operator
from tilefold.gpytorch.terms import joint_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linear_operator import LinearOperator
    from torch import Tensor

__all__ = ["AdditiveKernel", "FusingKernel", "ProductKernel"]


class FusingKernel:
    """A kernel whose sums and products are kernels of this module."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Makes the covariance of points, as GPyTorch's kernels do.

        Parameters
        ----------
        *args : tensor
            Points of floats, of shape (..., N, D), and others of shape
            (..., M, D); labels are integers.
        **kwargs : object
            ``diag`` and what else GPyTorch's take.

        Returns
        -------
        LinearOperator or tensor
            Lazy: what is made of it is one formula. A diagonal is a tensor.

        Raises
        ------
        RuntimeError
            For points of other numbers of components than each other, or than
            ``ard_num_dims``.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import RBFKernel
        >>> RBFKernel()(torch.zeros(3, 2), torch.zeros(4, 2)).shape
        torch.Size([3, 4])
        """
        covariance = super().__call__(*args, **kwargs)  # type: ignore[misc]
        if type(covariance) is LazyEvaluatedKernelTensor:
            covariance.__class__ = LazyKernel
        return covariance

    @property
    def is_pair_term(self) -> bool:
        """Whether its matrix is one formula, with all that is inside."""
        return all(
            getattr(kernel, "is_pair_term", False)
            for kernel in _kernels_in(self)
        )

    @property
    def batch_shape(self) -> torch.Size:
        """The batch dimensions of the matrix, as GPyTorch has them."""
        inner = [kernel.batch_shape for kernel in _kernels_in(self)]
        return joint_shape([self._batch_shape, *inner])

    @batch_shape.setter
    def batch_shape(self, shape: torch.Size) -> None:
        self._batch_shape = shape

    def __add__(self, other: theirs.Kernel) -> AdditiveKernel:
        return AdditiveKernel(
            *_parts_of(self, theirs.AdditiveKernel),
            *_parts_of(other, theirs.AdditiveKernel),
        )

    def __mul__(self, other: theirs.Kernel) -> ProductKernel:
        return ProductKernel(
            *_parts_of(self, theirs.ProductKernel),
            *_parts_of(other, theirs.ProductKernel),
        )


class AdditiveKernel(FusingKernel, theirs.AdditiveKernel):
    """``gpytorch.kernels.AdditiveKernel`` as one formula.

    What ``+`` makes of two kernels.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    ProductKernel, ScaleKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import MaternKernel, RBFKernel
    >>> x = torch.zeros(3, 2)
    >>> ((RBFKernel() + MaternKernel())(x) @ torch.ones(3)).tolist()
    [6.0, 6.0, 6.0]
    """

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Any:
        """Computes the sum of the kernels' matrices, as one formula.

        Kernels are called, and not this.

        Parameters
        ----------
        x1 : tensor of shape (..., N, D)
            Points, of floats; labels are integers.
        x2 : tensor of shape (..., M, D)
            Points, of floats; labels are integers.
        diag : bool, default False
            Whether only the diagonal is computed.
        **params : object
            Handed on to GPyTorch.

        Returns
        -------
        KernelOperator or tensor
            The matrix (..., N, M), lazily, or the diagonal (..., N).

        Raises
        ------
        RuntimeError
            For points of other numbers of components than each other.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import RBFKernel
        >>> k, x = RBFKernel() + RBFKernel(), torch.zeros(3, 2)
        >>> k.forward(x, x).shape
        torch.Size([3, 3])
        """
        terms = [kernel(x1, x2, diag=diag, **params) for kernel in self.kernels]
        if diag:
            return sum(terms)
        return reduce(_sum, map(_evaluated, terms))


class ProductKernel(FusingKernel, theirs.ProductKernel):
    """``gpytorch.kernels.ProductKernel`` as one formula, for any points.

    What ``*`` makes of two kernels.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    AdditiveKernel, ScaleKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import MaternKernel, RBFKernel
    >>> x = torch.zeros(3, 2)
    >>> ((RBFKernel() * MaternKernel())(x) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Any:
        """Computes the product of the kernels' matrices, as one formula.

        Kernels are called, and not this.

        Parameters
        ----------
        x1 : tensor of shape (..., N, D)
            Points, of floats; labels are integers.
        x2 : tensor of shape (..., M, D)
            Points, of floats; labels are integers.
        diag : bool, default False
            Whether only the diagonal is computed.
        **params : object
            Handed on to GPyTorch.

        Returns
        -------
        KernelOperator or tensor
            The matrix (..., N, M), lazily, or the diagonal (..., N).

        Raises
        ------
        RuntimeError
            For points of other numbers of components than each other.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import RBFKernel
        >>> k, x = RBFKernel() * RBFKernel(), torch.zeros(3, 2)
        >>> k.forward(x, x).shape
        torch.Size([3, 3])
        """
        factors = [
            kernel(x1, x2, diag=diag, **params) for kernel in self.kernels
        ]
        if diag:
            return math.prod(factors[1:], start=factors[0])
        operators = [_evaluated(factor) for factor in factors]
        if len(operators) == 1:
            return operators[0]
        return _product([*map(_term, operators)], torch.equal(x1, x2))


def _kernels_in(module: Any) -> Iterator[Any]:
    """The kernels that a module holds, not those that they hold."""
    for inner in module._modules.values():
        if isinstance(inner, theirs.Kernel):
            yield inner
        elif inner is not None and inner._modules:
            yield from _kernels_in(inner)


def _parts_of(kernel: Any, kind: Any) -> list[Any]:
    """The kernels of a sum or product, or a kernel alone."""
    return [*kernel.kernels] if isinstance(kernel, kind) else [kernel]


def _evaluated(covariance: Any) -> LinearOperator:
    """An operator of which nothing is lazy."""
    operator = to_linear_operator(covariance)
    if isinstance(operator, LazyEvaluatedKernelTensor):
        return operator.evaluate_kernel()
    return operator


def _term(operator: LinearOperator) -> LinearOperator:
    """The operator as a pair term, where it is one."""
    found = as_kernel_operator(operator)
    return operator if found is None else found


def _product(operators: list[Any], square: bool) -> Any:
    """The product by values; what multiplies exactly comes first.

    Where nothing does, matrices are multiplied as GPyTorch does it.
    """
    operators.sort(key=lambda operator: not is_exact(operator))
    if square or is_exact(operators[0]):
        return reduce(multiplied, operators)
    return math.prod(operator.to_dense() for operator in operators)


def _sum(first: Any, second: Any) -> Any:
    """The sum, as one formula where one of the two is one."""
    if isinstance(second, KernelOperator):
        return second + first
    return first + second
