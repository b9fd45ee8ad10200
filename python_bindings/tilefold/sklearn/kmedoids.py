# python_bindings/tilefold/sklearn/kmedoids.py - clusters around points.
"""`KMedoids`: an update meets the pairs within each cluster, in one pass."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from tilefold import Ranges
from tilefold.sklearn.cluster_seeding import plus_plus
from tilefold.sklearn.library import (
    as_numpy,
    beside,
    floats,
    options_of,
    queries,
)
from tilefold.sklearn.metrics import read_metric

if TYPE_CHECKING:
    from typing import Self

__all__ = ["KMedoids"]


class KMedoids(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Clusters around points of the data, by any metric.

    Steps alternate: each point goes to the nearest medoid, and the medoid
    becomes the point of the cluster whose weighted distances to the others have
    the least sum: H.-S. Park and C.-H. Jun, A simple and fast algorithm for
    K-medoids clustering, 2009. Of equal ones the first is taken.

    Parameters
    ----------
    n_clusters : int, default 8
        How many clusters.
    metric : str or callable, default "euclidean"
        A name of scikit-learn's, a distance of tilefold's catalogue, a formula
        in x_i and y_j, or a Python function of two points, which is traced.
    metric_params : dict, optional
        Other arguments of the metric.
    init : {"k-medoids++", "random"} or array, default "k-medoids++"
        The first medoids, floats of shape (n_clusters, n_features), or the
        numbers of n_clusters points, integers of shape (n_clusters,).
    max_iter : int, default 300
        The most steps.
    random_state : int or RandomState, optional
        Where random numbers come from.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    medoid_indices_ : array of shape (n_clusters,), int64
        The numbers of the medoids.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The medoids.
    labels_ : array of shape (n_samples,), int64
        The medoid of each point.
    inertia_ : float
        The sum of weighted distances.
    n_iter_ : int
        How many steps were made.

    See Also
    --------
    KMeans : with means as centres.

    Examples
    --------
    >>> from tilefold.sklearn import KMedoids
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = KMedoids(2, random_state=0).fit(X)
    >>> model.inertia_
    2.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "init": [StrOptions({"k-medoids++", "random"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "k-medoids++",
        max_iter: int = 300,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
    ) -> Self:
        """Finds the medoids of points.

        Warns with scikit-learn's ``ConvergenceWarning`` where ``max_iter``
        steps do not do, or clusters are left empty.

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
        KMedoids
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and fewer points than clusters.

        Examples
        --------
        >>> from tilefold.sklearn import KMedoids
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KMedoids(2, random_state=0).fit(X).labels_.shape
        (4,)
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
        self._metric = read_metric(self.metric, x.shape[1], self.metric_params)
        medoids = self._first_medoids(x, weights)
        has_ended = False
        steps = 0
        while steps < self.max_iter and not has_ended:
            steps += 1
            labels = as_numpy(self._nearest(x, self._taken(x, medoids)))
            moved = self._medoids(x, weights, labels, medoids)
            has_ended = np.array_equal(moved, medoids)
            medoids = moved
        self.cluster_centers_ = self._taken(x, medoids)
        self.medoid_indices_ = beside(medoids, x)
        self.labels_ = self._nearest(x, self.cluster_centers_)
        self.inertia_ = self._inertia(x, weights)
        self.n_iter_ = steps
        self._n_features_out = self.n_clusters
        self._warn(has_ended)
        return self

    def _warn(self, has_ended: bool) -> None:
        distinct = len(np.unique(as_numpy(self.labels_)))
        text = ""
        if distinct < self.n_clusters:
            text = (
                f"Number of distinct clusters ({distinct}) found smaller than "
                f"n_clusters ({self.n_clusters}). Possibly due to duplicate "
                "points in X."
            )
        elif not has_ended:
            text = (
                f"the medoids still moved after max_iter={self.max_iter} "
                "steps; raise it"
            )
        if text:
            warnings.warn(text, ConvergenceWarning, stacklevel=4)

    def _first_medoids(self, x: Any, weights: Any) -> Any:
        """Numbers of points, NumPy's."""
        count, samples = self.n_clusters, x.shape[0]
        random = check_random_state(self.random_state)
        if not isinstance(self.init, str):
            chosen = np.asarray(self.init)
            is_known = chosen.dtype.kind in "iu" and chosen.shape == (count,)
            if not is_known or (chosen < 0).any() or (chosen >= samples).any():
                raise ValueError(
                    f"init must be {count} numbers of points, from 0 to "
                    f"{samples - 1}, but got {chosen!r}"
                )
            return chosen.astype(np.int64)
        if self.init == "random":
            return random.choice(
                samples, size=count, replace=False, p=weights / weights.sum()
            )
        return plus_plus(
            self._metric, x, count, weights, random, 2, options_of(self.n_jobs)
        )

    def _taken(self, x: Any, places: Any) -> Any:
        return beside(as_numpy(x)[places], x)

    def _nearest(self, x: Any, medoids: Any) -> Any:
        return self._metric.reduce(
            "argmin_j(rank)", x, medoids, options_of(self.n_jobs)
        )

    def _medoids(self, x: Any, weights: Any, labels: Any, medoids: Any) -> Any:
        """Of each cluster, the point with the least sum of distances."""
        # Sorted by cluster, the pairs within clusters are blocks.
        order = np.argsort(labels, kind="stable")
        numbers, starts = np.unique(labels[order], return_index=True)
        bounds = np.append(starts, len(order))
        blocks = Ranges(bounds, bounds, np.eye(len(numbers), dtype=bool))
        points = self._taken(x, order)
        sums = self._metric.reduce(
            f"sum_j(of_weight_j*{self._metric.power(1)})",
            points,
            points,
            options_of(self.n_jobs),
            ranges=blocks,
            of_weight=beside(weights[order], x),
        )
        sums = as_numpy(sums)
        moved = medoids.copy()
        for number, first, last in zip(
            numbers, bounds[:-1], bounds[1:], strict=True
        ):
            moved[number] = order[first + sums[first:last].argmin()]
        return moved

    def _inertia(self, x: Any, weights: Any) -> float:
        least = self._metric.reduce(
            "min_j(rank)", x, self.cluster_centers_, options_of(self.n_jobs)
        )
        distances = self._metric.distance_of(as_numpy(least))
        return float((distances * weights).sum())

    def predict(self, X: Any) -> Any:
        """Finds the nearest medoid of each point.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        array of shape (n_queries,), int64
            Numbers of medoids.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KMedoids
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = KMedoids(2, random_state=0).fit(X)
        >>> bool((model.predict(X) == model.labels_).all())
        True
        """
        check_is_fitted(self)
        x = queries(self, X, "cluster_centers_", "predict")
        return self._nearest(x, self.cluster_centers_)

    def transform(self, X: Any) -> Any:
        """Computes distances to the medoids.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        array of shape (n_queries, n_clusters)
            By the metric.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KMedoids
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KMedoids(2, random_state=0).fit(X).transform(X).shape
        (4, 2)
        """
        check_is_fitted(self)
        x = queries(self, X, "cluster_centers_", "transform")
        return self._metric.distances(
            x, self.cluster_centers_, options_of(self.n_jobs)
        ).dense()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags
