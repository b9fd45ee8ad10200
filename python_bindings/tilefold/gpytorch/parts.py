# python_bindings/tilefold/gpytorch/parts.py - linear operators as pair terms.
"""Which operators of linear_operator are pair terms: `part_of` says.

Constant multiples, sums, sums over a batch and matrices of low rank are, where
what they are made of is. Products of those are one formula: linear_operator
would multiply root decompositions, which are rough where they are cut off.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import torch
from gpytorch.lazy import LazyEvaluatedKernelTensor
from linear_operator.operators import (
    ConstantMulLinearOperator,
    DenseLinearOperator,
    MatmulLinearOperator,
    RootLinearOperator,
    SumBatchLinearOperator,
    SumLinearOperator,
)

from tilefold.gpytorch.terms import Part, batch_of, joined, low_rank, scaled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

__all__ = ["folded", "part_of"]

# The most matrices of a batch that are one formula: it is as long as they are
# many.
_MOST = 32


def part_of(operator: Any) -> Part | None:
    """An operator as a pair term, where it is one."""
    if isinstance(operator, LazyEvaluatedKernelTensor):
        operator = operator.evaluate_kernel()
    if getattr(operator, "is_formula", False):
        part: Part = operator.part
        return part
    if isinstance(operator, ConstantMulLinearOperator):
        return _scaled(operator)
    if isinstance(operator, SumLinearOperator):
        return _sum(operator.linear_ops)
    if isinstance(operator, SumBatchLinearOperator):
        base = part_of(operator.base_linear_op)
        return None if base is None else folded("first + second", base, -1)
    return _product(operator)


def folded(skeleton: str, part: Part, dim: int) -> Part | None:
    """The matrices along a batch dimension as one; None of none or too many.

    The dimension is counted from the end of the batch: -1 is its last.
    """
    size = batch_of(part.tensors)[dim]
    if not 0 < size <= _MOST:
        return None
    columns = [_along(tensor, dim - 2, size) for tensor in part.tensors]
    parts = [
        part._replace(tensors=tensors) for tensors in zip(*columns, strict=True)
    ]
    return reduce(lambda first, second: joined(skeleton, first, second), parts)


def _along(tensor: Tensor, dim: int, size: int) -> tuple[Tensor, ...]:
    """The tensors of a dimension; where there is one, it is kept one object."""
    if tensor.dim() < -dim:
        return (tensor,) * size
    if tensor.shape[dim] == 1:
        return (tensor.select(dim, 0),) * size
    return tensor.unbind(dim)


def _scaled(operator: Any) -> Part | None:
    part = part_of(operator.base_linear_op)
    if part is None:
        return None
    # A constant may be of shape (1,) where there are no batches.
    factor: Tensor = operator._constant
    more = max(factor.dim() - len(operator.batch_shape), 0)
    return scaled(part, factor.reshape(*factor.shape[more:], 1, 1))


def _sum(operators: Iterable[Any]) -> Part | None:
    total = None
    for operator in operators:
        part = part_of(operator)
        if part is None:
            return None
        total = part if total is None else joined("first + second", total, part)
    return total


def _product(operator: Any) -> Part | None:
    """A matrix of low rank; None of all other operators."""
    if isinstance(operator, RootLinearOperator):
        root = _tensor_of(operator.root)
        return None if root is None else low_rank(root, root)
    if isinstance(operator, MatmulLinearOperator):
        left = _tensor_of(operator.left_linear_op)
        right = _tensor_of(operator.right_linear_op)
        if left is not None and right is not None:
            return low_rank(left, right.mT)
    return None


def _tensor_of(operator: Any) -> Tensor | None:
    """The numbers of a factor that is stored, times a constant or not."""
    if isinstance(operator, ConstantMulLinearOperator):
        tensor = _tensor_of(operator.base_linear_op)
        if tensor is None:
            return None
        return tensor * operator.expanded_constant
    if isinstance(operator, DenseLinearOperator):
        stored: Tensor = operator.tensor
        return stored if torch.is_floating_point(stored) else None
    return None
