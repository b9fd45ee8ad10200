# python_bindings/tilefold/sklearn/kernel_ridge.py - ridge regression.
"""`KernelRidge`, whose kernel matrix is solved with and not stored."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.base import (
    BaseEstimator,
    MultiOutputMixin,
    RegressorMixin,
    _fit_context,
)
from sklearn.utils._array_api import get_namespace_and_device
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tilefold import solve as systems
from tilefold.sklearn.library import as_numpy, beside, options_of, queries
from tilefold.sklearn.machines import (
    KERNEL_PARAMETERS,
    as_columns,
    kernel_of,
    training_data,
    warn_of_residual,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tilefold import Kernel

__all__ = ["KernelRidge"]

_CURE = "raise max_iter, alpha or tol"


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge regression, as scikit-learn's, without the matrix.

        model = KernelRidge(alpha=0.1, kernel="exp(-|x_i - y_j|²/2l²)",
                            kernel_params={"l": 0.5}).fit(X, y)

    The function f = Σ_j k(·, x_j) c_j has the least Σ_i w_i (f(x_i) - y_i)²
    + alpha |f|². Memory is O(N), time O(N²) for each iteration.

    alpha: a number, or an array (E,) of one for each target.
    kernel, gamma, degree, coef0, kernel_params: a name of scikit-learn's with
        gamma, degree and coef0; a name of tilefold's catalogue or a formula
        of two points, with values of its other names in `kernel_params`; a
        function of two points, which is traced; or a kernel of Gaussian
        processes.
    solver: "direct" makes the matrix and factors it, which is exact; "cg" is
        preconditioned conjugate gradients, for a positive definite kernel;
        "minres" minimal residuals, for any symmetric one. "auto" is the
        first up to `direct_below` points, else the second, and the third
        where that meets a kernel that is not positive definite, with a
        warning.
    tol, max_iter: an iteration ends when the residual is `tol` of the
        right-hand side, or after `max_iter` products (min(10 N, 1000)).
    preconditioner, rank: "auto", "cholesky", "nystrom" or None, and of how
        many rows; see `tilefold.Kernel.solve`.
    n_jobs: threads; None is what tilefold takes, -1 all processors.

    `fit` sets `dual_coef_` c of shape (N,) or (N, E), `X_fit_` (N, D),
    `n_iter_` (1 for a factorisation), `residual_`, the largest of |b - A c| /
    |b|, and `solver_`, which was taken. Arrays belong to the library of X.
    Warns with scikit-learn's `ConvergenceWarning`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_PARAMETERS,
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "solver": [StrOptions({"auto", "direct", "cg", "minres"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "preconditioner": [
            StrOptions({"auto", "cholesky", "pivoted_cholesky", "nystrom"}),
            None,
        ],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "direct_below": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: str | Callable[..., Any] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        preconditioner: str | None = "auto",
        rank: int | None = None,
        direct_below: int = 2000,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.preconditioner = preconditioner
        self.rank = rank
        self.direct_below = direct_below
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
    ) -> KernelRidge:
        """Finds the coefficients.

        X has shape (N, D), y (N,) or (N, E), `sample_weight` (N,), or is one
        number.
        """
        x, y, weights = training_data(self, X, y, sample_weight)
        columns = as_columns(y)
        alphas = self._penalties(columns.shape[1])
        self._kernel = kernel_of(self, x)
        matrix = self._kernel.matrix(x, options=options_of(self.n_jobs))
        roots = None
        if weights is not None:  # √w K √w is one formula
            roots = weights**0.5
            matrix = matrix * roots[:, None] * roots[None, :]
            columns = columns * roots[:, None]
        found = self._solved(matrix, columns, alphas)
        if roots is not None:
            found = found * roots[:, None]
        self.dual_coef_ = found if y.ndim == 2 else found[:, 0]
        self.X_fit_ = x
        return self

    def predict(self, X: Any) -> Any:
        """Values (N,) or (N, E) of points X (N, D)."""
        check_is_fitted(self)
        x = queries(self, X, "X_fit_", "predict")
        options = options_of(self.n_jobs)
        matrix = self._kernel.matrix(x, self.X_fit_, options)
        return beside(matrix @ self.dual_coef_, x)

    # ---- systems -------------------------------------------------------------

    def _penalties(self, targets: int) -> Any:
        """Alpha of each target: (E,)."""
        alphas = np.atleast_1d(np.asarray(self.alpha, np.float64))
        if alphas.shape not in ((1,), (targets,)):
            raise ValueError(
                "Number of targets and number of penalties do not correspond: "
                f"{targets} != {alphas.size}"
            )
        if not (alphas >= 0).all():
            raise ValueError(f"alpha must not be negative, got {self.alpha}")
        return np.broadcast_to(alphas, (targets,))

    def _solved(self, matrix: Kernel, columns: Any, alphas: Any) -> Any:
        """(K + alpha) c = b for each column b, those of one alpha at once."""
        self.solver_ = self.solver
        if self.solver == "auto":
            few = columns.shape[0] <= self.direct_below
            self.solver_ = "direct" if few else "cg"
        self.n_iter_, self.residual_ = 1, 0.0
        dense = matrix.dense() if self.solver_ == "direct" else None
        library = get_namespace_and_device(columns)[0]
        parts, places = [], []
        for alpha in np.unique(alphas):
            chosen = np.flatnonzero(alphas == alpha)
            sides = library.take(columns, beside(chosen, columns), axis=1)
            if dense is None:
                parts.append(self._iterated(matrix, sides, float(alpha)))
            else:
                parts.append(self._factored(dense, sides, float(alpha)))
            places.append(chosen)
        back = beside(np.argsort(np.concatenate(places)), columns)
        return library.take(library.concat(parts, axis=1), back, axis=1)

    def _factored(self, dense: Any, sides: Any, alpha: float) -> Any:
        """By Cholesky's method; by LDLᵀ of a matrix that is not positive."""
        matrix = as_numpy(dense).copy()
        matrix.flat[:: len(matrix) + 1] += alpha
        given = as_numpy(sides)
        found = _by("pos", matrix, given)
        if found is None:
            found = _by("sym", matrix, given)
        if found is None:
            warnings.warn(
                "Singular matrix in solving dual problem. Using least-squares "
                "solution instead.",
                UserWarning,
                stacklevel=4,
            )
            found = scipy.linalg.lstsq(matrix, given)[0]
        residual = _largest(given - matrix @ found, given)
        self.residual_ = max(self.residual_, residual)
        return beside(found, sides)

    def _iterated(self, matrix: Kernel, sides: Any, alpha: float) -> Any:
        """By products of the lazy matrix."""
        options = {
            "rtol": self.tol,
            "maxiter": self.max_iter,
            "preconditioner": self.preconditioner,
            "rank": self.rank,
            "method": self.solver_,
        }
        found, info, told = systems.solve(matrix, sides, alpha, options)
        is_indefinite = "not positive definite" in told
        if is_indefinite and self.solver == "auto":
            warnings.warn(
                f"the matrix of the kernel {self.kernel!r} is not positive "
                f"definite with alpha={alpha:g}: it is solved by "
                "solver='minres'",
                UserWarning,
                stacklevel=3,
            )
            self.solver_ = "minres"
            options |= {"method": "minres", "preconditioner": None}
            found, info, told = systems.solve(matrix, sides, alpha, options)
        self.n_iter_ = max(self.n_iter_, info.iterations)
        residual = float(np.max(info.residuals, initial=0.0))
        self.residual_ = max(self.residual_, residual)
        if not info.converged:
            cure = "pass solver='minres'" if is_indefinite else _CURE
            warn_of_residual(self, info.iterations, residual, cure)
        return beside(found, sides)


def _by(kind: str, matrix: Any, sides: Any) -> Any:
    """The solution by LAPACK's way for a kind of matrix; None: it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
        try:
            return scipy.linalg.solve(matrix, sides, assume_a=kind)
        except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            return None


def _largest(residuals: Any, sides: Any) -> float:
    """The largest of |r| / |b| of the columns."""
    norms = np.linalg.norm(sides, axis=0)
    sizes = np.linalg.norm(residuals, axis=0)
    return float(np.max(sizes / np.where(norms > 0, norms, 1), initial=0.0))
