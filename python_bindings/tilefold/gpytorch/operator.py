# python_bindings/tilefold/gpytorch/operator.py - the matrix of a pair term as
# a linear operator.
"""`KernelOperator`: the (…, N, M) matrix of a formula, which is never stored.

Every method is one call of a formula, recorded by PyTorch, so that gradients
of any order are right. What is made of two operators is one formula again.
Nothing is decided in the constructor about gradients: linear_operator builds
operators anew inside `Function.forward`, where nothing is recorded, and reads
them in `backward`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from linear_operator import LinearOperator, to_linear_operator
from linear_operator.operators import (
    AddedDiagLinearOperator,
    DenseLinearOperator,
    DiagLinearOperator,
    ZeroLinearOperator,
)
from linear_operator.utils.broadcasting import _matmul_broadcast_shape
from linear_operator.utils.generic import _to_helper
from linear_operator.utils.getitem import _is_noop_index
from linear_operator.utils.memoize import cached

from tilefold.gpytorch.chosen import (
    counted_from_start,
    expanded,
    of_block,
    of_pairs,
)
from tilefold.gpytorch.composites import (
    AddedDiagonal,
    AddsDiagonals,
    Summed,
    SummedBatch,
    dense_product,
    is_number,
    product_with_diagonal,
)
from tilefold.gpytorch.parts import folded, part_of
from tilefold.gpytorch.terms import (
    Part,
    batch_of,
    joined,
    joint_shape,
    lifted,
    scaled,
    shaped,
    term,
)
from tilefold.pair_term import PairTerm

if TYPE_CHECKING:
    from torch import Tensor

    from tilefold import Formula

__all__ = ["KernelOperator", "as_kernel_operator"]


class KernelOperator(AddsDiagonals, LinearOperator):
    """The matrix of a pair term, as a linear operator that is not stored.

    What kernels give. Each method is one call of a formula, recorded by
    PyTorch.

    Parameters
    ----------
    *tensors : tensor
        Floats of one dtype: shape (..., N, D) on i, (..., M, D) on j,
        (..., R, C) for a parameter. Batch dimensions broadcast.
    text : str
        The pair term.
    names : tuple of str
        Those of the tensors in the text.
    roles : str
        A letter for each tensor: "i", "j" or "p".

    Raises
    ------
    ValueError
        For other numbers of names and roles, and tensors of one dimension.
    FormulaError, ShapeError
        By a method, where the text cannot be read, or tensors do not fit it.

    See Also
    --------
    FormulaKernel : a kernel that gives it.

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import KernelOperator
    >>> x = torch.tensor([[0.0], [1.0]])
    >>> text, names = "|x_i - y_j|", ("x", "y")
    >>> K = KernelOperator(x, x, text=text, names=names, roles="ij")
    >>> K @ torch.ones(2)
    tensor([1., 1.])
    """

    is_formula = True
    is_exact = True

    def __init__(
        self, *tensors: Tensor, text: str, names: tuple[str, ...], roles: str
    ) -> None:
        super().__init__(*tensors, text=text, names=names, roles=roles)
        self.text = text
        self.names = names
        self.roles = roles
        self._known_size: torch.Size | None = None

    def _check_args(
        self, *tensors: Tensor, text: str, names: Any, roles: str
    ) -> str | None:
        if not len(tensors) == len(names) == len(roles):
            return f"{text} needs a tensor, a name and a role for each argument"
        if any(tensor.dim() < 2 for tensor in tensors):
            return f"the tensors of {text} have two dimensions or more"
        return None

    @classmethod
    def of(cls, part: Part) -> KernelOperator:
        """Makes the matrix of a part, a text with its tensors.

        Parameters
        ----------
        part : tilefold.gpytorch.terms.Part
            Text, tensors, their names and roles.

        Returns
        -------
        KernelOperator
            Of shape (..., N, M).

        Raises
        ------
        ValueError
            For other numbers of names and roles, and tensors of one dimension.

        Examples
        --------
        >>> import torch
        >>> k = tilefold.gpytorch.RBFKernel()
        >>> K = k(torch.zeros(2, 1)).evaluate_kernel()
        >>> type(K).of(K.part).shape
        torch.Size([2, 2])
        """
        return cls(
            *part.tensors, text=part.text, names=part.names, roles=part.roles
        )

    @property
    def part(self) -> Part:
        """The text and its tensors."""
        return Part(self._args, self.text, self.names, self.roles)

    # ---- what it is ---------------------------------------------------------

    def _size(self) -> torch.Size:
        if self._known_size is None:
            rows = self._args[self.roles.index("i")].shape[-2]
            columns = self._args[self.roles.index("j")].shape[-2]
            self._known_size = torch.Size(
                (*batch_of(self._args), rows, columns)
            )
        return self._known_size

    @property
    def dtype(self) -> torch.dtype:
        """Of the first tensor of real numbers; labels may come before it."""
        for tensor in self._args:
            if tensor.dtype.is_floating_point:
                return tensor.dtype
        return torch.get_default_dtype()

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self._args[0].device

    def evaluate_kernel(self) -> KernelOperator:
        """Gives itself, since nothing is left to evaluate.

        Returns
        -------
        KernelOperator
            The same object, as GPyTorch's lazy kernels give another one.

        Examples
        --------
        >>> import torch
        >>> k = tilefold.gpytorch.RBFKernel()
        >>> K = k(torch.zeros(2, 1)).evaluate_kernel()
        >>> K.evaluate_kernel() is K
        True
        """
        return self

    def to(self, *args: Any, **kwargs: Any) -> KernelOperator:
        """Makes the matrix on another device, or of another dtype.

        Parameters
        ----------
        *args : torch.device or torch.dtype
            As of tensors.
        **kwargs : object
            ``device`` and ``dtype``.

        Returns
        -------
        KernelOperator
            Of tensors that were moved; integers stay integers.

        Examples
        --------
        >>> import torch
        >>> k = tilefold.gpytorch.RBFKernel()
        >>> K = k(torch.zeros(2, 1)).evaluate_kernel()
        >>> K.to(torch.float64).dtype
        torch.float64
        """
        device, dtype = _to_helper(*args, **kwargs)
        return self._like(
            tensor.to(device=device, dtype=dtype)
            if tensor.dtype.is_floating_point
            else tensor.to(device=device)
            for tensor in self._args
        )

    def type(self, dtype: torch.dtype) -> KernelOperator:
        """Makes the matrix of another dtype.

        Parameters
        ----------
        dtype : torch.dtype
            Of the tensors of floats; integers stay integers.

        Returns
        -------
        KernelOperator
            Of tensors that were converted.

        Raises
        ------
        TypeError
            For what is no dtype.

        Examples
        --------
        >>> import torch
        >>> k = tilefold.gpytorch.RBFKernel()
        >>> K = k(torch.zeros(2, 1)).evaluate_kernel()
        >>> K.type(torch.float64).dtype
        torch.float64
        """
        return self.to(dtype=dtype)

    # ---- products -----------------------------------------------------------

    def matmul(self, other: Any) -> Any:
        """Multiplies the matrix with a tensor, recorded.

        Parameters
        ----------
        other : tensor of shape (..., M, C) or (M,)
            Columns, of the operator's dtype; or a linear operator.

        Returns
        -------
        tensor of shape (..., N, C) or (N,)
            The product; of two operators an operator.

        Raises
        ------
        RuntimeError
            For another number of rows.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import KernelOperator
        >>> x = torch.tensor([[0.0], [1.0]])
        >>> text, names = "|x_i - y_j|", ("x", "y")
        >>> K = KernelOperator(x, x, text=text, names=names, roles="ij")
        >>> K.matmul(torch.eye(2))
        tensor([[0., 1.],
                [1., 0.]])
        """
        if not torch.is_tensor(other):
            return super().matmul(other)
        if other.shape[-2:][0] != self.shape[-1]:
            _matmul_broadcast_shape(self.shape, other.shape)  # which raises
        return self._matmul(other)

    def _matmul(self, rhs: Tensor) -> Tensor:
        return self._product(term(self.text).product, rhs, self.shape[-2])

    def _t_matmul(self, rhs: Tensor) -> Tensor:
        formula = term(self.text).transposed_product
        return self._product(formula, rhs, self.shape[-1])

    def _product(self, formula: Formula, rhs: Tensor, rows: int) -> Tensor:
        """K or its transpose times `rhs`, expanded to the joint batch."""
        vector = rhs.dim() == 1
        if vector:
            rhs = rhs.unsqueeze(-1)
        arguments = self._arguments(rhs.dim())
        weights = term(self.text).weights
        (arguments[weights],) = lifted((rhs,), self._rank(rhs.dim()))
        result = formula(arguments)
        batch = joint_shape([self.batch_shape, rhs.shape[:-2]])
        result = self._shaped(result, (*batch, rows, rhs.shape[-1]))
        return result.squeeze(-1) if vector else result

    def _bilinear_derivative(
        self, left_vecs: Tensor, right_vecs: Tensor
    ) -> tuple[Tensor | None, ...]:
        """The gradient of Σ left·(K right) by each tensor, recorded."""
        needs = [
            tensor.requires_grad and tensor.dtype.is_floating_point
            for tensor in self._args
        ]
        if not any(needs):
            return (None,) * len(needs)
        if left_vecs.dim() == 1:
            left_vecs, right_vecs = left_vecs[:, None], right_vecs[:, None]
        # Sums over batches are right only where both have all of them.
        batch = joint_shape(
            [self.batch_shape, left_vecs.shape[:-2], right_vecs.shape[:-2]]
        )
        made = term(self.text)
        arguments = self._arguments(len(batch) + 2)
        arguments[made.weights] = right_vecs.expand(
            *batch, *right_vecs.shape[-2:]
        )
        arguments[made.seed] = left_vecs.expand(*batch, *left_vecs.shape[-2:])
        names = tuple(
            name for name, need in zip(self.names, needs, strict=True) if need
        )
        found = made.gradient(names)(arguments)
        gradients = iter((found,) if len(names) == 1 else found)
        return tuple(
            next(gradients).reshape(tensor.shape).to(tensor.dtype)
            if need
            else None
            for tensor, need in zip(self._args, needs, strict=True)
        )

    # ---- elements -----------------------------------------------------------

    @cached(name="kernel_diag")
    def _diagonal(self) -> Tensor:
        result = term(self.text).diagonal(self._arguments())
        return self._shaped(result, self.shape[:-1])

    @cached
    def to_dense(self) -> Tensor:
        """Computes the matrix as a tensor, recorded.

        Returns
        -------
        tensor of shape (..., N, M)
            All values, which are kept.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import KernelOperator
        >>> x = torch.tensor([[0.0], [1.0]])
        >>> text, names = "|x_i - y_j|", ("x", "y")
        >>> K = KernelOperator(x, x, text=text, names=names, roles="ij")
        >>> K.to_dense()
        tensor([[0., 1.],
                [1., 0.]])
        """
        return self._shaped(self._dense(), self.shape)

    def _dense(self) -> Tensor:
        pair = PairTerm(term(self.text).formula, self._arguments(), {})
        return pair.elements("dense")

    def _getitem(
        self, row_index: Any, col_index: Any, *batch_indices: Any
    ) -> KernelOperator:
        points = {"i": row_index, "j": col_index, "p": slice(None)}
        whole = all(map(_is_noop_index, batch_indices))
        tensors = self._args if whole else self._expanded(self.batch_shape)
        chosen = []
        for tensor, role in zip(tensors, self.roles, strict=True):
            if not _is_noop_index(points[role]):
                tensor = tensor[..., points[role], :]
            if not whole:
                tensor = tensor[tuple(batch_indices)]
            chosen.append(tensor)
        return self._like(chosen)

    def __getitem__(self, index: Any) -> Any:
        """As linear_operator indexes; blocks of points are met as such."""
        index = counted_from_start(index, self.shape)
        if len(index) == self.dim():
            # K[…, a[:, None], b[None, :]] is a matrix of chosen points.
            found = of_block(self._args, self.roles, self.batch_shape, index)
            if found is not None:
                return self._like(found).to_dense()
        return super().__getitem__(index)

    def _get_indices(
        self, row_index: Tensor, col_index: Tensor, *batch_indices: Tensor
    ) -> Tensor:
        indices = torch.broadcast_tensors(row_index, col_index, *batch_indices)
        shape = indices[0].shape
        flat = [index.reshape(-1) for index in indices]
        chosen = of_pairs(self._args, self.roles, self.batch_shape, flat)
        return self._like(chosen)._diagonal().reshape(shape)

    # ---- batches ------------------------------------------------------------

    def _expand_batch(self, batch_shape: Any) -> KernelOperator:
        if tuple(batch_shape) == tuple(self.batch_shape):
            return self
        return self._like(self._expanded(batch_shape))

    def _permute_batch(self, *dims: int) -> KernelOperator:
        tensors = self._expanded(self.batch_shape)
        return self._like(tensor.permute(*dims, -2, -1) for tensor in tensors)

    def _unsqueeze_batch(self, dim: int) -> KernelOperator:
        tensors = self._expanded(self.batch_shape)
        return self._like(tensor.unsqueeze(dim) for tensor in tensors)

    def _sum_batch(self, dim: int) -> LinearOperator:
        return SummedBatch(self, block_dim=dim)

    def _prod_batch(self, dim: int) -> LinearOperator:
        product = self._folded("first*second", dim - len(self.batch_shape))
        if product is None:
            return DenseLinearOperator(self.to_dense().prod(dim))
        return product

    def _folded(self, skeleton: str, dim: int) -> KernelOperator | None:
        """The matrices along a batch dimension as one formula, if few."""
        part = folded(skeleton, self.part, dim)
        return None if part is None else KernelOperator.of(part)

    def sum(self, dim: int | None = None) -> Any:
        """Sums over a dimension, or over all of them.

        Parameters
        ----------
        dim : int, optional
            Of rows, columns or a batch; all without it.

        Returns
        -------
        tensor or LinearOperator
            Shape (..., N) or (..., M); over a batch, an operator still.

        Raises
        ------
        TypeError
            For a dimension that is no int.
        RuntimeError
            For a dimension of a batch where there is none.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import KernelOperator
        >>> x = torch.tensor([[0.0], [1.0]])
        >>> text, names = "|x_i - y_j|", ("x", "y")
        >>> K = KernelOperator(x, x, text=text, names=names, roles="ij")
        >>> K.sum(-1)
        tensor([1., 1.])
        """
        place = dim if dim is None or dim >= 0 else dim + self.dim()
        if place is not None and place < self.dim() - 2:
            return super().sum(dim)
        if place == self.dim() - 2:
            return self.mT.sum(-1)
        ones = torch.ones(
            self.shape[-1], 1, dtype=self.dtype, device=self.device
        )
        sums = self._matmul(ones).squeeze(-1)
        return sums.sum() if dim is None else sums

    def _transpose_nonbatch(self) -> KernelOperator:
        roles = self.roles.translate(str.maketrans("ij", "ji"))
        return KernelOperator(
            *self._args,
            text=term(self.text).transposed,
            names=self.names,
            roles=roles,
        )

    # ---- algebra ------------------------------------------------------------

    def mul(self, other: Any) -> Any:
        """Multiplies the values of the matrix, as one formula.

        Parameters
        ----------
        other : float, tensor or LinearOperator
            A number, numbers of shape (..., 1, 1), or another matrix.

        Returns
        -------
        LinearOperator
            A ``KernelOperator`` where the other is a formula, too.

        Raises
        ------
        RuntimeError
            For a matrix of another shape.
        TypeError
            For what is no number, tensor or operator.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import KernelOperator
        >>> x = torch.tensor([[0.0], [1.0]])
        >>> text, names = "|x_i - y_j|", ("x", "y")
        >>> K = KernelOperator(x, x, text=text, names=names, roles="ij")
        >>> (K.mul(2.0) @ torch.ones(2)).tolist()
        [2.0, 2.0]
        """
        return super().mul(other)

    def _mul_constant(self, other: Any) -> KernelOperator:
        return KernelOperator.of(scaled(self.part, other[..., None, None]))

    def _mul_matrix(self, other: Any) -> Any:
        other = other.evaluate_kernel()
        if is_number(other):
            return KernelOperator.of(scaled(self.part, other.to_dense()))
        if isinstance(other, AddedDiagLinearOperator):
            return product_with_diagonal(self, other)
        second = as_kernel_operator(other)
        if second is None or second.matrix_shape != self.matrix_shape:
            return dense_product(self, other)
        return self._with("first*second", second)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, ZeroLinearOperator):
            return self
        if isinstance(other, DiagLinearOperator):
            return AddedDiagonal(self, other)
        if torch.is_tensor(other):
            other = to_linear_operator(other)
        if isinstance(other, DenseLinearOperator):
            return DenseLinearOperator(self.to_dense() + other.to_dense())
        if not isinstance(other, LinearOperator):
            return super().__add__(other)
        second = as_kernel_operator(other)
        if second is None or second.matrix_shape != self.matrix_shape:
            return Summed(self, other)
        return self._with("first + second", second)

    def _with(self, skeleton: str, second: KernelOperator) -> KernelOperator:
        return KernelOperator.of(joined(skeleton, self.part, second.part))

    # ---- helpers ------------------------------------------------------------

    def _like(self, tensors: Any) -> KernelOperator:
        """The same text of other tensors."""
        return KernelOperator(
            *tensors, text=self.text, names=self.names, roles=self.roles
        )

    def _rank(self, least: int = 2) -> int:
        """The most dimensions that a tensor has."""
        return max(least, *(tensor.dim() for tensor in self._args))

    def _arguments(self, least: int = 2) -> dict[str, Tensor]:
        """The tensors by name, all of one rank."""
        tensors = lifted(self._args, self._rank(least))
        return dict(zip(self.names, tensors, strict=True))

    def _expanded(self, batch: Any) -> list[Tensor]:
        """The tensors with all batch dimensions."""
        return [expanded(tensor, batch) for tensor in self._args]

    def _shaped(self, result: Any, shape: Any) -> Tensor:
        """What a formula gave, in the batches and the dtype of the operator."""
        return shaped(result.to(self.dtype), shape)


def as_kernel_operator(operator: Any) -> KernelOperator | None:
    """An operator as a pair term, where it is one."""
    if isinstance(operator, KernelOperator):
        return operator
    part = part_of(operator)
    return None if part is None else KernelOperator.of(part)
