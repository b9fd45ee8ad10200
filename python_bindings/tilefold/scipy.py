# python_bindings/tilefold/scipy.py - kernels in scipy.sparse.linalg.
"""`operator`, `inverse` and `preconditioner`: what SciPy's solvers take.

    from scipy.sparse.linalg import cg, eigsh

    A = tilefold.scipy.operator(K)
    values, vectors = eigsh(A, k=6)
    x, info = cg(A.add_ridge(0.1), b, M=tilefold.scipy.preconditioner(K, 0.1))
    near, _ = eigsh(A, k=3, sigma=0.5,
                    OPinv=tilefold.scipy.inverse(K, -0.5, method="minres"))

A product is one pass over the pairs, of as many columns as there are, and N×M
numbers are never stored. SciPy is imported with this module: `tilefold[scipy]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.frameworks import unrecorded
from tilefold.namespaces import arrays_in
from tilefold.needed import require
from tilefold.operations import is_lazy_matrix

require("scipy")

from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator

if TYPE_CHECKING:
    from tilefold.kernel_matrix import Kernel
    from tilefold.lazy_value import Lazy

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["KernelOperator", "inverse", "operator", "preconditioner"]

_CPU = 1  # as DLPack numbers devices
_NARROW = ("float16", "bfloat16", "float32")
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_MOST_ELEMENTS = 1 << 25  # of a preconditioner: 256 MiB


def operator(K: Kernel | Lazy, dtype: Any = None) -> KernelOperator:  # noqa: N803
    """Makes the linear operator of a kernel, for SciPy's solvers.

    A product is one pass over the pairs, of as many columns as there are.

    Parameters
    ----------
    K : Kernel or Lazy
        Shape (N, M), of numbers; its arrays on the CPU, of any library.
    dtype : {"float32", "float64", "complex64", "complex128"}, optional
        What vectors are converted to, and results. Unless given, that of K @ v
        for v of the type that K computes in: float32 for kernels of that or
        less, else float64, and the complex ones. Complex vectors stay complex.

    Returns
    -------
    KernelOperator
        Of shape (N, M), a ``scipy.sparse.linalg.LinearOperator``.

    Raises
    ------
    ShapeError
        For batches and vectors.
    DeviceError
        For arrays of a device.
    ArgumentError
        For what is no kernel, and other dtypes.

    See Also
    --------
    inverse, preconditioner
    tilefold.Kernel.solve : systems without SciPy.

    Examples
    --------
    >>> from scipy.sparse.linalg import eigsh
    >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=np.linspace(0, 1, 50))
    >>> A = tilefold.scipy.operator(K)
    >>> values = eigsh(A, k=2, return_eigenvectors=False)
    >>> values.round(1)
    array([ 7. , 36.7])
    """
    return KernelOperator(_matrix(K), dtype)


def inverse(
    K: Kernel | Lazy,  # noqa: N803
    ridge: float = 0,
    **solve: Any,
) -> LinearOperator:
    """Makes the operator of ``(K + ridge·I)⁻¹``, by ``Kernel.solve``.

    The ``OPinv`` of ``eigsh`` and ``eigs`` for eigenvalues near ``sigma``:
    ``inverse(K, -sigma, method="minres")``.

    Parameters
    ----------
    K : Kernel or Lazy
        Shape (N, N), symmetric or Hermitian.
    ridge : float, default 0
        What is added to the diagonal.
    **solve : object
        Keywords of ``Kernel.solve``; unless given, ``rtol`` is 1e-12, of
        float32 kernels 1e-5, and ``method`` "auto".

    Returns
    -------
    LinearOperator
        Of shape (N, N); columns are solved for together.

    Raises
    ------
    ShapeError, DeviceError, ArgumentError
        As ``operator`` raises them.

    Warns
    -----
    ConvergenceWarning
        As ``Kernel.solve`` does.

    See Also
    --------
    tilefold.scipy.operator, preconditioner
    tilefold.Kernel.solve : what its products do.

    Examples
    --------
    >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=np.linspace(0, 1, 50))
    >>> b = tilefold.scipy.inverse(K, ridge=1.0) @ np.ones(50)
    >>> bool(np.allclose(K @ b + b, 1))
    True
    """
    kernel = _matrix(K)
    return _Inverse(kernel, ridge, solve)


def preconditioner(
    K: Kernel | Lazy,  # noqa: N803
    ridge: float,
    rank: int | None = None,
) -> LinearOperator:
    """Makes the ``M`` of SciPy's solvers for ``K + ridge·I``.

    It is ``(L Lᴴ + ridge·I)⁻¹`` with ``L Lᴴ ≈ K``, by Woodbury's formula: H.
    Harbrecht, M. Peters and R. Schneider, On the low-rank approximation by the
    pivoted Cholesky decomposition, 2012.

    Parameters
    ----------
    K : Kernel or Lazy
        Shape (N, N), positive definite, up to small eigenvalues.
    ridge : float
        What is added to the diagonal, above 0.
    rank : int, optional
        The most columns of L, from as many rows of K, chosen by pivoting. None
        is N/10 or 16 √N, what is less, but 100 at least, within 256 MiB; fewer
        where they leave a tenth of the ridge of the trace.

    Returns
    -------
    LinearOperator
        Of shape (N, N), with its ``rank``.

    Raises
    ------
    ShapeError
        Where K is not square.
    ArgumentError
        For a ridge that is not above 0, or a rank below 1.

    See Also
    --------
    tilefold.scipy.operator, inverse

    Examples
    --------
    >>> from scipy.sparse.linalg import cg
    >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=np.linspace(0, 1, 200))
    >>> A = tilefold.scipy.operator(K).add_ridge(0.1)
    >>> M = tilefold.scipy.preconditioner(K, 0.1)
    >>> x, info = cg(A, np.ones(200), M=M)
    >>> info
    0
    """
    kernel = _matrix(K)
    size = kernel.shape[0]
    if kernel.shape[0] != kernel.shape[1]:
        _core.fail("KernelNotSquare", kernel.shape)
    if not ridge > 0:
        cure = "pass a number above 0"
        _core.fail("BadOption", "ridge", repr(ridge), cure)
    if rank is None:
        rank = min(max(size // 10, 100), int(16 * size**0.5))
        rank = max(min(rank, _MOST_ELEMENTS // max(size, 1)), 1)
    elif rank < 1:
        cure = "pass a whole number, 1 or above"
        _core.fail("BadOption", "rank", repr(rank), cure)
    return _Preconditioner(kernel, ridge, min(rank, size))


class _TakesKernels(LinearOperator):
    """One of SciPy's, that takes a kernel for an operator in products, too.

    SciPy's own take for an array what is none of their class, and a kernel is
    none.
    """

    def dot(self, x: Any) -> Any:
        """Multiplies with an array, another operator, a kernel or a number.

        Parameters
        ----------
        x : array, LinearOperator, Kernel, Lazy or float
            An array of shape (M,) or (M, E), an operator or a kernel of shape
            (M, E).

        Returns
        -------
        array or LinearOperator
            Shape (N,) or (N, E), for an array; the operator of the product for
            all else.

        Raises
        ------
        ValueError
            For another number of rows.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> tilefold.scipy.operator(K).dot(K) @ np.array([1.0, 2.0])
        array([1., 2.])
        """
        is_operator = isinstance(x, LinearOperator)
        if not is_operator and hasattr(x, "__aslinearoperator__"):
            x = x.__aslinearoperator__()
        return super().dot(x)


class KernelOperator(_TakesKernels):
    """A kernel as one of SciPy's linear operators, made by ``operator``.

    Sums and products with kernels and SciPy's other operators are SciPy's.

    Parameters
    ----------
    kernel : Kernel
        Shape (N, M), of numbers.
    dtype : dtype, optional
        As ``operator`` takes it.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    passes : int
        How many passes over its pairs were made.

    See Also
    --------
    tilefold.scipy.operator : what makes one.

    Examples
    --------
    >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
    >>> A = tilefold.scipy.operator(K)
    >>> A @ np.ones(2), A.passes
    (array([1., 1.]), 1)
    """

    def __init__(self, kernel: Kernel, dtype: Any = None) -> None:
        own = _computing_dtype(kernel) if dtype is None else np.dtype(dtype)
        if own.name not in (*_COMPLEX, *_COMPLEX.values()):
            found = f"'{own.name}'"
            cure = "pass float32, float64, complex64 or complex128"
            _core.fail("BadOption", "dtype", found, cure)
        super().__init__(own, kernel.shape)
        self.kernel = kernel
        self.passes: int = 0

    def add_ridge(self, ridge: float) -> KernelOperator:
        """Makes the operator of ``K + ridge·I``, of one kernel still.

        Parameters
        ----------
        ridge : float or array
            What is added to the diagonal: a number, or shape (N,).

        Returns
        -------
        KernelOperator
            Of the same shape and dtype.

        Raises
        ------
        ShapeError
            Where an array has another length.

        Examples
        --------
        >>> K = tilefold.kernel("|x_i - x_j|", x=np.array([0.0, 1.0]))
        >>> tilefold.scipy.operator(K).add_ridge(2.0) @ np.ones(2)
        array([3., 3.])
        """
        return KernelOperator(self.kernel.add_diag(ridge), self.dtype)

    def _matvec(self, x: Array) -> Array:
        return self._product(self.kernel, x.reshape(-1))

    def _matmat(self, X: Array) -> Array:  # noqa: N803
        return self._product(self.kernel, X)

    def _rmatvec(self, x: Array) -> Array:
        return self._adjoint_product(x.reshape(-1))

    def _rmatmat(self, X: Array) -> Array:  # noqa: N803
        return self._adjoint_product(X)

    def _adjoint_product(self, x: Array) -> Array:
        if not self.kernel._is_complex:
            return self._product(self.kernel.T, x)
        found: Array = self._product(self.kernel.T, x.conj()).conj()
        return found

    def _product(self, kernel: Kernel, x: Array) -> Array:
        self.passes += 1
        given = np.asarray(x)
        name = self.dtype.name
        is_complex = np.iscomplexobj(given)
        dtype = np.dtype(_COMPLEX.get(name, name) if is_complex else name)
        with unrecorded():
            found = kernel @ given.astype(dtype, copy=False)
        result: Array = _as_numpy(found).astype(dtype, copy=False)
        return result

    def _adjoint(self) -> KernelOperator:
        return KernelOperator(self.kernel.H, self.dtype)

    def _transpose(self) -> KernelOperator:
        return KernelOperator(self.kernel.T, self.dtype)


class _Symmetric(_TakesKernels):
    """Of a Hermitian matrix, whose products are those of `_matmat`."""

    def _matvec(self, x: Array) -> Array:
        columns: Array = self._matmat(x.reshape(-1, 1))
        return columns.reshape(-1)

    def _rmatvec(self, x: Array) -> Array:
        return self._matvec(x)

    def _rmatmat(self, X: Array) -> Array:  # noqa: N803
        columns: Array = self._matmat(X)
        return columns

    def _adjoint(self) -> _Symmetric:
        return self


class _Inverse(_Symmetric):
    def __init__(
        self, kernel: Kernel, ridge: float, solve: dict[str, Any]
    ) -> None:
        dtype = _computing_dtype(kernel)
        rtol = 1e-5 if dtype.name in ("float32", "complex64") else 1e-12
        super().__init__(dtype, kernel.shape)
        self._kernel = kernel
        self._ridge = ridge
        self._solve = {"rtol": rtol, "method": "auto", **solve}

    def _matmat(self, X: Array) -> Array:  # noqa: N803
        with unrecorded():
            found = self._kernel.solve(
                np.asarray(X), self._ridge, **self._solve
            )
        return _as_numpy(found)


class _Preconditioner(_Symmetric):
    """By Woodbury's formula: (I - L (ridge + Lᴴ L)⁻¹ Lᴴ) / ridge."""

    def __init__(self, kernel: Kernel, ridge: float, rank: int) -> None:
        super().__init__(_computing_dtype(kernel), kernel.shape)
        self._ridge = ridge
        self._l = _pivoted_cholesky(kernel, ridge, rank)
        inner = self._l.conj().T @ self._l
        inner[np.diag_indices_from(inner)] += ridge
        self._inner = cho_factor(inner, lower=True)

    @property
    def rank(self) -> int:
        """How many rows of the kernel were taken."""
        return int(self._l.shape[1])

    def _matmat(self, X: Array) -> Array:  # noqa: N803
        inner = cho_solve(self._inner, self._l.conj().T @ X)
        found: Array = (X - self._l @ inner) / self._ridge
        return found


def _pivoted_cholesky(kernel: Kernel, ridge: float, rank: int) -> Array:
    """L of at most `rank` columns, in double precision."""
    single = _computing_dtype(kernel).name in ("float32", "complex64")
    with unrecorded():
        left = _as_numpy(kernel.diag()).real.astype(np.float64)
    noise = 4 * left.max() * np.finfo("float32" if single else "float64").eps
    kind = np.complex128 if kernel._is_complex else np.float64
    factor = np.zeros((len(left), rank), kind, order="F")
    for k in range(rank):
        pivot = int(left.argmax())
        largest = left[pivot]
        trace = left.clip(0).sum()
        if not (largest > noise and trace > 0.1 * ridge):
            return factor[:, :k]
        with unrecorded():
            column = _as_numpy(kernel[:, pivot]).astype(kind)
        known = factor[:, :k]
        column -= known @ known[pivot].conj()
        factor[:, k] = column / np.sqrt(largest)
        left -= np.abs(factor[:, k]) ** 2
        left[pivot] = 0
    return factor


def _matrix(value: Any) -> Kernel:
    """The kernel, of one matrix on the CPU."""
    kernel: Any = value._kernel() if is_lazy_matrix(value) else value
    if not hasattr(kernel, "__aslinearoperator__"):
        cure = "pass a tilefold.Kernel or a tilefold.Lazy"
        _core.fail("BadOption", "K", type(value).__name__, cure)
    if kernel.ndim != 2:
        _core.fail("KernelNotOperator", kernel.shape)
    for array in arrays_in(kernel._pair.arguments.values()):
        device = getattr(array, "__dlpack_device__", None)
        if device is not None and device()[0] != _CPU:
            _core.fail("KernelOperatorDevice", kernel.device)
    found: Kernel = kernel
    return found


def _computing_dtype(kernel: Kernel) -> np.dtype[Any]:
    """Of K @ v, for v of the type that the kernel computes in."""
    name = kernel._pair.dtype
    if kernel._is_complex:
        return np.dtype(name)
    return np.dtype("float32" if name in _NARROW else "float64")


def _as_numpy(array: Any) -> Array:
    """An array of any library, on the CPU."""
    if hasattr(array, "detach"):
        array = array.detach()
    if hasattr(array, "__array__") or not hasattr(array, "__dlpack__"):
        return np.asarray(array)
    return np.from_dlpack(array)
