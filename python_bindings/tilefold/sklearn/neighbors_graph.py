# python_bindings/tilefold/sklearn/neighbors_graph.py - graphs of neighbours.
"""Transformers that make a sparse graph of neighbours, for a pipeline.

A graph is a matrix of SciPy's, and so they take NumPy's arrays alone.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from tilefold.sklearn.library import floats
from tilefold.sklearn.neighbors import (
    KNeighborsSearch,
    NeighborsBase,
    RadiusNeighborsSearch,
)

if TYPE_CHECKING:
    from typing import Self

    from scipy.sparse import csr_matrix

__all__ = ["KNeighborsTransformer", "RadiusNeighborsTransformer"]

_MODE = {"mode": [StrOptions({"distance", "connectivity"})]}


class _Transformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighborsBase
):
    """What both share."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Keeps the points, of shape (n_samples, n_features)."""
        self._fit_points(validate_data(self, X, dtype=floats(X)))
        self._n_features_out = self.n_samples_fit_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags


class KNeighborsTransformer(_Transformer, KNeighborsSearch):
    """The graph of the K nearest points.

    `mode` is "distance" or "connectivity"; with distances there is one
    neighbour more, since a point of the fitted ones is its own first one.
    Other parameters are those of `NearestNeighbors`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NeighborsBase._parameter_constraints,
        **_MODE,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> csr_matrix:
        """The graph from X to the points: (n_queries, n_samples_fit)."""
        check_is_fitted(self)
        count = self.n_neighbors + (self.mode == "distance")
        return self.kneighbors_graph(X, count, self.mode)


class RadiusNeighborsTransformer(_Transformer, RadiusNeighborsSearch):
    """The graph of the points within a radius.

    `mode` is "distance" or "connectivity"; other parameters are those of
    `NearestNeighbors`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NeighborsBase._parameter_constraints,
        **_MODE,
        "radius": [Interval(Real, 0, None, closed="both")],
    }

    def __init__(
        self,
        *,
        mode: str = "distance",
        radius: float = 1.0,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> csr_matrix:
        """The graph from X to the points: (n_queries, n_samples_fit)."""
        check_is_fitted(self)
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)
