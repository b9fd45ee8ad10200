# python_bindings/tilefold/sklearn/mean_shift.py - clusters around modes.
"""`MeanShift`: all seeds climb at once, a step is one pass."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.cluster import get_bin_seeds
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from tilefold import compile as compiled
from tilefold.sklearn.library import (
    as_numpy,
    beside,
    floats,
    options_of,
    queries,
)
from tilefold.sklearn.pair_kernels import WeightKernel, read_weights

if TYPE_CHECKING:
    from typing import Self

    from tilefold import Options

__all__ = ["MeanShift"]

_KERNELS = {
    "flat": "where(|x_i - y_j|² <= h*h, 1, 0)",
    "gaussian": "exp(-|x_i - y_j|²/2h²)",
}


class MeanShift(ClusterMixin, BaseEstimator):
    """Clusters around the modes of a density.

    Each seed moves to the weighted mean of the points around it until it stays:
    D. Comaniciu and P. Meer, Mean shift: a robust approach toward feature space
    analysis, 2002.

    Parameters
    ----------
    bandwidth : float, optional
        The radius around a seed: the mean distance to the neighbour that 30% of
        the points are nearer than.
    kernel : str, default "flat"
        The weight of points: "flat", which is scikit-learn's, 1 within the
        bandwidth; "gaussian"; or a formula in x_i and y_j or a kernel of the
        catalogue, in which h and l are the bandwidth.
    kernel_params : dict, optional
        Other values of a formula.
    seeds : array of shape (n_seeds, n_features), optional
        Where it begins, floats: all points.
    bin_seeding : bool, default False
        Whether it begins at the cells of a grid that hold points.
    min_bin_freq : int, default 1
        How many points such a cell holds at least.
    cluster_all : bool, default True
        Whether points without a mode around them are of the nearest, or
        orphans.
    max_iter : int, default 300
        The most steps of a seed.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The modes, with most around them first.
    labels_ : array of shape (n_samples,), int64
        The mode of each point; -1 of orphans.
    n_iter_ : int
        How many steps were made.

    See Also
    --------
    KernelDensity : the density whose modes it finds.
    KMeans : with a number of clusters that is given.

    Examples
    --------
    >>> from tilefold.sklearn import MeanShift
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> MeanShift(bandwidth=2.0).fit(X).cluster_centers_
    array([[8.5],
           [0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "kernel": [str],
        "kernel_params": [dict, None],
        "seeds": ["array-like", None],
        "bin_seeding": ["boolean"],
        "min_bin_freq": [Interval(Integral, 1, None, closed="left")],
        "cluster_all": ["boolean"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        bandwidth: float | None = None,
        kernel: str = "flat",
        kernel_params: dict[str, Any] | None = None,
        seeds: Any = None,
        bin_seeding: bool = False,
        min_bin_freq: int = 1,
        cluster_all: bool = True,
        max_iter: int = 300,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.seeds = seeds
        self.bin_seeding = bin_seeding
        self.min_bin_freq = min_bin_freq
        self.cluster_all = cluster_all
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Finds the modes of points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The points, of floats.
        y : None
            Not read.

        Returns
        -------
        MeanShift
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and seeds of which none has a point around it.

        Examples
        --------
        >>> from tilefold.sklearn import MeanShift
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> MeanShift(bandwidth=2.0).fit(X).labels_
        array([1, 1, 0, 0])
        """
        x = validate_data(self, X, dtype=floats(X))
        options = options_of(self.n_jobs)
        width = self.bandwidth
        if width is None:
            width = _estimated_bandwidth(x, options)
        weights = read_weights(
            self.kernel, _KERNELS, self.kernel_params, width, x
        )
        modes, around, self.n_iter_ = self._climbed(
            x, self._first(x, width), weights, width
        )
        if not len(modes):
            raise ValueError(
                f"No point was within bandwidth={width:f} of any seed. Try a "
                "different seeding strategy or increase the bandwidth."
            )
        self.cluster_centers_ = beside(_distinct(modes, around, width), x)
        self.labels_ = self._labels(x)
        if not self.cluster_all:
            least = _NEAREST_DISTANCE(
                x=x, y=self.cluster_centers_, options=options
            )
            labels = as_numpy(self.labels_).copy()
            labels[as_numpy(least) > width] = -1
            self.labels_ = beside(labels, x)
        return self

    def _first(self, x: Any, width: float) -> Any:
        """The seeds, NumPy's."""
        if self.seeds is not None:
            return check_array(
                as_numpy(self.seeds), dtype=as_numpy(x[:1, :]).dtype
            )
        if self.bin_seeding:
            return get_bin_seeds(as_numpy(x), width, self.min_bin_freq)
        return as_numpy(x)

    def _climbed(
        self, x: Any, seeds: Any, weights: WeightKernel, width: float
    ) -> tuple[Any, Any, int]:
        """Where seeds end, what is around them there, and steps."""
        options = options_of(self.n_jobs)
        points = as_numpy(x)
        ones = np.ones((len(points), 1), points.dtype)
        with_ones = beside(np.concatenate([points, ones], axis=1), x)
        # 0 is what a seed is around that found nothing.
        at = seeds.astype(points.dtype)
        around = np.zeros(len(at))
        moving = np.arange(len(at))
        steps = -1
        while len(moving) and steps < self.max_iter:
            steps += 1
            pairs = weights.matrix(beside(at[moving], x), x, options)
            sums = as_numpy(pairs @ with_ones)
            total = sums[:, -1]
            around[moving] = total
            moving, sums = moving[total > 0], sums[total > 0]
            means = sums[:, :-1] / sums[:, -1:]
            shifts = np.linalg.norm(means - at[moving], axis=1)
            at[moving] = means
            moving = moving[shifts > 1e-3 * width]
        return at[around > 0], around[around > 0], steps

    def predict(self, X: Any) -> Any:
        """Finds the nearest mode of each point.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        array of shape (n_queries,), int64
            Numbers of modes.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import MeanShift
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> MeanShift(bandwidth=2.0).fit(X).predict([[2.0]])
        array([1])
        """
        check_is_fitted(self)
        return self._labels(queries(self, X, "cluster_centers_", "predict"))

    def _labels(self, x: Any) -> Any:
        return _NEAREST(
            x=x, y=self.cluster_centers_, options=options_of(self.n_jobs)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags


_NEAREST = compiled("argmin_j |x_i - y_j|²")
_NEAREST_DISTANCE = compiled("min_j |x_i - y_j|")
_QUANTILE = compiled("quantile_j(|x_i - x_j|, q)")


def _estimated_bandwidth(x: Any, options: Options | None) -> float:
    """The mean distance to the neighbour that 30% are nearer than."""
    samples = x.shape[0]
    count = max(1, int(samples * 0.3))
    level = (count - 1) / max(1, samples - 1)  # a point is its own first one
    return float(as_numpy(_QUANTILE(x=x, q=level, options=options)).mean())


def _distinct(modes: Any, around: Any, width: float) -> Any:
    """Modes farther than the bandwidth from all with more around them."""
    # By what is around, then by coordinates, as scikit-learn orders them.
    modes, first = np.unique(modes, axis=0, return_index=True)
    order = np.lexsort((*modes.T[::-1], around[first]))[::-1]
    left, kept = modes[order], []
    while len(left):
        kept.append(left[0])
        left = left[np.linalg.norm(left - left[0], axis=1) > width]
    return np.stack(kept)
