# python_bindings/tilefold/gpytorch/composites.py - linear operators made of
# others, with exact products and gradients of any order.
"""linear_operator's composites, of which all products are recorded and exact.

Its own record a product as one node, whose derivative is computed of detached
tensors: second derivatives are wrong in silence. And they multiply two matrices
by their values through root decompositions, of 100 columns and no more.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from linear_operator import LinearOperator, settings, utils
from linear_operator.operators import (
    AddedDiagLinearOperator,
    ConstantMulLinearOperator,
    DenseLinearOperator,
    DiagLinearOperator,
    KroneckerProductLinearOperator,
    LowRankRootAddedDiagLinearOperator,
    RootLinearOperator,
    SumBatchLinearOperator,
    SumKroneckerLinearOperator,
    SumLinearOperator,
)
from linear_operator.utils.broadcasting import _matmul_broadcast_shape

from tilefold.gpytorch.chosen import counted_from_start
from tilefold.gpytorch.terms import joint_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

__all__ = [
    "AddedDiagonal",
    "AddsDiagonals",
    "Exact",
    "KroneckerProduct",
    "LowRankAddedDiagonal",
    "Recorded",
    "Scaled",
    "Summed",
    "SummedBatch",
    "as_exact",
    "dense_product",
    "is_exact",
    "is_number",
    "multiplied",
    "product_with_diagonal",
    "recast",
]


class Exact:
    """What is multiplied by values without root decompositions."""

    is_exact = True

    def _formula(self) -> Any:
        """The `KernelOperator` of the same values, where there is one."""
        return None

    def _mul_constant(self, other: Any) -> Any:
        return as_exact(super()._mul_constant(other))  # type: ignore[misc]

    def _mul_matrix(self, other: Any) -> Any:
        other = other.evaluate_kernel()
        if isinstance(other, AddedDiagLinearOperator):
            return product_with_diagonal(self, other)
        if getattr(other, "is_formula", False):
            return other._mul_matrix(self)
        formula = self._formula()
        if formula is not None:
            return formula._mul_matrix(other)
        return dense_product(self, other)

    def _prod_batch(self, dim: int) -> Any:
        formula = self._formula()
        if formula is not None:
            return formula._prod_batch(dim)
        return DenseLinearOperator(self.to_dense().prod(dim))  # type: ignore[attr-defined]

    def __add__(self, other: Any) -> Any:
        if isinstance(other, DiagLinearOperator):
            return as_exact(super().__add__(other))  # type: ignore[misc]
        if getattr(other, "is_formula", False):
            return other + self
        formula = self._formula()
        if formula is not None:
            return formula + other
        # linear_operator would update a root decomposition by such a sum.
        if isinstance(other, RootLinearOperator):
            return Summed(self, other)
        return as_exact(super().__add__(other))  # type: ignore[misc]

    def __getitem__(self, index: Any) -> Any:
        """As linear_operator indexes, with numbers from the end, too."""
        index = counted_from_start(index, self.shape)  # type: ignore[attr-defined]
        return super().__getitem__(index)  # type: ignore[misc]

    def _getitem(self, rows: Any, columns: Any, *batches: Any) -> Any:
        return as_exact(super()._getitem(rows, columns, *batches))  # type: ignore[misc]


class Recorded:
    """A composite whose product PyTorch records part by part."""

    def matmul(self, other: Any) -> Any:
        """The product with a tensor (…, M, C) or (M,), or another operator."""
        if not torch.is_tensor(other):
            return super().matmul(other)  # type: ignore[misc]
        _matmul_broadcast_shape(self.shape, other.shape)  # type: ignore[attr-defined]
        if other.dim() == 1:
            return self._matmul(other.unsqueeze(-1)).squeeze(-1)  # type: ignore[attr-defined]
        return self._matmul(other)  # type: ignore[attr-defined]

    def _bilinear_derivative(
        self, left_vecs: Tensor, right_vecs: Tensor
    ) -> tuple[Tensor | None, ...]:
        """The gradient of Σ left·(A right) by each tensor, recorded."""
        return recorded_derivative(self, left_vecs, right_vecs)


def recorded_derivative(
    operator: Any, left: Tensor, right: Tensor
) -> tuple[Tensor | None, ...]:
    """The gradient of Σ left·(A right) by the tensors of A, recorded.

    The tensors stand for themselves alone: where one was computed of another,
    views keep the two apart.
    """
    recording = torch.is_grad_enabled()
    tensors = operator.representation()
    needs = [tensor.requires_grad for tensor in tensors]
    if not any(needs):
        return (None,) * len(needs)
    with torch.enable_grad():
        views = [
            tensor.view_as(tensor) if need else tensor
            for tensor, need in zip(tensors, needs, strict=True)
        ]
        product = operator.representation_tree()(*views)._matmul(right)
        needed = [view for view, need in zip(views, needs, strict=True) if need]
        found = iter(
            torch.autograd.grad(
                (left * product).sum(),
                needed,
                create_graph=recording,
                allow_unused=True,
            )
        )
    return tuple(next(found) if need else None for need in needs)


class KroneckerProduct(Exact, Recorded, KroneckerProductLinearOperator):
    """A Kronecker product with gradients of any order."""

    def _mul_matrix(self, other: Any) -> Any:
        other = other.evaluate_kernel()
        shapes = [part.matrix_shape for part in self.linear_ops]
        if isinstance(other, KroneckerProductLinearOperator) and shapes == [
            part.matrix_shape for part in other.linear_ops
        ]:
            # (A ⊗ B)∘(C ⊗ D) is (A∘C) ⊗ (B∘D).
            pairs = zip(self.linear_ops, other.linear_ops, strict=True)
            return KroneckerProduct(*(_factor(*pair) for pair in pairs))
        return super()._mul_matrix(other)


def _factor(first: Any, second: Any) -> Any:
    """The product by values of two factors, of which tasks' are small."""
    first, second = first.evaluate_kernel(), second.evaluate_kernel()
    if is_exact(first) or is_exact(second):
        return multiplied(first, second)
    return dense_product(first, second)


class KroneckerSum(Exact, SumKroneckerLinearOperator):
    """A sum of two Kronecker products."""


class Summed(Exact, SumLinearOperator):
    """A sum of which not all is a pair term."""


class Scaled(Exact, ConstantMulLinearOperator):
    """A constant times what is no pair term."""


class SummedBatch(Exact, Recorded, SumBatchLinearOperator):
    """A sum over a batch dimension with gradients of any order."""

    def _formula(self) -> Any:
        base = self.base_linear_op.evaluate_kernel()
        if not getattr(base, "is_formula", False):
            return None
        return base._folded("first + second", -1)

    def _mul_constant(self, other: Any) -> Any:
        factor = other.unsqueeze(-1) if other.dim() else other
        return SummedBatch(self.base_linear_op._mul_constant(factor))


class _WithDiagonal(Exact):
    """A matrix and a diagonal, which stay apart in products and sums."""

    def _mul_matrix(self, other: Any) -> Any:
        return product_with_diagonal(self, other)

    def __add__(self, other: Any) -> Any:
        return as_exact(super(Exact, self).__add__(other))  # type: ignore[misc]


class AddedDiagonal(_WithDiagonal, AddedDiagLinearOperator):
    """A matrix and a diagonal, whose systems are solved without waiting.

    Between two products of a conjugate gradient, PyTorch's threads would
    spin for work and keep the cores from the next product of a formula: its
    small operations run on one thread meanwhile.
    """

    def _solve(
        self, rhs: Tensor, preconditioner: Any = None, num_tridiag: int = 0
    ) -> Any:
        by_formula = getattr(self._linear_op, "is_formula", False)
        with _one_thread() if by_formula else nullcontext():
            return utils.linear_cg(
                self._product_of_any,
                rhs,
                n_tridiag=num_tridiag,
                max_iter=settings.max_cg_iterations.value(),
                max_tridiag_iter=(
                    settings.max_lanczos_quadrature_iterations.value()
                ),
                preconditioner=preconditioner,
            )

    def _product_of_any(self, vectors: Tensor) -> Tensor:
        """The product; of zeros, which solvers begin with, without work."""
        if vectors.any():
            return self._matmul(vectors)
        batch = joint_shape([self.batch_shape, vectors.shape[:-2]])
        return vectors.new_zeros(*batch, *vectors.shape[-2:])


class LowRankAddedDiagonal(_WithDiagonal, LowRankRootAddedDiagLinearOperator):
    """A matrix of low rank and a diagonal, whose systems are small."""


class AddsDiagonals:
    """What adds a diagonal by the class above."""

    def add_diagonal(self, diag: Tensor) -> AddedDiagonal:
        """Adds a diagonal: ``K + diag(d)``.

        Parameters
        ----------
        diag : tensor
            Of a float dtype and of shape (..., N), (..., 1) or ().

        Returns
        -------
        AddedDiagonal
            A linear operator, whose solves are preconditioned as GPyTorch's.

        Raises
        ------
        RuntimeError
            For a matrix that is not square, and numbers of another length.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import KernelOperator
        >>> x = torch.tensor([[0.0], [1.0]])
        >>> text, names = "|x_i - y_j|", ("x", "y")
        >>> K = KernelOperator(x, x, text=text, names=names, roles="ij")
        >>> K.add_diagonal(torch.tensor(3.0)) @ torch.ones(2)
        tensor([4., 4.])
        """
        added = super().add_diagonal(diag)  # type: ignore[misc]
        return AddedDiagonal(added._linear_op, added._diag_tensor)


_EXACT: dict[type, type] = {
    AddedDiagLinearOperator: AddedDiagonal,
    ConstantMulLinearOperator: Scaled,
    KroneckerProductLinearOperator: KroneckerProduct,
    LowRankRootAddedDiagLinearOperator: LowRankAddedDiagonal,
    SumBatchLinearOperator: SummedBatch,
    SumKroneckerLinearOperator: KroneckerSum,
    SumLinearOperator: Summed,
}


def recast(operator: Any, kinds: dict[type, type]) -> Any:
    """An operator that linear_operator made, as the class for its kind."""
    kind = kinds.get(type(operator))
    if kind is not None:
        operator.__class__ = kind
    return operator


def as_exact(operator: Any) -> Any:
    """An operator as the class above of its kind."""
    return recast(operator, _EXACT)


def multiplied(first: Any, second: Any) -> Any:
    """The product by values of two operators, by the one that is exact.

    Where neither is of this package, it is what linear_operator makes of them.
    """
    if is_exact(second) and not is_exact(first):
        first, second = second, first
    return first._mul_matrix(second)


def is_exact(operator: Any) -> bool:
    """Whether an operator is of this package, and multiplies exactly."""
    return bool(getattr(operator, "is_exact", False))


def is_number(operator: Any) -> bool:
    """Whether an operator is a number for each batch."""
    return isinstance(
        operator, DenseLinearOperator
    ) and operator.matrix_shape == (1, 1)


def dense_product(first: Any, second: Any) -> LinearOperator:
    """The product by values, stored; of a diagonal matrix a diagonal one."""
    if isinstance(first, DiagLinearOperator) or isinstance(
        second, DiagLinearOperator
    ):
        return DiagLinearOperator(first._diagonal() * second._diagonal())
    return DenseLinearOperator(first.to_dense() * second.to_dense())


def product_with_diagonal(first: Any, second: Any) -> Any:
    """(A + D)∘(B + E), which is A∘B and the diagonal D∘(B + E) + A∘E."""
    first, second = first.evaluate_kernel(), second.evaluate_kernel()
    if isinstance(second, DiagLinearOperator):
        return dense_product(first, second)
    left, added = _apart(first)
    right, other = _apart(second)
    if added is None and other is None:
        return multiplied(first, second)
    numbers = 0.0
    if added is not None:
        numbers = added._diagonal() * second._diagonal()
    if other is not None:
        numbers = numbers + left._diagonal() * other._diagonal()
    return AddedDiagonal(multiplied(left, right), DiagLinearOperator(numbers))


def _apart(operator: Any) -> tuple[Any, Any]:
    """A matrix and the diagonal added to it, where there is one."""
    if isinstance(operator, AddedDiagLinearOperator):
        return operator._linear_op, operator._diag_tensor
    return operator, None


_THEIR_PRODUCT = LinearOperator._mul_matrix


def _product_of_any(self: Any, other: Any) -> Any:
    """linear_operator's product by values; ours where an operator is ours.

    It asks the operator on the left alone. Of GPyTorch's ones around ours, and
    of its own times ours, it would make root decompositions.
    """
    first, second = self.evaluate_kernel(), other.evaluate_kernel()
    if is_exact(first) or is_exact(second):
        return multiplied(first, second)
    return _THEIR_PRODUCT(first, second)


LinearOperator._mul_matrix = _product_of_any


@contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch's operations on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
