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
    """Fits kernel ridge regression, without the matrix of the kernel.

    The function ``f = Σ_j k(·, x_j) c_j`` has the least ``Σ_i w_i (f(x_i) -
    y_i)² + alpha |f|²``. Memory is O(N), time O(N²) for each iteration. Warns
    with scikit-learn's ``ConvergenceWarning``.

    Parameters
    ----------
    alpha : float or array of shape (E,), default 1
        The weight of the function's norm; one for each target.
    kernel : str or callable, default "linear"
        A name of scikit-learn's; a name of tilefold's catalogue or a formula of
        two points; a function of two points, which is traced; or a kernel of
        Gaussian processes.
    gamma, degree, coef0 : float, optional
        Of scikit-learn's kernels.
    kernel_params : Mapping, optional
        Values of the other names of a formula.
    solver : {"auto", "direct", "cg", "minres"}, default "auto"
        "direct" makes the matrix and factors it, which is exact; "cg" is
        preconditioned conjugate gradients, for a positive definite kernel;
        "minres" minimal residuals, for any symmetric one. "auto" is the first
        up to ``direct_below`` points, else the second, and the third where that
        meets a kernel that is not positive definite, with a warning.
    tol : float, default 1e-6
        Ends when the residual is this part of the right-hand side.
    max_iter : int, optional
        The most products: ``min(10 N, 1000)``.
    preconditioner, rank : optional
        As of ``tilefold.Kernel.solve``.
    direct_below : int, default 2000
        Up to how many points the matrix is factored.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    dual_coef_ : array of shape (N,) or (N, E)
        The coefficients c, in the library of X.
    X_fit_ : array of shape (N, D)
        The points.
    n_iter_ : int
        Of the solver; 1 for a factorisation.
    residual_ : float
        The largest of ``|b - A c| / |b|``.
    solver_ : str
        Which was taken.

    See Also
    --------
    NystroemRidge : the same with fewer centres than points.
    GaussianProcessRegressor : with variances of predictions.

    Examples
    --------
    >>> from tilefold.sklearn import KernelRidge
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = KernelRidge(1e-3, kernel="exp(-|x_i - y_j|²/2l²)",
    ...                     kernel_params={"l": 1.0})
    >>> model.fit(X, [0.0, 1.0, 8.0, 9.0]).predict(X).round(1)
    array([0., 1., 8., 9.])
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

        Parameters
        ----------
        X : array of shape (N, D)
            The points, of floats.
        y : array of shape (N,) or (N, E)
            Their targets, of any real dtype.
        sample_weight : float or array of shape (N,), optional
            Weights of the points, floats: 1.

        Returns
        -------
        KernelRidge
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and y that is missing, not finite or of another length;
            and for a formula that is none of two points, or lacks values.

        Examples
        --------
        >>> from tilefold.sklearn import KernelRidge
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KernelRidge().fit(X, X[:, 0]).dual_coef_.shape
        (4,)
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
        """Computes the function at points.

        Parameters
        ----------
        X : array of shape (M, D)
            The points, of floats.

        Returns
        -------
        array of shape (M,) or (M, E)
            Values, of floats.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KernelRidge
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KernelRidge(1e-6).fit(X, X[:, 0]).predict([[2.0]]).round(3)
        array([2.])
        """
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
            may_change = is_indefinite and self.solver_ != "minres"
            cure = "pass solver='minres'" if may_change else _CURE
            if "is not symmetric" in told:
                cure = (
                    "the kernel is not symmetric: write one in which the two "
                    "points may change places"
                )
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
