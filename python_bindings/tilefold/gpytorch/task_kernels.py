# python_bindings/tilefold/gpytorch/task_kernels.py - kernels of several tasks.
"""GPyTorch's kernels between tasks, beside those of `kernels`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gpytorch.kernels as theirs

from tilefold.gpytorch.composites import KroneckerProduct
from tilefold.gpytorch.fusing import FusingKernel
from tilefold.gpytorch.term_kernels import TermKernel

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["IndexKernel", "LCMKernel", "MultitaskKernel"]


class IndexKernel(TermKernel, theirs.IndexKernel):
    """``gpytorch.kernels.IndexKernel`` as a table.

    ``T[a, c]`` of labels a and c, with ``T = B Bᵀ + diag(v)``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    MultitaskKernel, LCMKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import IndexKernel
    >>> x = torch.tensor([[0], [1], [1]])
    >>> IndexKernel(num_tasks=2)(x).shape
    torch.Size([3, 3])
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """T[a, c] of labels a_i and c_j."""
        return "T[x_i[0], y_j[0]]", {"T": self._eval_covar_matrix()}

    def points(self, x: Tensor) -> Tensor:
        """The labels."""
        return x.long()


class MultitaskKernel(FusingKernel, theirs.MultitaskKernel):
    """``gpytorch.kernels.MultitaskKernel``, a product of two kernels.

    ``K_x ⊗ K_tasks``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    Parameters
    ----------
    *args : object
        As GPyTorch's.
    **kwargs : object
        As GPyTorch's.

    Raises
    ------
    RuntimeError
        For a rank above num_tasks.

    See Also
    --------
    LCMKernel, IndexKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import MultitaskKernel, RBFKernel
    >>> x = torch.zeros(3, 2)
    >>> MultitaskKernel(RBFKernel(), num_tasks=2)(x).shape
    torch.Size([6, 6])
    """

    is_pair_term = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task_covar_module.__class__ = IndexKernel

    def forward(
        self,
        x1: Tensor,
        x2: Tensor,
        diag: bool = False,
        last_dim_is_batch: bool = False,
        **params: Any,
    ) -> Any:
        """Computes the product of both matrices, with gradients of any order.

        Kernels are called, and not this.

        Parameters
        ----------
        x1 : tensor of shape (..., N, D)
            Points, of floats; labels are integers.
        x2 : tensor of shape (..., M, D)
            Points, of floats; labels are integers.
        diag : bool, default False
            Whether only the diagonal is computed.
        last_dim_is_batch : bool, default False
            Whether each dimension has a matrix of its own.
        **params : object
            Handed on to GPyTorch.

        Returns
        -------
        LinearOperator or tensor
            The matrix (..., N T, M T) of T tasks, lazily, or its diagonal.

        Raises
        ------
        RuntimeError
            For last_dim_is_batch.
        ShapeError
            With diag, for other numbers of points in x1 and x2.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import MultitaskKernel, RBFKernel
        >>> k, x = MultitaskKernel(RBFKernel(), num_tasks=2), torch.zeros(3, 2)
        >>> k.forward(x, x).shape
        torch.Size([6, 6])
        """
        product = super().forward(
            x1, x2, last_dim_is_batch=last_dim_is_batch, **params
        )
        product = KroneckerProduct(*product.linear_ops)
        return product._diagonal() if diag else product


class LCMKernel(FusingKernel, theirs.LCMKernel):
    """``gpytorch.kernels.LCMKernel``, a sum of ``MultitaskKernel``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    Parameters
    ----------
    *args : object
        As GPyTorch's.
    **kwargs : object
        As GPyTorch's.

    Raises
    ------
    ValueError
        Without base kernels, and for other numbers of ranks.
    RuntimeError
        For a rank above num_tasks.

    See Also
    --------
    MultitaskKernel, IndexKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import LCMKernel, RBFKernel
    >>> x = torch.zeros(3, 2)
    >>> LCMKernel([RBFKernel()], num_tasks=2)(x).shape
    torch.Size([6, 6])
    """

    is_pair_term = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kernel in self.covar_module_list:
            kernel.__class__ = MultitaskKernel
            kernel.task_covar_module.__class__ = IndexKernel
