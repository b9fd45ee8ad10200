# python_bindings/tilefold/sklearn/predictors.py - what predictions from
# neighbours share.
"""Classifiers and regressors, without what says who is a neighbour."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    MultiOutputMixin,
    RegressorMixin,
    _fit_context,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from tilefold.sklearn.library import as_numpy, beside, floats
from tilefold.sklearn.neighbors import NeighborsBase

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

__all__ = ["CONSTRAINTS", "Classifier", "Regressor"]

_WEIGHTS = [StrOptions({"uniform", "distance"}), callable, None]
CONSTRAINTS = {**NeighborsBase._parameter_constraints, "weights": _WEIGHTS}


class Classifier(ClassifierMixin, MultiOutputMixin, NeighborsBase):
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


class Regressor(RegressorMixin, MultiOutputMixin, NeighborsBase):
    """What regressors share."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Keeps points and their targets.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The points, of floats.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Their targets, of any real dtype.

        Returns
        -------
        Self
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and y that is missing, not finite or of another length.

        Examples
        --------
        >>> from tilefold.sklearn import KNeighborsRegressor
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = KNeighborsRegressor(2).fit(X, [0.0, 1.0, 8.0, 9.0])
        >>> model.n_samples_fit_
        4
        """
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


def _beside_unless_text(labels: Any, x: Any) -> Any:
    """Labels in X's library, which has no text."""
    is_number = labels.dtype.kind in "biuf"
    return beside(labels, x) if is_number else labels
