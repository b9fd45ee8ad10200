# python_bindings/tilefold/linear_systems.py - systems whose matrix is a kernel.
"""`K.solve` and `K.logdet`, as methods of kernels."""

from __future__ import annotations

import warnings
from typing import Any

from tilefold import solve as systems
from tilefold.errors import ConvergenceWarning
from tilefold.frameworks import recording

__all__ = ["LinearSystems"]


class LinearSystems:
    """Those of a kernel of shape (N, N), symmetric or Hermitian.

    Which it is, is not checked.
    """

    __slots__ = ()

    def solve(
        self,
        b: Any,
        ridge: Any = 0.0,
        rtol: float = 1e-6,
        maxiter: int | None = None,
        preconditioner: str | None = "auto",
        info: bool = False,
        method: str = "cg",
        rank: int | None = None,
    ) -> Any:
        """Solves (K + ridge·I) x = b, for a symmetric or Hermitian K.

        b has shape (N,) or (N, E), and so has x; b may be a kernel of shape
        (N, E), and is an array of that shape then. b and K may be complex. K
        is square and symmetric, of complex values Hermitian, which is not
        checked. `method` is "cg", conjugate gradients, for a positive definite
        matrix; "minres", minimal residuals, for any symmetric one and a ridge
        of any sign; or "auto", the first until it meets an indefinite matrix,
        and then the second. An iteration takes one product with K, of all
        columns together; there are at most `maxiter` (min(10 N, 1000) unless
        given), until |b - (K + ridge·I) x| <= rtol |b| for each column.
        Vectors are kept in double precision.

        `preconditioner` is "cholesky" (of rows of K, chosen by pivoting;
        "pivoted_cholesky" is the same), "nystrom" (of rows spread evenly),
        None, or "auto": "cholesky" with "cg" for 500 points and more with a
        ridge, else None. Both suppose that K itself is positive, up to small
        eigenvalues. `rank` is the most rows that are taken; they are kept,
        8·N·rank bytes. None is 100, and of "cholesky" with "cg" more while
        iterations go so slowly that more rows save time: up to 16 √N, and
        256 MiB. `info=True` gives (x, info), a `tilefold.solve.SolveInfo`.

        Warns with `ConvergenceWarning` where the residual stays larger.
        PyTorch records it, for tensors that require grad. Raises
        `ShapeError`, `ArgumentError`.
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
        ridge: Any = 0.0,
        *,
        probes: int = 32,
        maxiter: int | None = None,
        preconditioner: str | None = "auto",
        seed: int = 0,
        info: bool = False,
    ) -> Any:
        """Log det(K + ridge·I), for a positive definite K + ridge·I.

        Below 2,000 points (1,000 of complex values) the matrix is factored by
        Cholesky's method: exact to rounding. From there on it is estimated by
        stochastic Lanczos quadrature: `probes` random vectors, the same for
        the same `seed`, and at most `maxiter` (200) products of K with all of
        them, until the quadrature leaves less than a tenth of what the probes
        do. `preconditioner` is that of `solve`; "auto" is "cholesky".

        `info=True` gives (value, info), a `tilefold.solve.LogdetInfo` with the
        standard error of the estimate. Warns with `ConvergenceWarning` where
        the quadrature leaves more, and where the matrix is not positive
        definite: the value is NaN then. PyTorch records it, for tensors that
        require grad. Raises `ShapeError`, `ArgumentError`.
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
        inv_quad_rhs: Any = None,
        logdet: bool = False,
        reduce_inv_quad: bool = True,
        *,
        ridge: Any = 0.0,
        rtol: float = 1e-6,
        maxiter: int | None = None,
        preconditioner: str | None = "auto",
        probes: int = 32,
        seed: int = 0,
        info: bool = False,
    ) -> Any:
        """(bᵀ (K + ridge·I)⁻¹ b, log det(K + ridge·I)), as linear_operator has.

        b, the `inv_quad_rhs`, has shape (N,) or (N, E); of E columns the first
        number is the sum, or has shape (E,) with `reduce_inv_quad=False`. What
        is not asked for is 0: the first without a b, the second without
        `logdet=True`. These are the terms of a Gaussian process's likelihood:

            quadratic, logdet = K.inv_quad_logdet(y, logdet=True, ridge=noise)
            loss = (quadratic + logdet + len(y) * np.log(2 * np.pi)) / 2

        `rtol` and `maxiter` are those of `solve`, the others those of
        `logdet`; `info=True` adds a `tilefold.solve.LogdetInfo`. Warns, is
        recorded and raises as those do.
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
