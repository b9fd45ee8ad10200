# python_bindings/tilefold/linear_systems.py - systems whose matrix is a kernel.
"""`K.solve` and `K.logdet`, as methods of kernels."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tilefold import solve as systems
from tilefold.errors import ConvergenceWarning
from tilefold.frameworks import recording

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike

__all__ = ["LinearSystems"]


class LinearSystems:
    """Those of a kernel of shape (N, N), symmetric or Hermitian.

    A matrix that is neither is told where a solve fails, and has no log
    determinant.
    """

    __slots__ = ()

    def solve(
        self,
        b: ArrayLike,
        ridge: ArrayLike = 0.0,
        rtol: float = 1e-6,
        maxiter: int | None = None,
        preconditioner: str | None = "auto",
        info: bool = False,
        method: str = "cg",
        rank: int | None = None,
    ) -> Any:
        """Solves ``(K + ridge·I) x = b`` for a symmetric or Hermitian K.

        An iteration takes one product with K, of all columns together, and
        vectors are kept in double precision. Whether K is symmetric, of
        complex values Hermitian, is looked at where the solve fails. PyTorch
        records the solution of tensors that require grad, and ``torch.func``
        transforms it.

        Parameters
        ----------
        b : array or Kernel
            Shape (N,) or (N, E), real or complex.
        ridge : float, default 0.0
            What is added to the diagonal, in the units of K.
        rtol : float, default 1e-6
            Ends where ``|b - (K + ridge·I) x| <= rtol |b|`` for each column.
        maxiter : int, optional
            The most iterations: ``min(10 N, 1000)``.
        preconditioner : {"auto", "cholesky", "nystrom", None}, default "auto"
            "cholesky" is of rows chosen by pivoting ("pivoted_cholesky" is the
            same), "nystrom" of rows spread evenly: both for a K that is
            positive, up to small eigenvalues. "auto" is "cholesky" with "cg"
            for 500 points and more with a ridge, else None. Over Dask's arrays
            "nystrom" is in the place of "cholesky".
        info : bool, default False
            Whether to give ``(x, info)``, a ``tilefold.solve.SolveInfo``.
        method : {"cg", "minres", "auto"}, default "cg"
            Conjugate gradients, for a positive definite matrix; minimal
            residuals, for any symmetric one and a ridge of any sign; or the
            first until it meets an indefinite matrix, and then the second.
        rank : int, optional
            The most rows of the preconditioner, of 8 N bytes each. None is 100,
            and of "cholesky" with "cg" more while iterations go slowly: up to
            16 √N, and 256 MiB.

        Returns
        -------
        array
            x, of the shape and library of b.

        Raises
        ------
        ShapeError
            Where K is not square, or b has another length.
        ArgumentError
            For other settings.

        Warns
        -----
        ConvergenceWarning
            Where a residual stays larger.

        See Also
        --------
        logdet, tilefold.scipy.operator

        Examples
        --------
        >>> x = np.linspace(0.0, 1.0, 50)
        >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=x)
        >>> solution = K.solve(np.sin(x), ridge=0.1)
        >>> residual = K @ solution + 0.1 * solution - np.sin(x)
        >>> bool(np.abs(residual).max() < 1e-5)
        True
        """
        kernel: Any = self
        options = {
            "rtol": rtol,
            "maxiter": maxiter,
            "preconditioner": preconditioner,
            "method": method,
            "rank": rank,
        }
        if hasattr(b, "dense") and hasattr(b, "diag"):
            b = b.dense()  # as large as the solution
        library = recording([b, ridge, *kernel._pair.arguments.values()])
        solver = library or systems
        x, found, warning = solver.solve(kernel, b, ridge, options)
        if warning:
            warnings.warn(warning, ConvergenceWarning, stacklevel=2)
        return (x, found) if info else x

    def logdet(
        self,
        ridge: ArrayLike = 0.0,
        *,
        probes: int = 32,
        maxiter: int | None = None,
        preconditioner: str | None = "auto",
        seed: int = 0,
        info: bool = False,
    ) -> Any:
        """Computes ``log det(K + ridge·I)`` of a positive definite matrix.

        Below 2,000 points (1,000 of complex values) the matrix is factored by
        Cholesky's method: exact to rounding. From there on it is estimated by
        stochastic Lanczos quadrature: S. Ubaru, J. Chen and Y. Saad, Fast
        estimation of tr(f(A)) via stochastic Lanczos quadrature, 2017. PyTorch
        records it, and ``torch.func`` transforms it; JAX traces it. Their
        derivatives are estimated, too: those by every point are noisy.

        Parameters
        ----------
        ridge : float, default 0.0
            What is added to the diagonal, in the units of K.
        probes : int, default 32
            Random vectors, at least 2; the same for the same seed (and chunks).
        maxiter : int, optional
            The most products of K with all of them: 200. It ends where the
            quadrature leaves less than a tenth of what the probes do.
        preconditioner : {"auto", "cholesky", "nystrom", None}, default "auto"
            As of ``solve``; "auto" is "cholesky", and "nystrom" over Dask's
            arrays or where JAX traces.
        seed : int, default 0
            Of the random vectors.
        info : bool, default False
            Whether to give ``(value, info)``, a ``tilefold.solve.LogdetInfo``
            with the standard error of the estimate.

        Returns
        -------
        float
            Of the arrays' library; NaN where the matrix is not symmetric, or
            not positive definite.

        Raises
        ------
        ShapeError
            Where K is not square.
        ArgumentError
            For other settings.

        Warns
        -----
        ConvergenceWarning
            Where the quadrature leaves more, or the matrix is not symmetric,
            or not positive definite.

        Examples
        --------
        >>> x = np.array([0.0, 9.0])
        >>> K = tilefold.kernel("exp(-|x_i - x_j|²)", x=x)
        >>> round(float(K.logdet(ridge=1.0)), 6)
        1.386294
        """
        options = {
            "probes": probes,
            "maxiter": maxiter,
            "preconditioner": preconditioner,
            "seed": seed,
        }
        _, value, found, warning = _inv_quad_logdet(
            self, None, ridge, {}, options
        )
        if warning:
            warnings.warn(warning, ConvergenceWarning, stacklevel=2)
        return (value, found) if info else value

    def inv_quad_logdet(
        self,
        inv_quad_rhs: ArrayLike | None = None,
        logdet: bool = False,
        reduce_inv_quad: bool = True,
        *,
        ridge: ArrayLike = 0.0,
        rtol: float = 1e-6,
        maxiter: int | None = None,
        preconditioner: str | None = "auto",
        probes: int = 32,
        seed: int = 0,
        info: bool = False,
    ) -> Any:
        """Computes ``bᵀ (K + ridge·I)⁻¹ b`` and ``log det(K + ridge·I)``.

        The terms of a Gaussian process's likelihood, under the name and with
        the arguments that linear_operator has. PyTorch records both.

        Parameters
        ----------
        inv_quad_rhs : array, optional
            b, of shape (N,) or (N, E) and a real dtype; without it the first
            term is 0.
        logdet : bool, default False
            Whether the second term is computed; else it is 0.
        reduce_inv_quad : bool, default True
            Whether the first term is the sum over columns, or has shape (E,).
        ridge : float, default 0.0
            What is added to the diagonal, in the units of K.
        rtol, maxiter : float and int
            As of ``solve``.
        preconditioner : {"auto", "cholesky", "nystrom", None}, default "auto"
            As of ``solve``.
        probes, seed : int
            As of ``logdet``.
        info : bool, default False
            Whether a ``tilefold.solve.LogdetInfo`` is added.

        Returns
        -------
        tuple of float
            Both terms, of the arrays' library.

        Raises
        ------
        ShapeError
            Where K is not square, or b has another length.
        ArgumentError
            For other settings.

        Warns
        -----
        ConvergenceWarning
            As ``solve`` and ``logdet`` do.

        Examples
        --------
        >>> x = np.linspace(0.0, 1.0, 20)
        >>> K = tilefold.kernel("exp(-|x_i - x_j|)", x=x)
        >>> y = np.sin(x)
        >>> quadratic, logdet = K.inv_quad_logdet(y, logdet=True, ridge=0.1)
        >>> loss = (quadratic + logdet + len(y) * np.log(2 * np.pi)) / 2
        >>> bool(np.isfinite(loss))
        True
        """
        solving = {
            "rtol": rtol,
            "maxiter": maxiter,
            "preconditioner": preconditioner,
            "method": "cg",
            "rank": None,
        }
        options = {
            "probes": probes,
            "maxiter": maxiter,
            "preconditioner": preconditioner,
            "seed": seed,
        }
        quadratic, value, found, warning = _inv_quad_logdet(
            self, inv_quad_rhs, ridge, solving, options if logdet else None
        )
        if reduce_inv_quad:
            quadratic = quadratic.sum()
        if warning:
            warnings.warn(warning, ConvergenceWarning, stacklevel=2)
        terms = quadratic, value
        return (*terms, found) if info else terms


def _inv_quad_logdet(
    kernel: Any,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> tuple[Any, Any, Any, str]:
    """By columns, the value, how it went, and what to warn of."""
    library = recording([side, ridge, *kernel._pair.arguments.values()])
    solver = library or systems
    return solver.inv_quad_logdet(kernel, side, ridge, solving, options)
