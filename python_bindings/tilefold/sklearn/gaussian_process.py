# python_bindings/tilefold/sklearn/gaussian_process.py - regression of many
# points.
"""`GaussianProcessRegressor`, exact for few points, by products for many."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.optimize
from sklearn import gaussian_process as theirs
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import (
    _num_samples,
    check_is_fitted,
    validate_data,
)

from tilefold.sklearn.covariance import read_covariance
from tilefold.sklearn.likelihood import System

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sklearn.gaussian_process.kernels import Kernel

    from tilefold.sklearn.likelihood import Likelihood

__all__ = ["GaussianProcessRegressor"]

# Points whose variances are computed at once: columns of a solve.
_BLOCK = 256
# Samples are drawn of a matrix that is positive but for rounding.
_OF_COVARIANCES = {"float64": 1e-10, "float32": 1e-5}
_FLOATS = [np.float64, np.float32]
# Attributes that only a fit of few points, or only one of many, has.
_OF_A_FIT = ("L_", "_fit_alpha", "_seed")


class GaussianProcessRegressor(theirs.GaussianProcessRegressor):
    """Fits a Gaussian process, as scikit-learn's, to many points, too.

    Up to ``direct_below`` points it is scikit-learn's, to the last bit. Beyond,
    no matrix is stored: the mean is a solution by conjugate gradients; standard
    deviations and covariances (to 1e-10) are solutions for 256 points at a
    time; the log marginal likelihood is estimated by stochastic Lanczos
    quadrature, and its gradient by as many vectors. Warns with scikit-learn's
    ``ConvergenceWarning``.

    Parameters
    ----------
    kernel : Kernel, optional
        Made of ``FormulaKernel`` and of scikit-learn's kernels: RBF, Matern (of
        ν = 1/2, 3/2, 5/2 and ∞), RationalQuadratic, ExpSineSquared, DotProduct,
        ConstantKernel, WhiteKernel, PairwiseKernel, and their sums, products
        and powers; up to ``direct_below`` points any.
    alpha : float or array of shape (N,), default 1e-10
        What is added to the diagonal.
    optimizer : str, callable or None, default "fmin_l_bfgs_b"
        What maximises the likelihood; None learns nothing.
    n_restarts_optimizer : int, default 0
        How many times more it begins.
    normalize_y : bool, default False
        Whether targets are scaled to mean 0 and variance 1.
    copy_X_train : bool, default True
        Whether the points are copied.
    n_targets : int, optional
        How many targets samples of the prior have.
    direct_below : int, default 2000
        Up to how many points it is scikit-learn's.
    tol : float, default 1e-4
        The residual of the mean, as a part of the right-hand side.
    probes : int, default 16
        Random vectors of the likelihood's estimate.
    lanczos : int, default 64
        Steps of Lanczos' method for each.
    random_state : int or RandomState, optional
        Where random numbers come from.

    Attributes
    ----------
    log_marginal_likelihood_value_ : float
        That of the hyperparameters that were learned.
    lml_error_ : float
        Its standard error, 0 where it is exact. There is no ``L_`` beyond
        ``direct_below`` points.

    See Also
    --------
    FormulaKernel : a covariance of any formula.
    KernelRidge : the same predictions without their variances.

    Examples
    --------
    >>> from tilefold.sklearn import GaussianProcessRegressor
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> from tilefold.sklearn import FormulaKernel
    >>> kernel = FormulaKernel("exp(-|x_i - y_j|²/2l²)", l=1.0)
    >>> model = GaussianProcessRegressor(kernel, optimizer=None)
    >>> model.fit(X, np.sin(X[:, 0])).predict(X[:1]).round(3) + 0.0
    array([0.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **theirs.GaussianProcessRegressor._parameter_constraints,
        "direct_below": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "probes": [Interval(Integral, 2, None, closed="left")],
        "lanczos": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: Any = 1e-10,
        optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        direct_below: int = 2000,
        tol: float = 1e-4,
        probes: int = 16,
        lanczos: int = 64,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            alpha=alpha,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            normalize_y=normalize_y,
            copy_X_train=copy_X_train,
            n_targets=n_targets,
            random_state=random_state,
        )
        self.direct_below = direct_below
        self.tol = tol
        self.probes = probes
        self.lanczos = lanczos

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Learns the hyperparameters, and the weights of the points.

        Parameters
        ----------
        X : array of shape (N, D)
            The points, of floats.
        y : array of shape (N,) or (N, T)
            Their targets, of any real dtype.

        Returns
        -------
        GaussianProcessRegressor
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and y that is missing, not finite or of another length.
        LinAlgError
            Where the covariance is not positive definite.

        Examples
        --------
        >>> from tilefold.sklearn import GaussianProcessRegressor
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = GaussianProcessRegressor(optimizer=None).fit(X, X[:, 0])
        >>> model.alpha_.shape
        (4,)
        """
        self._covariance = None
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)
        if _num_samples(X) <= self.direct_below:
            super().fit(X, y)
            self.lml_error_ = 0.0
            return self
        self.kernel_ = (
            ConstantKernel() * RBF()
            if self.kernel is None
            else clone(self.kernel)
        )
        self._covariance = read_covariance(self.kernel_)
        self._rng = check_random_state(self.random_state)
        self._seed = int(self._rng.randint(2**31 - 1))
        self._read(X, y)
        self._learn()
        found = self._likelihood(self.kernel_, with_gradient=False)
        targets = self.y_train_.reshape(len(self.y_train_), -1)
        weights, told = self._system(self.kernel_).solve(targets, self.tol)
        if "not symmetric" in f"{told} {found.warning}":
            raise np.linalg.LinAlgError(
                f"the covariance of {self.kernel_} is not symmetric: write a "
                "kernel in which the two points may change places"
            )
        if "not positive definite" in f"{told} {found.warning}":
            raise np.linalg.LinAlgError(
                f"the covariance of {self.kernel_} is not positive definite "
                "with this alpha: raise alpha, or take another kernel"
            )
        self.log_marginal_likelihood_value_ = found.value
        self.lml_error_ = found.error
        self.alpha_ = weights.reshape(self.y_train_.shape)
        if told or found.warning:
            warnings.warn(
                f"{type(self).__name__}: {told or found.warning}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False
    ) -> Any:
        """Computes the mean at points, and how far it may be off.

        Parameters
        ----------
        X : array of shape (M, D)
            The points, of floats.
        return_std : bool, default False
            Whether to give standard deviations, too.
        return_cov : bool, default False
            Whether to give covariances, too; not both.

        Returns
        -------
        array of shape (M,) or (M, T), or a tuple
            The mean; with standard deviations of that shape, or covariances (M,
            M) or (M, M, T).

        Raises
        ------
        ValueError
            For X of another number of features, and with NaN or infinity.
        RuntimeError
            For return_std and return_cov together.

        Examples
        --------
        >>> from tilefold.sklearn import GaussianProcessRegressor
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = GaussianProcessRegressor(optimizer=None).fit(X, X[:, 0])
        >>> mean, std = model.predict(X, return_std=True)
        >>> std.shape
        (4,)
        """
        if getattr(self, "_covariance", None) is None:
            return super().predict(X, return_std, return_cov)
        if return_std and return_cov:
            raise RuntimeError(
                "At most one of return_std or return_cov can be requested."
            )
        check_is_fitted(self)
        x = validate_data(self, X, dtype=_FLOATS, reset=False)
        system = self._system(self.kernel_)
        mean = system.cross(x) @ self.alpha_
        mean = self._y_train_std * mean + self._y_train_mean
        mean = mean[:, 0] if mean.ndim > 1 and mean.shape[1] == 1 else mean
        if return_cov:
            spread = system.covariances(x)
            tol = min(self.tol, _OF_COVARIANCES[x.dtype.name])
            for part, explained in self._explained(system, x, tol):
                spread[:, part] -= system.cross(x) @ explained
            return mean, self._scaled((spread + spread.T) / 2)
        if not return_std:
            return mean
        variances = system.variances(x)
        for part, explained in self._explained(system, x, self.tol):
            known = system.cross(x[part]).dense()
            variances[part] -= np.einsum("ij,ji->i", known, explained)
        if (variances < 0).any():
            warnings.warn(
                "Predicted variances smaller than 0. Setting those variances "
                "to 0.",
                UserWarning,
                stacklevel=2,
            )
            variances[variances < 0] = 0.0
        return mean, np.sqrt(self._scaled(variances))

    def log_marginal_likelihood(
        self,
        theta: Any = None,
        eval_gradient: bool = False,
        clone_kernel: bool = True,
    ) -> Any:
        """Computes the log marginal likelihood of the data that were fitted.

        Parameters
        ----------
        theta : array of shape (n_dims,), optional
            Logarithms of the hyperparameters, floats: those that were learned.
        eval_gradient : bool, default False
            Whether to give the gradient, too.
        clone_kernel : bool, default True
            Whether the kernel is left as it is.

        Returns
        -------
        float or tuple
            The value; with its gradient, of shape (n_dims,).

        Raises
        ------
        AttributeError
            Before ``fit``.
        ValueError
            For another number of hyperparameters, and a gradient without theta.

        Examples
        --------
        >>> from tilefold.sklearn import GaussianProcessRegressor
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = GaussianProcessRegressor(optimizer=None).fit(X, X[:, 0])
        >>> bool(np.isfinite(model.log_marginal_likelihood()))
        True
        """
        if theta is None or getattr(self, "_covariance", None) is None:
            return super().log_marginal_likelihood(
                theta, eval_gradient, clone_kernel
            )
        kernel = self.kernel_
        if clone_kernel:
            kernel = kernel.clone_with_theta(theta)
        else:
            kernel.theta = theta
        found = self._likelihood(kernel, with_gradient=eval_gradient)
        if not np.isfinite(found.value):
            nothing = np.zeros_like(theta)
            return (-np.inf, nothing) if eval_gradient else -np.inf
        return (found.value, found.gradient) if eval_gradient else found.value

    # ---- many points ---------------------------------------------------------

    def _read(self, X: Any, y: Any) -> None:
        """Validates the training data, and normalises the targets."""
        x, y = validate_data(
            self, X, y, dtype=_FLOATS, multi_output=True, y_numeric=True
        )
        seen = y.shape[1] if y.ndim > 1 else 1
        if self.n_targets is not None and seen != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the "
                f"parameter `n_targets`. Got {seen} != {self.n_targets}."
            )
        if np.ndim(self.alpha) and self.alpha.shape not in ((1,), (len(y),)):
            raise ValueError(
                "alpha must be a scalar or an array with same number of "
                f"entries as y. ({self.alpha.shape[0]} != {len(y)})"
            )
        # The weights that are learned belong to this alpha, and variances to
        # these weights, whatever the parameter is set to later.
        self._fit_alpha = np.array(self.alpha, np.float64)
        y = y.astype(x.dtype)
        self._y_train_mean = np.zeros(seen if y.ndim > 1 else 1)
        self._y_train_std = np.ones_like(self._y_train_mean)
        if self.normalize_y:
            scaler = StandardScaler().fit(y.reshape(len(y), -1))
            shape = y.shape[1:]
            self._y_train_mean = scaler.mean_.reshape(shape)
            self._y_train_std = scaler.scale_.reshape(shape)
            y = ((y - self._y_train_mean) / self._y_train_std).astype(x.dtype)
        self.X_train_ = x.copy() if self.copy_X_train else x
        self.y_train_ = y.copy() if self.copy_X_train else y

    def _learn(self) -> None:
        """Sets the kernel's theta where the likelihood is largest."""
        if self.optimizer is None or self.kernel_.n_dims == 0:
            return

        def objective(theta: Any, eval_gradient: bool = True) -> Any:
            found = self.log_marginal_likelihood(
                theta, eval_gradient, clone_kernel=False
            )
            return (-found[0], -found[1]) if eval_gradient else -found

        bounds = self.kernel_.bounds
        starts = [self.kernel_.theta]
        if self.n_restarts_optimizer > 0 and not np.isfinite(bounds).all():
            raise ValueError(
                "Multiple optimizer restarts (n_restarts_optimizer>0) requires "
                "that all bounds are finite."
            )
        starts += [
            self._rng.uniform(bounds[:, 0], bounds[:, 1])
            for _ in range(self.n_restarts_optimizer)
        ]
        optima = [
            self._constrained_optimization(objective, start, bounds)
            for start in starts
        ]
        self.kernel_.theta = min(optima, key=itemgetter(1))[0]
        self.kernel_._check_bounds_params()

    def _constrained_optimization(
        self, obj_func: Any, initial_theta: Any, bounds: Any
    ) -> Any:
        """The best theta, and the objective there."""
        if self._covariance is None or callable(self.optimizer):
            return super()._constrained_optimization(
                obj_func, initial_theta, bounds
            )
        # Estimates of the value and of the gradient have errors of their own,
        # so that a line search may end without a step where these are as
        # large: that is where the optimum is, as far as can be told.
        found = scipy.optimize.minimize(
            obj_func, initial_theta, method="L-BFGS-B", jac=True, bounds=bounds
        )
        if found.status == 1:
            warnings.warn(
                f"lbfgs failed to converge: {found.message}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return found.x, found.fun

    def _system(self, kernel: Kernel) -> System:
        covariance = self._covariance or read_covariance(kernel)
        return System(covariance, kernel, self.X_train_, self._fit_alpha)

    def _likelihood(self, kernel: Kernel, with_gradient: bool) -> Likelihood:
        return self._system(kernel).likelihood(
            self.y_train_.reshape(len(self.y_train_), -1),
            tol=self.tol,
            probes=self.probes,
            lanczos=self.lanczos,
            seed=self._seed,
            with_gradient=with_gradient,
        )

    def _explained(
        self, system: System, points: Any, tol: float
    ) -> Iterator[tuple[slice, Any]]:
        """A⁻¹ K(X, x) of some points x after the others: (N, 256)."""
        for first in range(0, len(points), _BLOCK):
            part = slice(first, first + _BLOCK)
            known = system.cross(points[part]).dense()
            found, told = system.solve(np.ascontiguousarray(known.T), tol)
            if told:
                warnings.warn(
                    f"{type(self).__name__}: {told}",
                    ConvergenceWarning,
                    stacklevel=3,
                )
            yield part, found

    def _scaled(self, variances: Any) -> Any:
        """In units of y: of each target, where there are several."""
        squares = np.ravel(self._y_train_std**2)
        if len(squares) == 1:
            return variances * squares[0]
        return variances[..., None] * squares
