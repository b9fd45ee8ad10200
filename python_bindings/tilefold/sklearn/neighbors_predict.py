# python_bindings/tilefold/sklearn/neighbors_predict.py - predictions from
# neighbours.
"""Classifiers and regressors by the K nearest points, or those in a radius.

Votes within a radius are one pass that sums what each point has to say; lists
of neighbours are made only for weights that are a Python function.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    MultiOutputMixin,
    RegressorMixin,
    _fit_context,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from tilefold.sklearn.library import as_numpy, beside, floats, options_of
from tilefold.sklearn.neighbors import (
    KNeighborsSearch,
    NeighborsBase,
    RadiusNeighborsSearch,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scipy.sparse import csr_matrix

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
]

_TARGETS = 64  # targets that one pass sums
_LISTED = 2**21  # neighbours that are listed at once
_WEIGHTS = [StrOptions({"uniform", "distance"}), callable, None]
_CONSTRAINTS = {**NeighborsBase._parameter_constraints, "weights": _WEIGHTS}
_COUNT = {"n_neighbors": [Interval(Integral, 1, None, closed="left")]}
_RADIUS = {"radius": [Interval(Real, 0, None, closed="both")]}


class _Classifier(ClassifierMixin, MultiOutputMixin, NeighborsBase):
    """What classifiers share.

    Attributes: `classes_`, the labels in order, of several outputs a list;
    `outputs_2d_`, whether there are several.
    """

    def _fit_labels(self, x: Any, y: Any) -> None:
        x, y = validate_data(self, x, y, multi_output=True, dtype=floats(x))
        self._fit_points(x)
        labels = as_numpy(y)
        self.outputs_2d_ = labels.ndim == 2 and labels.shape[1] > 1
        if labels.ndim == 2 and not self.outputs_2d_:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. "
                "Please change the shape of y to (n_samples,), for example "
                "using ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
        check_classification_targets(labels)
        labels = labels.reshape(len(labels), -1)
        found = [np.unique(one, return_inverse=True) for one in labels.T]
        codes = np.stack([code for _, code in found], axis=1)
        self._y = beside(codes if self.outputs_2d_ else codes[:, 0], x)
        classes = [_beside_unless_text(known, x) for known, _ in found]
        self.classes_ = classes if self.outputs_2d_ else classes[0]

    @property
    def _outputs(self) -> list[tuple[Any, Any]]:
        """The labels and the codes of each output, NumPy's."""
        codes = as_numpy(self._y)
        classes = self.classes_ if self.outputs_2d_ else [self.classes_]
        return list(
            zip(
                [as_numpy(known) for known in classes],
                codes.reshape(len(codes), -1).T,
                strict=True,
            )
        )

    def _labels(self, chosen: Sequence[Any]) -> Any:
        """Labels of each output, as `predict` returns them."""
        if not self.outputs_2d_:
            return _beside_unless_text(chosen[0], self._fit_X)
        return _beside_unless_text(np.stack(chosen, axis=1), self._fit_X)

    def _probabilities(self, votes: Sequence[Any]) -> Any:
        """Votes of each output, normalised, as `predict_proba` has them."""
        shares = []
        for vote in votes:
            total = vote.sum(axis=1, keepdims=True)
            total[total == 0] = 1
            shares.append(beside(vote / total, self._fit_X))
        return shares if self.outputs_2d_ else shares[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class _Regressor(RegressorMixin, MultiOutputMixin, NeighborsBase):
    """What regressors share."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Keeps the points (n_samples, n_features) and their targets."""
        x, y = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=floats(X)
        )
        self._fit_points(x)
        self._y = beside(y, x)
        return self

    @property
    def _columns(self) -> Any:
        """Targets of shape (n_samples, n_outputs), NumPy's."""
        targets = as_numpy(self._y)
        return targets.reshape(len(targets), -1)

    def _targets(self, predicted: Any) -> Any:
        """Of shape (n_queries, n_outputs), as `predict` returns them."""
        if self._y.ndim == 1:
            predicted = predicted[:, 0]
        return beside(predicted, self._fit_X)


class _Weighted(KNeighborsSearch):
    """The K nearest, and what each of them counts."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_CONSTRAINTS,
        **_COUNT,
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
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


class KNeighborsClassifier(_Weighted, _Classifier):
    """The label that most of the K nearest points have.

    `weights` is "uniform", "distance" for 1/distance, or a function that
    turns an array of distances, NumPy's, into weights. Other parameters are
    those of `NearestNeighbors`. Of labels with as many votes the first in
    `classes_` wins. y has shape (n_samples,) or (n_samples, n_outputs).
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Keeps the points (n_samples, n_features) and their labels."""
        self._fit_labels(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Labels of X, (n_queries,) or (n_queries, n_outputs).

        X=None asks for those of the fitted points, each without itself.
        """
        votes = self._votes(X, "predict")
        return self._labels(
            [
                known[vote.argmax(axis=1)]
                for (known, _), vote in zip(self._outputs, votes, strict=True)
            ]
        )

    def predict_proba(self, X: Any) -> Any:
        """Shares of the votes, (n_queries, n_classes), float64.

        Of several outputs, a list of them.
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


class KNeighborsRegressor(_Weighted, _Regressor):
    """The mean of what the K nearest points have.

    Parameters are those of `KNeighborsClassifier`; y has shape (n_samples,)
    or (n_samples, n_outputs).
    """

    def predict(self, X: Any) -> Any:
        """Targets of X, (n_queries,) or (n_queries, n_outputs).

        X=None asks for those of the fitted points, each without itself.
        """
        places, weights = self._weighted(X, "predict")
        targets = self._columns
        if self.weights in (None, "uniform"):
            return self._targets(targets[places].mean(axis=1))
        total = weights.sum(axis=1)
        sums = [(one[places] * weights).sum(axis=1) for one in targets.T]
        return self._targets(np.stack([s / total for s in sums], axis=1))


class _Within(RadiusNeighborsSearch):
    """The points within the radius, and what each of them counts."""

    def _sums(self, x: Any, targets: Any, method: str) -> tuple[Any, Any, Any]:
        """Weighted sums of targets within the radius of each query.

        Targets have shape (n_samples, E), NumPy's. Returns sums
        (n_queries, E), sums of the weights (n_queries,), and whether there
        are neighbours at all.
        """
        queried = self._queries(x, method)
        with_ones = np.concatenate([targets, np.ones((len(targets), 1))], 1)
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
        targets = targets.astype(as_numpy(self._fit_X[:1, :]).dtype)
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
            sums.append(graph @ targets)
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


class RadiusNeighborsClassifier(_Within, _Classifier):
    """The label that most of the points within a radius have.

    `outlier_label` is what queries without neighbours are given: a label, a
    list of one for each output, "most_frequent", or None, which refuses them.
    Other parameters are those of `KNeighborsClassifier`; a function of
    weights is given an array of arrays of distances.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_CONSTRAINTS,
        **_RADIUS,
        "outlier_label": [Integral, str, "array-like", None],
    }

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        metric: Any = "minkowski",
        p: float | None = 2,
        outlier_label: Any = None,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.metric = metric
        self.p = p
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Keeps the points (n_samples, n_features) and their labels."""
        self._fit_labels(X, y)
        self.outlier_label_ = _outlier_labels(self.outlier_label, self._outputs)
        return self

    def predict(self, X: Any) -> Any:
        """Labels of X, (n_queries,) or (n_queries, n_outputs).

        X=None asks for those of the fitted points, each without itself.
        Raises `ValueError` for outliers where there is no `outlier_label`.
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
        """Shares of the votes, (n_queries, n_classes), float64.

        Of several outputs, a list of them. An outlier's label has all votes;
        one that is not in `classes_` has none, with a warning.
        """
        return self._probabilities(self._votes(X, "predict_proba"))

    def _votes(self, x: Any, method: str) -> list[Any]:
        check_is_fitted(self)
        outputs = self._outputs
        heard = np.concatenate(
            [
                codes[:, None] == np.arange(len(known))
                for known, codes in outputs
            ],
            axis=1,
        ).astype(np.float64)
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


class RadiusNeighborsRegressor(_Within, _Regressor):
    """The mean of what the points within a radius have.

    A query without neighbours is given NaN, with a warning. Parameters are
    those of `RadiusNeighborsClassifier`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_CONSTRAINTS,
        **_RADIUS,
    }

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> Any:
        """Targets of X, (n_queries,) or (n_queries, n_outputs), float64.

        X=None asks for those of the fitted points, each without itself.
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


def _beside_unless_text(labels: Any, x: Any) -> Any:
    """Labels in X's library, which has no text."""
    is_number = labels.dtype.kind in "biuf"
    return beside(labels, x) if is_number else labels


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
