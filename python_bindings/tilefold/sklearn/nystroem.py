# python_bindings/tilefold/sklearn/nystroem.py - kernels by some points.
"""`Nystroem`, a feature map, and `NystroemRidge`, ridge regression with one."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import check_random_state
from sklearn.utils._array_api import get_namespace_and_device
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from tilefold.sklearn.library import (
    as_numpy,
    beside,
    floats,
    options_of,
    queries,
)
from tilefold.sklearn.machines import (
    KERNEL_PARAMETERS,
    as_columns,
    kernel_of,
    training_data,
    warn_of_residual,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Nystroem", "NystroemRidge"]

_CENTRES = {"n_components": [Interval(Integral, 1, None, closed="left")]}


class Nystroem(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Maps points to features whose inner products approximate a kernel.

    The features of x are ``K(x, c) K(c, c)^(-1/2)`` for points c of X, the same
    as scikit-learn's for the same random_state: C. Williams and M. Seeger,
    Using the Nystroem method to speed up kernel machines, 2001.

    Parameters
    ----------
    kernel : str or callable, default "rbf"
        As ``KernelRidge`` takes it.
    gamma, degree, coef0 : float, optional
        Of scikit-learn's kernels.
    kernel_params : Mapping, optional
        Values of the other names of a formula.
    n_components : int, default 100
        M, the number of points that are chosen.
    random_state : int or RandomState, optional
        Where random numbers come from.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    components_ : array of shape (M, D)
        The points c.
    component_indices_ : array of shape (M,)
        Their numbers.
    normalization_ : array of shape (M, M)
        ``K(c, c)^(-1/2)``.

    See Also
    --------
    NystroemRidge : a ridge of such features, without storing them.

    Examples
    --------
    >>> from tilefold.sklearn import Nystroem
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> features = Nystroem(n_components=4, random_state=0).fit_transform(X)
    >>> bool(np.allclose((features**2).sum(axis=1), 1))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_PARAMETERS,
        **_CENTRES,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: Mapping[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Nystroem:  # noqa: ARG002
        """Chooses points, and normalises them.

        Parameters
        ----------
        X : array of shape (N, D)
            The points, of floats.
        y : None
            Not read.

        Returns
        -------
        Nystroem
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, and X that is no finite array of
            two dimensions.

        Examples
        --------
        >>> from tilefold.sklearn import Nystroem
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> Nystroem(n_components=2, random_state=0).fit(X).components_.shape
        (2, 1)
        """
        x = validate_data(self, X, dtype=floats(X))
        count = x.shape[0]
        if self.n_components > count:
            warnings.warn(
                f"n_components={self.n_components} is more than the {count} "
                "points there are: all of them are taken",
                UserWarning,
                stacklevel=2,
            )
        random = check_random_state(self.random_state)
        chosen = random.permutation(count)[: self.n_components]
        self.component_indices_ = beside(chosen, x)
        library = get_namespace_and_device(x)[0]
        self.components_ = library.take(x, self.component_indices_, axis=0)
        self._kernel = kernel_of(self, x)
        block = beside(self._kernel.matrix(self.components_).dense(), x)
        u, s, v = library.linalg.svd(block)
        self.normalization_ = u / library.clip(s, 1e-12, None) ** 0.5 @ v
        self._n_features_out = len(chosen)
        return self

    def transform(self, X: Any) -> Any:
        """Computes the features of points.

        Parameters
        ----------
        X : array of shape (N, D)
            The points, of floats.

        Returns
        -------
        array of shape (N, M)
            Features, of floats.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import Nystroem
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> Nystroem(n_components=2, random_state=0).fit(X).transform(X).shape
        (4, 2)
        """
        check_is_fitted(self)
        x = queries(self, X, "components_", "transform")
        matrix = self._kernel.matrix(
            x, self.components_, options_of(self.n_jobs)
        )
        return beside(matrix @ self.normalization_.T, x)


class NystroemRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Fits kernel ridge regression on some centres, as FALKON does.

    The function ``f = Σ_j k(·, c_j) a_j`` of points c of X has the least mean
    of ``w_i (f(x_i) - y_i)²``, plus ``alpha |f|²``:
    ``KernelRidge(alpha=N*alpha)`` where all points are centres. Memory is O(N +
    M²), time O(N M) for each step: A. Rudi, L. Carratino and L. Rosasco,
    FALKON: an optimal large scale kernel method, 2017. Warns with
    scikit-learn's ``ConvergenceWarning``.

    Parameters
    ----------
    n_components : int, default 1000
        M, the number of centres.
    alpha : float, default 1e-6
        The weight of the function's norm.
    kernel : str or callable, default "rbf"
        As ``KernelRidge`` takes it.
    gamma, degree, coef0 : float, optional
        Of scikit-learn's kernels.
    kernel_params : Mapping, optional
        Values of the other names of a formula.
    max_iter : int, default 20
        The most steps of conjugate gradients.
    tol : float, default 1e-7
        Ends when the preconditioned residual is this part of the first.
    random_state : int or RandomState, optional
        Where random numbers come from.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    components_ : array of shape (M, D)
        The centres c.
    component_indices_ : array of shape (M,)
        Their numbers.
    dual_coef_ : array of shape (M,) or (M, E)
        The coefficients a.
    n_iter_ : int
        How many steps were made.
    residual_ : float
        The last preconditioned residual, as a part of the first.

    See Also
    --------
    KernelRidge : the same with all points as centres.
    Nystroem : the features alone.

    Examples
    --------
    >>> from tilefold.sklearn import NystroemRidge
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = NystroemRidge(4, 1e-9, gamma=0.1).fit(X, X[:, 0])
    >>> model.predict(X).round(2)
    array([0., 1., 8., 9.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_PARAMETERS,
        **_CENTRES,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 1000,
        alpha: float = 1e-6,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        max_iter: int = 20,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
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
    ) -> NystroemRidge:
        """Chooses centres and finds their coefficients.

        Points without weight are no centres.

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
        NystroemRidge
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and y that is missing, not finite or of another length.

        Examples
        --------
        >>> from tilefold.sklearn import NystroemRidge
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> NystroemRidge(2, random_state=0).fit(X, X[:, 0]).dual_coef_.shape
        (2,)
        """
        x, y, weights = training_data(self, X, y, sample_weight)
        columns = as_columns(y)
        random = check_random_state(self.random_state)
        places = np.arange(x.shape[0])
        if weights is not None:
            places = np.flatnonzero(as_numpy(weights) > 0)
        chosen = random.permutation(places)[: self.n_components]
        self.component_indices_ = beside(chosen, x)
        library = get_namespace_and_device(x)[0]
        self.components_ = library.take(x, self.component_indices_, axis=0)
        self._kernel = kernel_of(self, x)
        found = self._solved(x, columns, weights)
        self.dual_coef_ = found if y.ndim == 2 else found[:, 0]
        return self

    def predict(self, X: Any) -> Any:
        """Computes the function at points.

        Parameters
        ----------
        X : array of shape (N, D)
            The points, of floats.

        Returns
        -------
        array of shape (N,) or (N, E)
            Values, of floats.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import NystroemRidge
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = NystroemRidge(4, 1e-9, gamma=0.1).fit(X, X[:, 0])
        >>> model.predict([[0.0]]).round(2)
        array([0.])
        """
        check_is_fitted(self)
        x = queries(self, X, "components_", "predict")
        options = options_of(self.n_jobs)
        matrix = self._kernel.matrix(x, self.components_, options)
        return beside(matrix @ self.dual_coef_, x)

    def _block(self) -> Any:
        """K(c, c) as NumPy's, in float64 whatever the points are."""
        centres = as_numpy(self.components_).astype(np.float64)
        return self._kernel.matrix(centres).dense()

    def _solved(self, x: Any, columns: Any, weights: Any) -> Any:
        """The coefficients (M, E) of right-hand sides (N, E)."""
        options = options_of(self.n_jobs)
        block = self._block()
        matrix = self._kernel.matrix(x, self.components_, options)
        total = float(x.shape[0] if weights is None else weights.sum())
        single = "float32" in str(x.dtype)
        dtype = np.float32 if single else np.float64
        factors = _Factors(block, self.alpha, float(np.finfo(dtype).eps))

        def weighed(values: Any) -> Any:
            return values if weights is None else values * weights[:, None]

        def transposed(values: Any) -> Any:
            return as_numpy(matrix.T @ weighed(values)) / total

        def product(vectors: Any) -> Any:
            """Of the preconditioned system."""
            inner = factors.solve_second(vectors)
            given = beside(factors.solve_first(inner).astype(dtype), x)
            outer = factors.solve_first_transposed(transposed(matrix @ given))
            return factors.solve_second_transposed(outer + self.alpha * inner)

        side = factors.solve_second_transposed(
            factors.solve_first_transposed(transposed(columns))
        )
        found, self.n_iter_, self.residual_ = _conjugate_gradients(
            product, side, self.tol, self.max_iter
        )
        if self.residual_ > self.tol:
            warn_of_residual(
                self,
                self.n_iter_,
                self.residual_,
                "raise max_iter, alpha, tol or n_components",
            )
        found = factors.solve_first(factors.solve_second(found))
        return beside(found.astype(dtype), x)


class _Factors:
    """FALKON's preconditioner, of the block K(c, c) of the centres.

    TᵀT is the block and AᵀA is T Tᵀ/M + alpha: with b = A T a, the normal
    equations of a are near the identity.
    """

    def __init__(self, block: Any, alpha: float, rounding: float) -> None:
        count = len(block)
        # What rounding of K(x, c) would drown is no direction of the space.
        jitter = rounding * count * (np.abs(block).max(initial=0) or 1.0)
        block.flat[:: count + 1] += jitter
        try:
            self._first = scipy.linalg.cholesky(block, check_finite=False)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "the kernel is not positive definite on the centres: take "
                "KernelRidge with solver='minres', or another kernel"
            ) from error
        second = scipy.linalg.lapack.dlauum(self._first)[0] / count  # T Tᵀ
        second.flat[:: count + 1] += alpha
        self._second = scipy.linalg.cholesky(second, check_finite=False)

    def solve_first(self, b: Any) -> Any:
        return _solved(self._first, b)

    def solve_second(self, b: Any) -> Any:
        return _solved(self._second, b)

    def solve_first_transposed(self, b: Any) -> Any:
        return _solved(self._first, b, "T")

    def solve_second_transposed(self, b: Any) -> Any:
        return _solved(self._second, b, "T")


def _solved(factor: Any, b: Any, transposed: str = "N") -> Any:
    return scipy.linalg.solve_triangular(
        factor, b, trans=transposed, check_finite=False
    )


def _conjugate_gradients(
    product: Callable[[Any], Any], side: Any, tol: float, max_iter: int
) -> tuple[Any, int, float]:
    """The solution, steps, and the largest residual beside its side.

    Of all columns of `side` together, in float64 (Hestenes and Stiefel,
    1952). A column that is done no longer moves.
    """
    solution, residual = np.zeros_like(side), side.copy()
    direction = residual.copy()
    squares = (residual**2).sum(0)
    norms = np.where(squares > 0, squares, 1)
    steps = 0
    while steps < max_iter and (squares > tol**2 * norms).any():
        steps += 1
        image = product(direction)
        curvature = (direction * image).sum(0)
        moves = (squares > tol**2 * norms) & (curvature > 0)
        if not moves.any():
            break
        length = np.where(moves, squares / np.where(moves, curvature, 1), 0)
        solution += length * direction
        residual -= length * image
        old, squares = squares, (residual**2).sum(0)
        ratio = np.where(moves, squares / np.where(old > 0, old, 1), 0)
        direction = residual + ratio * direction
    worst = float(np.sqrt(np.max(squares / norms, initial=0.0)))
    return solution, max(steps, 1), worst
