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
    from tilefold.kernel import Kernel

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

    def dot(self, other: Any) -> Any:
        """K @ other."""
        return self._kernel_itself() @ other

    def matvec(self, x: Any) -> Any:
        """K @ x: (N,) for x of shape (M,), (N, 1) for (M, 1).

        Raises `ShapeError`, a ValueError, for others.
        """
        return self._product("matvec", x, vectors=True)

    def matmat(self, x: Any) -> Any:
        """K @ x: (N, E) for x of shape (M, E), in one pass."""
        return self._product("matmat", x, vectors=False)

    def rmatvec(self, x: Any) -> Any:
        """K.H @ x: (M,) for x of shape (N,), (M, 1) for (N, 1)."""
        return self._product("rmatvec", x, vectors=True)

    def rmatmat(self, x: Any) -> Any:
        """K.H @ x: (M, E) for x of shape (N, E), in one pass."""
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
        """The conjugate transpose; nothing is computed."""
        kernel = self._kernel_itself()
        if not kernel._is_complex:
            return kernel.T
        conjugate: Kernel = kernel.conj()
        return conjugate.T

    def adjoint(self) -> Kernel:
        """The conjugate transpose: K.H."""
        return self.H

    def transpose(self) -> Kernel:
        """The transpose: K.T."""
        return self._kernel_itself().T

    def trace(self) -> Any:
        """The sum of the diagonal, in O(N)."""
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
