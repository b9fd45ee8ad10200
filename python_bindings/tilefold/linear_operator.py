# python_bindings/tilefold/linear_operator.py - kernels as SciPy's linear
# operators, without SciPy.
"""The methods of `scipy.sparse.linalg.LinearOperator`, as methods of kernels.

Solvers that take anything with these methods take a kernel itself. SciPy's
`aslinearoperator` makes single products of those of many columns, though:
`tilefold.scipy.operator(K)` has one for all.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.namespaces import reduced

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike
    from tilefold.kernel_matrix import Kernel

__all__ = ["LinearOperatorMethods", "is_linear_operator"]


def is_linear_operator(value: Any) -> bool:
    """Whether a value is one of SciPy's, which is loaded then."""
    linalg = sys.modules.get("scipy.sparse.linalg")
    return linalg is not None and isinstance(
        value, getattr(linalg, "LinearOperator", ())
    )


class LinearOperatorMethods:
    """Those of a kernel of shape (N, M), of numbers.

    Sums and products with SciPy's own operators are SciPy's operators.
    """

    __slots__ = ()

    # ---- products -----------------------------------------------------------

    def dot(self, other: ArrayLike) -> Any:
        """Multiplies the kernel with an array: ``K @ other``.

        Parameters
        ----------
        other : array
            Shape (M,) or (M, E), of any float dtype.

        Returns
        -------
        array
            Shape (N,) or (N, E).

        Raises
        ------
        ShapeError
            For another number of values.
        ArgumentError
            For another kernel.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K.dot(np.ones(2))
        array([1., 1.])
        """
        return self._kernel_itself() @ other

    def matvec(self, x: ArrayLike) -> Any:
        """Multiplies the kernel with a vector, as SciPy's linear operators do.

        Parameters
        ----------
        x : array of shape (M,) or (M, 1)
            The vector, of any dtype of numbers.

        Returns
        -------
        array of shape (N,) or (N, 1)
            ``K @ x``.

        Raises
        ------
        ShapeError
            For another shape; a ``ValueError``.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K.matvec(np.ones(2))
        array([1., 1.])
        """
        return self._product("matvec", x, vectors=True)

    def matmat(self, x: ArrayLike) -> Any:
        """Multiplies the kernel with all columns of a matrix, in one pass.

        Parameters
        ----------
        x : array of shape (M, E)
            The columns, of any dtype of numbers.

        Returns
        -------
        array of shape (N, E)
            ``K @ x``.

        Raises
        ------
        ShapeError
            For another shape; a ``ValueError``.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K.matmat(np.eye(2))
        array([[0., 1.],
               [1., 0.]])
        """
        return self._product("matmat", x, vectors=False)

    def rmatvec(self, x: ArrayLike) -> Any:
        """Multiplies the conjugate transpose with a vector, as SciPy's do.

        Parameters
        ----------
        x : array of shape (N,) or (N, 1)
            The vector, of any dtype of numbers.

        Returns
        -------
        array of shape (M,) or (M, 1)
            ``K.H @ x``.

        Raises
        ------
        ShapeError
            For another shape; a ``ValueError``.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K.rmatvec(np.ones(2))
        array([1., 1.])
        """
        return self._product("rmatvec", x, vectors=True)

    def rmatmat(self, x: ArrayLike) -> Any:
        """Multiplies the conjugate transpose with all columns of a matrix.

        Parameters
        ----------
        x : array of shape (N, E)
            The columns, of any dtype of numbers.

        Returns
        -------
        array of shape (M, E)
            ``K.H @ x``, in one pass.

        Raises
        ------
        ShapeError
            For another shape; a ``ValueError``.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> K.rmatmat(np.eye(2))
        array([[0., 1.],
               [1., 0.]])
        """
        return self._product("rmatmat", x, vectors=False)

    def _product(self, name: str, x: Any, vectors: bool) -> Any:
        kernel = self._kernel_itself()
        if kernel.ndim != 2:
            _core.fail("KernelNotOperator", kernel.shape)
        adjoint = name.startswith("r")
        length = kernel.shape[0 if adjoint else 1]
        shape = tuple(x.shape if hasattr(x, "shape") else np.shape(x))
        if vectors and shape not in ((length,), (length, 1)):
            expected = f"({length},) or ({length}, 1)"
            _core.fail("KernelVectorShape", name, kernel.shape, shape, expected)
        if not vectors and (len(shape) != 2 or shape[0] != length):
            expected = f"({length}, E)"
            _core.fail("KernelVectorShape", name, kernel.shape, shape, expected)
        if not adjoint:
            return kernel @ x
        if not kernel._is_complex:
            return kernel.T @ x
        return _conjugate(kernel.T @ _conjugate(x))

    # ---- matrices -----------------------------------------------------------

    @property
    def H(self) -> Kernel:  # noqa: N802
        """The conjugate transpose, as a ``Kernel``; nothing is computed."""
        kernel = self._kernel_itself()
        if not kernel._is_complex:
            return kernel.T
        conjugate: Kernel = kernel.conj()
        return conjugate.T

    def adjoint(self) -> Kernel:
        """Makes the conjugate transpose, ``K.H``; nothing is computed.

        Returns
        -------
        Kernel
            Of shape (M, N): rows are the points of j, columns those of i.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=np.zeros(2), y=np.zeros(3))
        >>> K.adjoint().shape
        (3, 2)
        """
        return self.H

    def transpose(self) -> Kernel:
        """Makes the transpose, ``K.T``; nothing is computed.

        Returns
        -------
        Kernel
            Of shape (M, N): rows are the points of j, columns those of i.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - y_j|", x=np.zeros(2), y=np.zeros(3))
        >>> K.transpose().shape
        (3, 2)
        """
        return self._kernel_itself().T

    def trace(self) -> Any:
        """Sums the diagonal, in O(N) time and memory.

        Returns
        -------
        array or float
            One number, (); of batches, an array of their shape.

        Raises
        ------
        ShapeError
            Where the matrix is not square.

        Examples
        --------
        >>> K = tilefold.kernel("1 + |x_i - x_j|", x=np.zeros(3))
        >>> float(K.trace())
        3.0
        """
        kernel = self._kernel_itself()
        return reduced(kernel.diag(), "sum", len(kernel._pair.batch))

    # ---- SciPy's own --------------------------------------------------------

    def __aslinearoperator__(self) -> Any:
        """`tilefold.scipy.operator(K)`."""
        from tilefold.scipy import operator

        return operator(self._kernel_itself())

    def _joined(self, name: str, a: Any, b: Any) -> Any:
        """The sum, difference or product, where one is SciPy's; else None."""
        if not (is_linear_operator(a) or is_linear_operator(b)):
            return None
        left, right = (
            value.__aslinearoperator__() if value is self else value
            for value in (a, b)
        )
        if name == "matmul":
            return left @ right
        return left + right if name == "add" else left - right

    def _kernel_itself(self) -> Kernel:
        """The kernel that the methods are of."""
        raise NotImplementedError


def _conjugate(x: Any) -> Any:
    """Of an array of any library, or a list."""
    if hasattr(x, "conj"):
        return x.conj()
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().conj(x)
    return np.conj(x)
