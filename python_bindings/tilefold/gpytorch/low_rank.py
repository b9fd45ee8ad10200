# python_bindings/tilefold/gpytorch/low_rank.py - matrices of low rank.
"""linear_operator's products of two thin factors, which are pair terms, too.

They stay what they are alone and in sums of their like, since systems of them
are small. With other pair terms they are one formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from linear_operator.operators import (
    LowRankRootLinearOperator,
    MatmulLinearOperator,
    RootLinearOperator,
)

from tilefold.gpytorch.chosen import expanded
from tilefold.gpytorch.composites import (
    Exact,
    Recorded,
    as_exact,
    is_number,
    recast,
)
from tilefold.gpytorch.operator import KernelOperator, as_kernel_operator
from tilefold.gpytorch.terms import joint_shape

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LowRank", "as_low_rank"]


class LowRank(Exact, Recorded):
    """A product of two thin factors, with gradients of any order."""

    def _formula(self) -> KernelOperator | None:
        return as_kernel_operator(self)

    def _factors(self) -> tuple[Tensor, Tensor]:
        """The factors (…, N, R) and (…, M, R) of left·rightᵀ."""
        raise NotImplementedError

    def _of(self, left: Tensor, right: Tensor) -> Any:
        """The matrix of other factors; of one factor on both sides a root."""
        if left is not right:
            return ThinProduct(left, right.mT)
        rank, points = left.shape[-1], left.shape[-2]
        return Root(left) if rank > points else LowRankRoot(left)

    def _mul_constant(self, other: Tensor) -> Any:
        return self._times(other[..., None, None])

    def _mul_matrix(self, other: Any) -> Any:
        if is_number(other):
            return self._times(other.to_dense())
        return super()._mul_matrix(other)

    def _times(self, factor: Tensor) -> Any:
        """The matrix times numbers of shape (…, 1, 1).

        A positive one is shared by both factors, as GPyTorch's strategies for
        predictions read them.
        """
        left, right = self._factors()
        if not bool((factor > 0).all()):
            return ThinProduct(left * factor, right.mT)
        root = factor.sqrt()
        first = left * root
        return self._of(first, first if right is left else right * root)

    def _sum_batch(self, dim: int) -> Any:
        # Σ_b A_b B_bᵀ is of the columns of all A_b, and of all B_b.
        left, right = self._factors()
        wide = _wide(left, dim)
        return self._of(wide, wide if right is left else _wide(right, dim))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, LowRank):
            return self._beside(other)
        return super().__add__(other)

    def add_diagonal(self, diag: Tensor) -> Any:
        """A + diag(d), of which systems are as small as the rank."""
        return as_exact(super().add_diagonal(diag))  # type: ignore[misc]

    def _beside(self, other: LowRank) -> Any:
        """The sum: the columns of both."""
        (left, right), (one, two) = self._factors(), other._factors()
        wide = _joined(left, one)
        roots = right is left and two is one
        return self._of(wide, wide if roots else _joined(right, two))

    def _getitem(self, rows: Any, columns: Any, *batches: Any) -> Any:
        return as_low_rank(super()._getitem(rows, columns, *batches))


class _OfRoot(LowRank):
    def _factors(self) -> tuple[Tensor, Tensor]:
        root: Tensor = self.root.to_dense()  # type: ignore[attr-defined]
        return root, root


class Root(_OfRoot, RootLinearOperator):
    """R Rᵀ of any R."""


class LowRankRoot(_OfRoot, LowRankRootLinearOperator):
    """R Rᵀ of fewer columns than rows."""


class ThinProduct(LowRank, MatmulLinearOperator):
    """A Bᵀ."""

    def _factors(self) -> tuple[Tensor, Tensor]:
        left: Tensor = self.left_linear_op.to_dense()
        return left, self.right_linear_op.to_dense().mT


_OURS: dict[type, type] = {
    LowRankRootLinearOperator: LowRankRoot,
    MatmulLinearOperator: ThinProduct,
    RootLinearOperator: Root,
}


def as_low_rank(operator: Any) -> Any:
    """An operator as the class above of its kind."""
    return recast(operator, _OURS)


def _wide(tensor: Tensor, dim: int) -> Tensor:
    """(…, B, …, N, R) with B at `dim` as (…, N, B·R)."""
    return tensor.movedim(dim, -2).flatten(-2)


def _joined(first: Tensor, second: Tensor) -> Tensor:
    """The columns of both, in the batches of both."""
    batch = joint_shape([first.shape[:-2], second.shape[:-2]])
    return torch.cat([expanded(first, batch), expanded(second, batch)], -1)
