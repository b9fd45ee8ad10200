# python_bindings/tilefold/sklearn/neighbors_predict.py - predictions from the
# K nearest points.
"""Classifiers and regressors by the K nearest points."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import (
    _fit_context,
)
from sklearn.utils._param_validation import Interval

from tilefold.sklearn.library import as_numpy
from tilefold.sklearn.neighbors import KNeighborsSearch
from tilefold.sklearn.predictors import CONSTRAINTS, Classifier, Regressor

if TYPE_CHECKING:
    from typing import Self

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor"]

_COUNT = {"n_neighbors": [Interval(Integral, 1, None, closed="left")]}


class _Weighted(KNeighborsSearch):
    """The K nearest, and what each of them counts."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        **_COUNT,
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _weighted(self, x: Any, method: str) -> tuple[Any, Any]:
        """Places and weights of shape (n_queries, K), NumPy's."""
        if x is not None:
            self._queries(x, method)
        if self.weights in (None, "uniform"):
            places = as_numpy(self.kneighbors(x, return_distance=False))
            return places, np.ones(places.shape)
        distances, places = self.kneighbors(x)
        return as_numpy(places), self._weights_of(as_numpy(distances))

    def _weights_of(self, distances: Any) -> Any:
        if callable(self.weights):
            return self.weights(distances)
        with np.errstate(divide="ignore"):
            weights = 1 / distances
        # Points at no distance, where there are any, are all that count.
        at = np.isinf(weights)
        some = at.any(axis=1)
        weights[some] = at[some]
        return weights


class KNeighborsClassifier(_Weighted, Classifier):
    """Predicts the label that most of the K nearest points have.

    Of labels with as many votes the first in ``classes_`` wins.

    Parameters
    ----------
    n_neighbors : int, default 5
        K.
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

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of arrays
        The labels, of each output.

    See Also
    --------
    RadiusNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

    Examples
    --------
    >>> from tilefold.sklearn import KNeighborsClassifier
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = KNeighborsClassifier(1).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[2.0]])
    array(['low'], dtype='<U4')
    """

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
        KNeighborsClassifier
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and y that is missing, not finite or of another length.

        Examples
        --------
        >>> from tilefold.sklearn import KNeighborsClassifier
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KNeighborsClassifier(1).fit(X, [0, 0, 1, 1]).classes_
        array([0, 1])
        """
        self._fit_labels(X, y)
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
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KNeighborsClassifier
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KNeighborsClassifier(1).fit(X, [0, 0, 1, 1]).predict([[2.0]])
        array([0])
        """
        votes = self._votes(X, "predict")
        return self._labels(
            [
                known[vote.argmax(axis=1)]
                for (known, _), vote in zip(self._outputs, votes, strict=True)
            ]
        )

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
            Of several outputs, a list of them.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KNeighborsClassifier
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = KNeighborsClassifier(3).fit(X, [0, 0, 1, 1])
        >>> model.predict_proba([[2.0]]).round(2)
        array([[0.67, 0.33]])
        """
        return self._probabilities(self._votes(X, "predict_proba"))

    def _votes(self, x: Any, method: str) -> list[Any]:
        """Of each output, (n_queries, n_classes)."""
        places, weights = self._weighted(x, method)
        if not np.any(weights, axis=1).all():
            raise ValueError(
                "All neighbors of some sample is getting zero weights. Please "
                "modify 'weights' to avoid this case if you are using a "
                "user-defined function."
            )
        rows = np.arange(len(places))
        votes = []
        for known, codes in self._outputs:
            vote = np.zeros((len(places), len(known)))
            for place, weight in zip(places.T, weights.T, strict=True):
                vote[rows, codes[place]] += weight
            votes.append(vote)
        return votes


class KNeighborsRegressor(_Weighted, Regressor):
    """Predicts the mean of what the K nearest points have.

    Parameters
    ----------
    n_neighbors : int, default 5
        K.
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
    RadiusNeighborsRegressor, KNeighborsClassifier, NearestNeighbors

    Examples
    --------
    >>> from tilefold.sklearn import KNeighborsRegressor
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> KNeighborsRegressor(2).fit(X, [0.0, 1.0, 8.0, 9.0]).predict([[2.0]])
    array([0.5])
    """

    def predict(self, X: Any) -> Any:
        """Predicts targets of points.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), or None
            The points that are asked about, of floats; None for those that were
            fitted, each without itself.

        Returns
        -------
        array of shape (n_queries,) or (n_queries, n_outputs)
            Weighted means, of floats.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KNeighborsRegressor
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = KNeighborsRegressor(2).fit(X, [0.0, 1.0, 8.0, 9.0])
        >>> model.predict([[9.0]])
        array([8.5])
        """
        places, weights = self._weighted(X, "predict")
        targets = self._columns
        if self.weights in (None, "uniform"):
            return self._targets(targets[places].mean(axis=1))
        total = weights.sum(axis=1)
        sums = [(one[places] * weights).sum(axis=1) for one in targets.T]
        return self._targets(np.stack([s / total for s in sums], axis=1))
