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
    """A feature map whose inner products approximate a kernel.

    As scikit-learn's: `n_components` points of X are chosen, the same for the
    same `random_state`, and the features of x are K(x, c) K(c, c)^(-1/2)
    (Williams and Seeger, Using the Nystroem method to speed up kernel
    machines, 2001). `kernel` and its parameters are those of
    `tilefold.sklearn.KernelRidge`.

    `fit` sets `components_` (M, D), `component_indices_` (M,) and
    `normalization_` (M, M).
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
        """Chooses the points of X, of shape (N, D), and normalises them."""
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
        """Features (N, M) of points X (N, D)."""
        check_is_fitted(self)
        x = queries(self, X, "components_", "transform")
        matrix = self._kernel.matrix(
            x, self.components_, options_of(self.n_jobs)
        )
        return beside(matrix @ self.normalization_.T, x)


class NystroemRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge regression on some centres: the algorithm of FALKON.

    The function f = Σ_j k(·, c_j) a_j of `n_components` points c of X, chosen
    by `random_state`, has the least mean of w_i (f(x_i) - y_i)², plus alpha
    |f|²: `KernelRidge(alpha=N*alpha)` where all points are centres. Its
    normal equations are solved by conjugate gradients, preconditioned by
    Cholesky factors of the centres' block; a step takes one product with
    K(x, c) and one with its transpose, which are not stored (Rudi, Carratino
    and Rosasco, FALKON: an optimal large scale kernel method, 2017). Memory
    is O(N + M²), time O(N M) for each step.

    `kernel` and its parameters are those of `tilefold.sklearn.KernelRidge`.
    Steps end when the preconditioned residual is `tol` of what it was first,
    or after `max_iter`.

    `fit` sets `components_` (M, D), `component_indices_` (M,), `dual_coef_` a
    of shape (M,) or (M, E), `n_iter_` and `residual_`. Warns with
    scikit-learn's `ConvergenceWarning`.
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

        X has shape (N, D), y (N,) or (N, E), `sample_weight` (N,), or is one
        number. Points without weight are no centres.
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
        """Values (N,) or (N, E) of points X (N, D)."""
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
