# python_bindings/tilefold/sklearn/density.py - kernel density estimates.
"""`KernelDensity`: the density of points, exactly, in one pass."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import gammainc
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from tilefold.sklearn.library import (
    as_numpy,
    beside,
    floats,
    options_of,
    queries,
)
from tilefold.sklearn.metrics import read_metric
from tilefold.sklearn.pair_kernels import WeightKernel, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from tilefold import Kernel

__all__ = ["KernelDensity"]

# The logarithm of a kernel, or of a compact one the kernel itself, without
# its normalisation; d is the distance beside the bandwidth h, s its square.
_LOGARITHMS = {"gaussian": "-{s}/(2*{h}^2)", "exponential": "-{d}/{h}"}
_COMPACT = {
    "tophat": "where({d} < {h}, 1, 0)",
    "epanechnikov": "max(1 - {s}/{h}^2, 0)",
    "linear": "max(1 - {d}/{h}, 0)",
    # Near the bandwidth the cosine may round to less than 0.
    "cosine": "where({d} < {h}, max(cos(π*{d}/(2*{h})), 0), 0)",
}
_FORMS = {**_LOGARITHMS, **_COMPACT}
_EUCLIDEAN = {"d": "|x_i - y_j|", "s": "|x_i - y_j|²", "h": "h"}


class KernelDensity(BaseEstimator):
    """Estimates the density that points were drawn from.

    What is a formula is not normalised.

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman"}, default 1.0
        A number, or the rule of thumb that it comes from.
    kernel : str, default "gaussian"
        One of scikit-learn's ("gaussian", "tophat", "epanechnikov",
        "exponential", "linear", "cosine"), or a formula in x_i and y_j, or a
        kernel of tilefold's catalogue, in which h and l are the bandwidth.
    kernel_params : dict, optional
        Other values of a formula.
    metric : str or callable, default "euclidean"
        As ``NearestNeighbors`` takes it, of scikit-learn's kernels; what is
        normalised is the kernel of Euclidean distances, as scikit-learn does.
    metric_params : dict, optional
        Other arguments of the metric.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth that was taken.

    See Also
    --------
    MeanShift : the modes of a density.

    Examples
    --------
    >>> from tilefold.sklearn import KernelDensity
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = KernelDensity(bandwidth=1.0).fit(X)
    >>> model.score_samples([[0.5]]).round(3)
    array([-1.737])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scott", "silverman"}),
        ],
        "kernel": [str],
        "kernel_params": [dict, None],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        bandwidth: float | str = 1.0,
        kernel: str = "gaussian",
        kernel_params: dict[str, Any] | None = None,
        metric: str | Callable[..., Any] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
    ) -> Self:
        """Keeps the points and their weights.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The points, of floats.
        y : None
            Not read.
        sample_weight : array of shape (n_samples,), optional
            Weights of the points, floats: 1.

        Returns
        -------
        KernelDensity
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and negative weights or names of a formula without a
            value; for a metric that is none, or beside a formula.

        Examples
        --------
        >>> from tilefold.sklearn import KernelDensity
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> round(KernelDensity(bandwidth="scott").fit(X).bandwidth_, 3)
        0.758
        """
        x = validate_data(self, X, dtype=floats(X))
        samples, features = x.shape
        self.bandwidth_ = self.bandwidth
        if self.bandwidth == "scott":
            self.bandwidth_ = samples ** (-1 / (features + 4))
        elif self.bandwidth == "silverman":
            self.bandwidth_ = (samples * (features + 2) / 4) ** (
                -1 / (features + 4)
            )
        self._weights = None
        if sample_weight is not None:
            self._weights = beside(
                _check_sample_weight(
                    sample_weight, x, dtype=x.dtype, ensure_non_negative=True
                ),
                x,
            )
        self._fit_X = x
        self._pairs = read_weights(
            self.kernel,
            {name: form.format(**_EUCLIDEAN) for name, form in _FORMS.items()},
            self.kernel_params,
            float(self.bandwidth_),
            x,
        )
        if not self._is_euclidean:
            self._pairs = self._of_metric(x)
        return self

    @property
    def _is_euclidean(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "euclidean"

    def _of_metric(self, x: Any) -> WeightKernel:
        """The kernel of distances by another metric."""
        if self.kernel not in _FORMS:
            raise ValueError(
                f"the kernel {self.kernel!r} is a formula of two points, which "
                f"reads no metric: write the distance into it, or pass one of "
                f"{', '.join(_FORMS)}"
            )
        metric = read_metric(self.metric, x.shape[1], self.metric_params)
        metric.ranks(x[:1, :], x[:1, :])  # refuses what is no distance
        powers = {"d": f"({metric.power(1)})", "s": f"({metric.power(2)})"}
        formula = metric.around(
            _FORMS[self.kernel].format(**powers, h="of_bandwidth")
        )
        values = {"of_bandwidth": float(self.bandwidth_), **metric.parameters}
        return WeightKernel(formula, values, (metric.rows, metric.columns))

    def score_samples(self, X: Any) -> Any:
        """Computes the logarithm of the density at each point.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        array of shape (n_queries,)
            Of X's dtype; -inf where the density is 0.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity; and
            where the density is negative, which that of a formula may be.

        Examples
        --------
        >>> from tilefold.sklearn import KernelDensity
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KernelDensity().fit(X).score_samples(X).shape
        (4,)
        """
        check_is_fitted(self)
        x = queries(self, X, "_fit_X", "score_samples")
        pairs = self._pairs.matrix(x, self._fit_X, options_of(self.n_jobs))
        with np.errstate(divide="ignore"):
            if self.kernel in _LOGARITHMS:
                if self._weights is not None:
                    pairs = pairs + np.log(as_numpy(self._weights))
                logarithms = as_numpy(pairs.logsumexp(1))
            else:
                logarithms = np.log(self._densities(pairs))
        total = float(self._fit_X.shape[0])
        if self._weights is not None:
            total = float(as_numpy(self._weights).sum())
        norm = _log_norm(self.kernel, float(self.bandwidth_), x.shape[1])
        # Formulas of numbers alone, as that of "tophat", count in double.
        dtype = "float32" if "float32" in str(x.dtype) else "float64"
        found = logarithms - (norm + math.log(total))
        return beside(found.astype(dtype, copy=False), x)

    def _densities(self, pairs: Kernel) -> Any:
        """The sums of the kernel, NumPy's; none of them is negative."""
        weights = self._weights
        found = as_numpy(pairs.sum(1) if weights is None else pairs @ weights)
        below = int((found < 0).sum())
        if below:
            raise ValueError(
                f"the kernel {self.kernel!r} makes the density negative at "
                f"{below} of {len(found)} points, where it has no logarithm: "
                "take a kernel that is nowhere negative, as max(…, 0) of it is"
            )
        return found

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Computes the logarithm of the likelihood of all points.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.
        y : None
            Not read.

        Returns
        -------
        float
            The sum over the points.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            As ``score_samples``.

        Examples
        --------
        >>> from tilefold.sklearn import KernelDensity
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KernelDensity().fit(X).score(X) < 0
        True
        """
        return float(as_numpy(self.score_samples(X)).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draws points from the estimate.

        Parameters
        ----------
        n_samples : int, default 1
            How many.
        random_state : int or RandomState, optional
            Where random numbers come from.

        Returns
        -------
        array of shape (n_samples, n_features)
            Those of a seed are scikit-learn's.

        Raises
        ------
        NotImplementedError
            For kernels other than "gaussian" and "tophat", and other metrics
            than "euclidean".

        Examples
        --------
        >>> from tilefold.sklearn import KernelDensity
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KernelDensity().fit(X).sample(5, random_state=0).shape
        (5, 1)
        """
        check_is_fitted(self)
        if self.kernel not in ("gaussian", "tophat"):
            raise NotImplementedError(
                f"no points are drawn from the kernel {self.kernel!r}: take "
                "'gaussian' or 'tophat'"
            )
        if not self._is_euclidean:
            raise NotImplementedError(
                f"points are drawn by Euclidean distances, and the metric is "
                f"{self.metric!r}: fit another estimate with "
                "metric='euclidean'"
            )
        points = as_numpy(self._fit_X)
        random = check_random_state(random_state)
        uniform = random.uniform(0, 1, size=n_samples)
        if self._weights is None:
            chosen = (uniform * len(points)).astype(np.int64)
        else:
            below = np.cumsum(as_numpy(self._weights).astype(np.float64))
            chosen = np.searchsorted(below, uniform * below[-1])
        if self.kernel == "gaussian":
            drawn = random.normal(points[chosen], self.bandwidth_)
            return beside(np.atleast_2d(drawn), self._fit_X)
        # Normal points, moved along their rays so that they fill a ball.
        features = points.shape[1]
        normal = random.normal(size=(n_samples, features))
        squares = (normal**2).sum(axis=1)
        reach = gammainc(0.5 * features, 0.5 * squares) ** (1 / features)
        moved = normal * (reach * self.bandwidth_ / np.sqrt(squares))[:, None]
        return beside(points[chosen] + moved, self._fit_X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags


def _log_norm(kernel: str, h: float, d: int) -> float:
    """The logarithm of a kernel's integral over points of d components.

    The volume of the ball and the area of its sphere times the integral of
    the kernel along a ray; 0 for a formula.
    """
    ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
    sphere = math.log(d) + ball
    if kernel == "gaussian":
        factor = 0.5 * d * math.log(2 * math.pi)
    elif kernel == "tophat":
        factor = ball
    elif kernel == "epanechnikov":
        factor = ball + math.log(2 / (d + 2))
    elif kernel == "exponential":
        factor = sphere + math.lgamma(d)
    elif kernel == "linear":
        factor = ball - math.log(d + 1)
    elif kernel == "cosine":
        factor = sphere + math.log(_cosine_moment(d))
    else:
        return 0.0
    return factor + d * math.log(h)


def _cosine_moment(d: int) -> float:
    """∫ r^(d - 1) cos(π r/2) dr from 0 to 1, by the cosine's series.

    By parts it would lose its digits, as scikit-learn's does; what that takes
    in its place is wrong where d is even.
    """
    moment, term = 0.0, 1.0
    for k in range(0, 30, 2):
        moment += term / (d + k)
        term *= -((math.pi / 2) ** 2) / ((k + 1) * (k + 2))
    return moment
