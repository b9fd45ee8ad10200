# python_bindings/tilefold/sklearn/radius_predict.py - predictions from the
# points within a radius.
"""Classifiers and regressors by the points within a radius.

Votes are one pass that sums what each point has to say; lists of neighbours
are made only for weights that are a Python function.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import (
    _fit_context,
)
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tilefold.sklearn.library import as_numpy, beside, options_of
from tilefold.sklearn.neighbors import RadiusNeighborsSearch
from tilefold.sklearn.predictors import CONSTRAINTS, Classifier, Regressor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scipy.sparse import csr_matrix

__all__ = ["RadiusNeighborsClassifier", "RadiusNeighborsRegressor"]

_TARGETS = 64  # targets that one pass sums
_LISTED = 2**21  # neighbours that are listed at once
_RADIUS = {"radius": [Interval(Real, 0, None, closed="both")]}


class _Within(RadiusNeighborsSearch):
    """The points within the radius, and what each of them counts."""

    def _sums(self, x: Any, targets: Any, method: str) -> tuple[Any, Any, Any]:
        """Weighted sums of targets within the radius of each query.

        Targets have shape (n_samples, E), NumPy's. Those of float32 are summed
        in the points' dtype, others in float64. Returns sums (n_queries, E),
        sums of the weights (n_queries,), and whether there are neighbours at
        all.
        """
        queried = self._queries(x, method)
        # Large targets, such as times, have digits that float32 points lack.
        if targets.dtype != np.float32:
            targets = targets.astype(np.float64)
        ones = np.ones((len(targets), 1), targets.dtype)
        with_ones = np.concatenate([targets, ones], axis=1)
        if x is None or callable(self.weights):
            return self._sums_of_lists(queried, with_ones, x is None)
        ranks, limit = self._ranks(queried), self._metric.rank_of(self.radius)
        if self.weights == "distance":
            distances = self._metric.distances(
                queried, self._fit_X, options_of(self.n_jobs)
            )
            inside = np.logical_and(ranks <= limit, ranks > 0)
            sums = self._product(np.where(inside, 1 / distances, 0), with_ones)
            there = self._product(ranks == 0, with_ones)
            # Points at no distance, where there are any, are all that count.
            some = there[:, -1] > 0
            sums[some] = there[some]
        else:
            sums = self._product(ranks <= limit, with_ones)
        return sums[:, :-1], sums[:, -1], sums[:, -1] > 0

    def _product(self, weights: Any, targets: Any) -> Any:
        """Weights, a lazy (n_queries, n_samples), times targets."""
        parts = []
        for first in range(0, targets.shape[1], _TARGETS):
            part = np.ascontiguousarray(targets[:, first : first + _TARGETS])
            product = weights @ beside(part, self._fit_X)
            parts.append(as_numpy(product).astype(np.float64))
        return np.concatenate(parts, axis=1)

    def _sums_of_lists(
        self, queried: Any, targets: Any, is_without_itself: bool
    ) -> tuple[Any, Any, Any]:
        """The same from lists of neighbours, some rows at a time."""
        limit = self._metric.rank_of(self.radius)
        counts = as_numpy((self._ranks(queried) <= limit).count(1))
        parts = np.cumsum(counts) // _LISTED
        sums, is_near = [], []
        for part in np.unique(parts):
            rows = np.flatnonzero(parts == part)
            first, last = int(rows[0]), int(rows[-1]) + 1
            graph = self._within_rows(queried[first:last, :], self.radius, True)
            if is_without_itself:
                graph = _without(graph, first)
            is_near.append(np.diff(graph.indptr) > 0)
            graph.data = self._weights_of(graph)
            sums.append(graph @ targets.astype(np.float64))
        joined = np.concatenate(sums)
        return joined[:, :-1], joined[:, -1], np.concatenate(is_near)

    def _weights_of(self, graph: csr_matrix) -> Any:
        """Of the distances in a graph; a function is given lists of them."""
        distances = graph.data
        if self.weights in (None, "uniform"):
            return np.ones(distances.shape)
        if callable(self.weights):
            lists = np.empty(graph.shape[0], dtype=object)
            lists[:] = np.split(distances, graph.indptr[1:-1])
            return np.concatenate(list(self.weights(lists)))
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        at = distances == 0
        some = np.bincount(rows[at], minlength=graph.shape[0])[rows] > 0
        with np.errstate(divide="ignore"):
            return np.where(some, at, 1 / distances)


class RadiusNeighborsClassifier(_Within, Classifier):
    """Predicts the label that most of the points within a radius have.

    A function of weights is given an array of arrays of distances.

    Parameters
    ----------
    radius : float, default 1.0
        The largest distance that is near, in the units of the metric.
    weights : {"uniform", "distance"} or callable, default "uniform"
        How votes count: alike, by 1/distance, or by what a function makes of an
        array of distances, NumPy's.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default "auto"
        Read for the sake of scikit-learn's programs, and without effect: every
        pair is looked at.
    leaf_size : int, default 30
        Likewise.
    metric : str or callable, default "minkowski"
        As ``NearestNeighbors`` takes it.
    p : float, default 2
        The exponent of "minkowski".
    metric_params : dict, optional
        Other arguments of the metric.
    outlier_label : object, optional
        What queries without neighbours are given: a label, a list of one for
        each output, or "most_frequent"; None refuses them.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of arrays
        The labels, of each output.

    See Also
    --------
    KNeighborsClassifier, RadiusNeighborsRegressor, NearestNeighbors

    Examples
    --------
    >>> from tilefold.sklearn import RadiusNeighborsClassifier
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = RadiusNeighborsClassifier(2.0).fit(X, [0, 0, 1, 1])
    >>> model.predict([[2.0]])
    array([0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        **_RADIUS,
        "outlier_label": [Integral, str, "array-like", None],
    }

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float | None = 2,
        outlier_label: Any = None,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Keeps points and their labels.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The points, of floats.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Their labels.

        Returns
        -------
        RadiusNeighborsClassifier
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and y that is missing, not finite or of another length.

        Examples
        --------
        >>> from tilefold.sklearn import RadiusNeighborsClassifier
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> RadiusNeighborsClassifier(2.0).fit(X, [0, 0, 1, 1]).classes_
        array([0, 1])
        """
        self._fit_labels(X, y)
        self.outlier_label_ = _outlier_labels(self.outlier_label, self._outputs)
        return self

    def predict(self, X: Any) -> Any:
        """Predicts labels of points.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), or None
            The points that are asked about, of floats; None for those that were
            fitted, each without itself.

        Returns
        -------
        array of shape (n_queries,) or (n_queries, n_outputs)
            Labels, of the dtype of those that were fitted.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, with NaN or infinity, and for
            queries without neighbours where there is no ``outlier_label``.

        Examples
        --------
        >>> from tilefold.sklearn import RadiusNeighborsClassifier
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = RadiusNeighborsClassifier(2.0).fit(X, [0, 0, 1, 1])
        >>> model.predict([[8.0]])
        array([1])
        """
        chosen = []
        votes = self._votes(X, "predict")
        for place, vote in enumerate(votes):
            label = self._outputs[place][0][vote.argmax(axis=1)]
            outliers = (vote == 0).all(axis=1)
            if outliers.any():
                label[outliers] = self.outlier_label_[place]
            chosen.append(label)
        return self._labels(chosen)

    def predict_proba(self, X: Any) -> Any:
        """Computes which share of the votes each label has.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), or None
            The points that are asked about, of floats; None for those that were
            fitted, each without itself.

        Returns
        -------
        array of shape (n_queries, n_classes), float64
            Of several outputs, a list of them. An outlier's label has all
            votes; one that is not in ``classes_`` has none, with a warning.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import RadiusNeighborsClassifier
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = RadiusNeighborsClassifier(2.0).fit(X, [0, 0, 1, 1])
        >>> model.predict_proba([[2.0]])
        array([[1., 0.]])
        """
        return self._probabilities(self._votes(X, "predict_proba"))

    def _votes(self, x: Any, method: str) -> list[Any]:
        check_is_fitted(self)
        outputs = self._outputs
        # A vote is 0 or 1, so that float32 points need no float64, which is
        # slower.
        kind = as_numpy(self._fit_X[:1, :]).dtype
        heard = np.concatenate(
            [
                codes[:, None] == np.arange(len(known))
                for known, codes in outputs
            ],
            axis=1,
        ).astype(kind)
        sums, _, is_near = self._sums(x, heard, method)
        outliers = np.flatnonzero(~is_near)
        if self.outlier_label_ is None and outliers.size:
            raise ValueError(
                f"No neighbors found for test samples {outliers!r}, you can "
                "try using larger radius, giving a label for outliers, or "
                "considering removing them from your dataset."
            )
        ends = np.cumsum([len(known) for known, _ in outputs])
        votes = np.split(sums, ends[:-1], axis=1)
        if not outliers.size:
            return votes
        for (known, _), vote, label in zip(
            outputs, votes, self.outlier_label_, strict=True
        ):
            at = np.flatnonzero(known == label)
            if at.size:
                vote[outliers, at[0]] = 1
            else:
                warnings.warn(
                    f"Outlier label {label} is not in training classes. All "
                    "class probabilities of outliers will be assigned with 0.",
                    stacklevel=3,
                )
        return votes


class RadiusNeighborsRegressor(_Within, Regressor):
    """Predicts the mean of what the points within a radius have.

    A query without neighbours is given NaN, with a warning.

    Parameters
    ----------
    radius : float, default 1.0
        The largest distance that is near, in the units of the metric.
    weights : {"uniform", "distance"} or callable, default "uniform"
        How votes count: alike, by 1/distance, or by what a function makes of an
        array of distances, NumPy's.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default "auto"
        Read for the sake of scikit-learn's programs, and without effect: every
        pair is looked at.
    leaf_size : int, default 30
        Likewise.
    metric : str or callable, default "minkowski"
        As ``NearestNeighbors`` takes it.
    p : float, default 2
        The exponent of "minkowski".
    metric_params : dict, optional
        Other arguments of the metric.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    See Also
    --------
    KNeighborsRegressor, RadiusNeighborsClassifier, NearestNeighbors

    Examples
    --------
    >>> from tilefold.sklearn import RadiusNeighborsRegressor
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = RadiusNeighborsRegressor(2.0).fit(X, [0.0, 1.0, 8.0, 9.0])
    >>> model.predict([[1.0]])
    array([0.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        **_RADIUS,
    }

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> Any:
        """Predicts targets of points.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), or None
            The points that are asked about, of floats; None for those that were
            fitted, each without itself.

        Returns
        -------
        array of shape (n_queries,) or (n_queries, n_outputs), float64
            Weighted means; NaN without neighbours.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import RadiusNeighborsRegressor
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = RadiusNeighborsRegressor(2.0).fit(X, [0.0, 1.0, 8.0, 9.0])
        >>> model.predict([[9.0]])
        array([8.5])
        """
        check_is_fitted(self)
        sums, total, is_near = self._sums(X, self._columns, "predict")
        if not is_near.all():
            warnings.warn(
                "One or more samples have no neighbors within specified "
                "radius; predicting NaN.",
                stacklevel=2,
            )
        with np.errstate(invalid="ignore"):
            return self._targets(sums / total[:, None])


def _without(graph: csr_matrix, first: int) -> csr_matrix:
    """Rows from `first` on, each without its own column."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    kept = graph.indices != rows + first
    before = np.concatenate([[0], np.cumsum(kept)])
    return type(graph)(
        (graph.data[kept], graph.indices[kept], before[graph.indptr]),
        shape=graph.shape,
    )


def _outlier_labels(given: Any, outputs: Sequence[Any]) -> Any:
    """A label for each output, or None."""
    if given is None:
        return None
    if isinstance(given, str) and given == "most_frequent":
        return [known[np.bincount(codes).argmax()] for known, codes in outputs]
    is_list = hasattr(given, "__len__") and not isinstance(given, str)
    labels = list(given) if is_list else [given] * len(outputs)
    if len(labels) != len(outputs):
        raise ValueError(
            f"The length of outlier_label: {given} is inconsistent with the "
            f"output length: {len(outputs)}"
        )
    for label, (known, _) in zip(labels, outputs, strict=True):
        if hasattr(label, "__len__") and not isinstance(label, str):
            raise TypeError(
                f"The outlier_label of classes {known} is supposed to be a "
                f"scalar, got {label}."
            )
        if np.append(known, label).dtype != known.dtype:
            raise TypeError(
                f"The dtype of outlier_label {label} is inconsistent with "
                f"classes {known} in y."
            )
    return labels
