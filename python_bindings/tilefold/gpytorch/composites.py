# python_bindings/tilefold/gpytorch/composites.py - linear operators made of
# others, with gradients of any order.
"""linear_operator's composites, of which all products are recorded.

Its own record a product as one node, whose derivative is computed of detached
tensors: second derivatives are wrong in silence.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from linear_operator import settings, utils
from linear_operator.operators import (
    AddedDiagLinearOperator,
    KroneckerProductLinearOperator,
    SumBatchLinearOperator,
)
from linear_operator.utils.broadcasting import _matmul_broadcast_shape

from tilefold.gpytorch.terms import joint_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

__all__ = [
    "AddedDiagonal",
    "AddsDiagonals",
    "KroneckerProduct",
    "SummedBatch",
]


class _Recorded:
    """A composite whose product PyTorch records part by part."""

    def matmul(self, other: Any) -> Any:
        """The product with a tensor (…, M, C) or another operator."""
        if not torch.is_tensor(other):
            return super().matmul(other)  # type: ignore[misc]
        _matmul_broadcast_shape(self.shape, other.shape)  # type: ignore[attr-defined]
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


class KroneckerProduct(_Recorded, KroneckerProductLinearOperator):
    """A Kronecker product with gradients of any order."""


class SummedBatch(_Recorded, SumBatchLinearOperator):
    """A sum over a batch dimension with gradients of any order."""


class AddedDiagonal(AddedDiagLinearOperator):
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


@contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch's operations on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
