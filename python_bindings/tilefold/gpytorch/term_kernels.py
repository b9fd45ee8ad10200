# python_bindings/tilefold/gpytorch/term_kernels.py - kernels of one pair term.
"""`TermKernel`: a kernel that is the text of a formula, with its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from gpytorch import settings

from tilefold.gpytorch.fusing import (
    FusingKernel,
)
from tilefold.gpytorch.operator import KernelOperator
from tilefold.gpytorch.terms import Part

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["TermKernel"]


class TermKernel(FusingKernel):
    """A kernel that is one pair term of points x_i and y_j."""

    def pair_term(self, width: int, /) -> tuple[str, dict[str, Tensor]]:
        """Writes the kernel down as a formula of x_i and y_j.

        What a subclass of its own defines.

        Parameters
        ----------
        width : int
            How many components points have.

        Returns
        -------
        tuple of str and dict
            The text, and its parameters by name, of shape (..., R, C), or (...,
            1, C) for vectors.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import RBFKernel
        >>> text, parameters = RBFKernel().pair_term(2)
        >>> text
        'exp(-|(x_i - y_j)/l|²/2)'
        """
        raise NotImplementedError

    def points(self, x: Tensor) -> Tensor:
        """Makes points as the formula reads them.

        Parameters
        ----------
        x : tensor of shape (..., N, D)
            Points as the kernel is given them, of floats.

        Returns
        -------
        tensor of shape (..., N, D)
            The same, unless a subclass says more.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import RBFKernel
        >>> RBFKernel().points(torch.zeros(3, 2)).shape
        torch.Size([3, 2])
        """
        return x

    def forward(
        self,
        x1: Tensor,
        x2: Tensor,
        diag: bool = False,
        last_dim_is_batch: bool = False,
        **params: Any,
    ) -> Any:
        """Computes the matrix of points by the formula.

        Kernels are called, and not this.

        Parameters
        ----------
        x1 : tensor of shape (..., N, D)
            Points, of floats; of an ``IndexKernel`` labels, integers.
        x2 : tensor of shape (..., M, D)
            Points, of floats; of an ``IndexKernel`` labels, integers.
        diag : bool, default False
            Whether only the diagonal is computed.
        last_dim_is_batch : bool, default False
            Whether each dimension has a matrix of its own.
        **params : object
            Handed on to GPyTorch.

        Returns
        -------
        KernelOperator or tensor
            The matrix (..., N, M), lazily, or the diagonal (..., N).

        Raises
        ------
        ShapeError
            With diag, for other numbers of points in x1 and x2.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import RBFKernel
        >>> k, x = RBFKernel(), torch.zeros(3, 2)
        >>> k.forward(x, x).shape
        torch.Size([3, 3])
        """
        if settings.trace_mode.on():  # a trace holds operations of PyTorch
            return super().forward(  # type: ignore[misc]
                x1, x2, diag=diag, **_only_set(last_dim_is_batch), **params
            )
        if last_dim_is_batch:
            x1, x2 = _of_each_dimension(x1), _of_each_dimension(x2)
        part = self._part(x1, x2, last_dim_is_batch)
        if not torch.is_grad_enabled():
            part = part._replace(
                tensors=tuple(tensor.detach() for tensor in part.tensors)
            )
        operator = KernelOperator.of(part)
        if diag:
            return operator._diagonal()
        # GPyTorch's switch between a formula and a matrix.
        return operator if settings.use_keops.on() else operator.to_dense()

    def _part(self, x1: Tensor, x2: Tensor, apart: bool) -> Part:
        """The pair term at two sets of points."""
        text, parameters = self.pair_term(x1.shape[-1])
        values = list(parameters.values())
        if apart:
            values = [_parameter_of_each_dimension(value) for value in values]
        return Part(
            (self.points(x1), self.points(x2), *values),
            text,
            ("x", "y", *parameters),
            "ij" + "p" * len(parameters),
        )


def _only_set(last_dim_is_batch: bool) -> dict[str, bool]:
    """The keyword where it is set: not all kernels of GPyTorch know it."""
    return {"last_dim_is_batch": True} if last_dim_is_batch else {}


def _of_each_dimension(x: Tensor) -> Tensor:
    """(…, N, D) as a batch of points of one dimension: (…, D, N, 1)."""
    return x.transpose(-1, -2).unsqueeze(-1)


def _parameter_of_each_dimension(value: Tensor) -> Tensor:
    """(…, 1, D) or (…, 1, 1) as (…, D, 1, 1) or (…, 1, 1, 1)."""
    return value.transpose(-1, -2).unsqueeze(-1)
