# python_bindings/tilefold/sklearn/kmeans.py - Lloyd's algorithm.
"""`KMeans`: a step is one pass over pairs and one over points."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from tilefold.sklearn.cluster_seeding import plus_plus
from tilefold.sklearn.library import (
    as_numpy,
    beside,
    floats,
    options_of,
    queries,
)
from tilefold.sklearn.metrics import Metric, read_metric

if TYPE_CHECKING:
    from typing import Self

    from tilefold import Options

__all__ = ["KMeans"]

_ROWS = 1 << 16  # points that are summed at once: bounds a copy in float64


class _Run(NamedTuple):
    """What one start came to; NumPy's arrays."""

    labels: Any
    inertia: float
    centers: Any
    iterations: int


class KMeans(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Clusters around means, by Lloyd's algorithm.

    Seeds, stopping, and what becomes of empty clusters are scikit-learn's: from
    one start both give the same labels. A step is one pass over pairs, which
    stores no matrix of them, and one over points.

    Parameters
    ----------
    n_clusters : int, default 8
        How many clusters.
    metric : str or callable, default "sqeuclidean"
        What is nearest: a name of scikit-learn's, a distance of tilefold's
        catalogue, a formula in x_i and y_j, or a Python function of two points,
        which is traced.
    metric_params : dict, optional
        Other arguments of the metric.
    init : {"k-means++", "random"}, array or callable, default "k-means++"
        The first means, floats of shape (n_clusters, n_features), or what makes
        them of X, n_clusters and random_state.
    n_init : int or "auto", default "auto"
        How many starts: 1, and 10 of random ones.
    max_iter : int, default 300
        The most steps of a start.
    tol : float, default 1e-4
        Ends when the means move by less than this part of the variance.
    random_state : int or RandomState, optional
        Where random numbers come from.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means. They minimise sums of squared Euclidean distances, and of
        Bregman divergences; with other metrics the inertia may rise.
    labels_ : array of shape (n_samples,), int64
        The mean of each point.
    inertia_ : float
        The sum of weighted distances.
    n_iter_ : int
        How many steps were made.

    See Also
    --------
    KMedoids : with points of the data as centres.
    MeanShift : with as many clusters as there are modes.

    Examples
    --------
    >>> from tilefold.sklearn import KMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = KMeans(2, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_, axis=0)
    array([[0.5],
           [8.5]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
        ],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "sqeuclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
    ) -> Self:
        """Finds the means of points.

        Warns with scikit-learn's ``ConvergenceWarning`` where fewer clusters
        than asked for are left.

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
        KMeans
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and fewer points than clusters.

        Examples
        --------
        >>> from tilefold.sklearn import KMeans
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KMeans(2, random_state=0).fit(X).inertia_
        1.0
        """
        x = validate_data(self, X, dtype=floats(X))
        if x.shape[0] < self.n_clusters:
            raise ValueError(
                f"n_samples={x.shape[0]} should be >= n_clusters="
                f"{self.n_clusters}."
            )
        weights = as_numpy(
            _check_sample_weight(sample_weight, x, dtype=x.dtype)
        )
        metric = read_metric(self.metric, x.shape[1], self.metric_params)
        random = check_random_state(self.random_state)
        start = self.init
        if not callable(start) and not isinstance(start, str):
            start = check_array(as_numpy(start), dtype=as_numpy(x).dtype)
            self._check_centers(start, x)
        lloyd = _Lloyd(x, weights, metric, options_of(self.n_jobs))
        tolerance = self.tol and self.tol * as_numpy(x).var(axis=0).mean()
        best: _Run | None = None
        for _ in range(self._starts()):
            centers = self._first_centers(x, start, weights, metric, random)
            run = lloyd.run(centers, self.max_iter, tolerance)
            if best is None or (
                run.inertia < best.inertia
                and not _is_same(run.labels, best.labels)
            ):
                best = run
        assert best is not None
        self._keep(best, metric, x)
        return self

    def _keep(self, best: _Run, metric: Metric, x: Any) -> None:
        distinct = len(np.unique(best.labels))
        if distinct < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({distinct}) found smaller than "
                f"n_clusters ({self.n_clusters}). Possibly due to duplicate "
                "points in X.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self._metric = metric
        self.cluster_centers_ = beside(best.centers, x)
        self.labels_ = beside(best.labels, x)
        self.inertia_ = best.inertia
        self.n_iter_ = best.iterations
        self._n_features_out = self.n_clusters

    def _starts(self) -> int:
        """How many there are; an array is one."""
        is_array = not callable(self.init) and not isinstance(self.init, str)
        if self.n_init == "auto":
            is_many = callable(self.init) or (
                isinstance(self.init, str) and self.init == "random"
            )
            return 10 if is_many else 1
        if is_array and self.n_init != 1:
            warnings.warn(
                "Explicit initial center position passed: performing only one "
                f"init in KMeans instead of n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=4,
            )
            return 1
        return int(self.n_init)

    def _first_centers(
        self, x: Any, start: Any, weights: Any, metric: Metric, random: Any
    ) -> Any:
        """Of shape (n_clusters, n_features), NumPy's."""
        count = self.n_clusters
        if callable(start):
            made = as_numpy(start(x, count, random_state=random))
            centers = check_array(made, dtype=as_numpy(x).dtype)
            self._check_centers(centers, x)
            return centers
        if not isinstance(start, str):
            return start
        if start == "random":
            chosen = random.choice(
                x.shape[0], size=count, replace=False, p=weights / weights.sum()
            )
        else:
            chosen = plus_plus(
                metric, x, count, weights, random, 1, options_of(self.n_jobs)
            )
        return as_numpy(x)[chosen]

    def _check_centers(self, centers: Any, x: Any) -> None:
        if centers.shape[0] != self.n_clusters:
            raise ValueError(
                f"The shape of the initial centers {centers.shape} does not "
                f"match the number of clusters {self.n_clusters}."
            )
        if centers.shape[1] != x.shape[1]:
            raise ValueError(
                f"The shape of the initial centers {centers.shape} does not "
                f"match the number of features of the data {x.shape[1]}."
            )

    def predict(self, X: Any) -> Any:
        """Finds the nearest mean of each point.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        array of shape (n_queries,), int64
            Numbers of means.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KMeans
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = KMeans(2, random_state=0).fit(X)
        >>> bool((model.predict(X) == model.labels_).all())
        True
        """
        check_is_fitted(self)
        x = queries(self, X, "cluster_centers_", "predict")
        return self._metric.reduce(
            "argmin_j(rank)", x, self.cluster_centers_, options_of(self.n_jobs)
        )

    def transform(self, X: Any) -> Any:
        """Computes distances to the means.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        array of shape (n_queries, n_clusters)
            By the metric; of "sqeuclidean" the Euclidean ones.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KMeans
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KMeans(2, random_state=0).fit_transform(X).min(axis=1)
        array([0.5, 0.5, 0.5, 0.5])
        """
        check_is_fitted(self)
        x = queries(self, X, "cluster_centers_", "transform")
        made = self._metric.distances(
            x, self.cluster_centers_, options_of(self.n_jobs)
        )
        return (made**0.5 if self.metric == "sqeuclidean" else made).dense()

    def score(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
    ) -> float:
        """Computes how well the means fit points: less the inertia.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.
        y : None
            Not read.
        sample_weight : array of shape (n_queries,), optional
            Weights of the points, floats: 1.

        Returns
        -------
        float
            Larger is better, at most 0.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KMeans
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KMeans(2, random_state=0).fit(X).score(X)
        -1.0
        """
        check_is_fitted(self)
        x = queries(self, X, "cluster_centers_", "score")
        weights = _check_sample_weight(sample_weight, x, dtype=x.dtype)
        lloyd = _Lloyd(
            x, as_numpy(weights), self._metric, options_of(self.n_jobs)
        )
        return -lloyd.inertia(as_numpy(self.cluster_centers_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags


class _Lloyd:
    """Points with weights and a metric; centres are NumPy's."""

    def __init__(
        self, x: Any, weights: Any, metric: Metric, options: Options | None
    ) -> None:
        self._x = x
        self._weights = np.asarray(weights, np.float64)
        self._metric = metric
        self._options = options
        self._points = as_numpy(x)

    def run(self, centers: Any, most: int, tolerance: float) -> _Run:
        """Steps until the labels stay, or the centres nearly do."""
        before = None
        labels = self._labels(centers)
        steps = 0
        while steps < most:
            steps += 1
            moved = self._means(centers, labels)
            shift = ((moved - centers) ** 2).sum()
            centers = moved
            if before is not None and np.array_equal(labels, before):
                break
            before, labels = labels, self._labels(centers)
            if shift <= tolerance:
                break
        return _Run(labels, self.inertia(centers), centers, steps)

    def inertia(self, centers: Any) -> float:
        """The sum of the weighted distances to the nearest centre."""
        least = as_numpy(self._reduce("min_j(rank)", centers))
        distances = self._metric.distance_of(least)
        return float((distances * self._weights).sum())

    def _reduce(self, skeleton: str, centers: Any) -> Any:
        return self._metric.reduce(
            skeleton, self._x, beside(centers, self._x), self._options
        )

    def _labels(self, centers: Any) -> Any:
        return as_numpy(self._reduce("argmin_j(rank)", centers))

    def _means(self, centers: Any, labels: Any) -> Any:
        sums = self._sums(labels, len(centers))
        totals = sums[:, -1]
        if (totals == 0).any():
            self._fill(sums, centers, labels)
        means = np.where(totals > 0, totals, 1)[:, None]
        means = (sums[:, :-1] / means).astype(centers.dtype)
        # What stays empty is put where the heaviest cluster is.
        means[totals <= 0] = means[totals.argmax()]
        return means

    def _sums(self, labels: Any, count: int) -> Any:
        """Of each cluster's points and of their weights, (K, D + 1), float64.

        Not over pairs: a product with a matrix of one number a point.
        """
        sums = np.zeros((count, self._points.shape[1] + 1))
        for first in range(0, len(labels), _ROWS):
            part = slice(first, first + _ROWS)
            weights = self._weights[part]
            ends = np.arange(len(weights) + 1)
            members = scipy.sparse.csc_array(
                (weights, labels[part], ends), shape=(count, len(weights))
            )
            sums[:, :-1] += members @ self._points[part]
            sums[:, -1] += np.bincount(labels[part], weights, count)
        return sums

    def _fill(self, sums: Any, centers: Any, labels: Any) -> None:
        """Gives each empty cluster one of the points that are farthest."""
        x = self._points
        empty = np.flatnonzero(sums[:, -1] == 0)
        far = ((x - centers[labels]) ** 2).sum(axis=1)
        if far.max() == 0:  # more clusters than different points
            return
        chosen = np.argpartition(far, -len(empty))[: -len(empty) - 1 : -1]
        for cluster, place in zip(empty, chosen, strict=True):
            moved = self._weights[place] * np.append(x[place], 1)
            sums[labels[place]] -= moved
            sums[cluster] = moved


def _is_same(labels: Any, others: Any) -> bool:
    """Whether two clusterings differ in the numbers of clusters alone."""
    both = np.stack([labels, others], axis=1)
    return len(np.unique(both, axis=0)) == len(np.unique(labels))
