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
        """Keeps the points among which neighbours are sought.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The points, of floats.
        y : None
            Not read.

        Returns
        -------
        Self
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, and X that is no finite array of
            two dimensions.

        Examples
        --------
        >>> from tilefold.sklearn import KNeighborsTransformer
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KNeighborsTransformer(n_neighbors=1).fit(X).n_samples_fit_
        4
        """
        self._fit_points(validate_data(self, X, dtype=floats(X)))
        self._n_features_out = self.n_samples_fit_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags


class KNeighborsTransformer(_Transformer, KNeighborsSearch):
    """Transforms points into the graph of their K nearest ones.

    With distances there is one neighbour more, since a point of the fitted ones
    is its own first one.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default "distance"
        Whether entries are distances, or 1.
    n_neighbors : int, default 5
        K.
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
    RadiusNeighborsTransformer, NearestNeighbors

    Examples
    --------
    >>> from tilefold.sklearn import KNeighborsTransformer
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform(X).nnz
    8
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
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> csr_matrix:
        """Finds the graph from queries to the points.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        scipy.sparse.csr_matrix
            Shape (n_queries, n_samples_fit), float64.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import KNeighborsTransformer
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> KNeighborsTransformer(n_neighbors=1).fit(X).transform([[2.0]]).shape
        (1, 4)
        """
        check_is_fitted(self)
        count = self.n_neighbors + (self.mode == "distance")
        return self.kneighbors_graph(X, count, self.mode)


class RadiusNeighborsTransformer(_Transformer, RadiusNeighborsSearch):
    """Transforms points into the graph of those within a radius.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default "distance"
        Whether entries are distances, or 1.
    radius : float, default 1.0
        The largest distance that is near, in the units of the metric.
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
    KNeighborsTransformer, NearestNeighbors

    Examples
    --------
    >>> from tilefold.sklearn import RadiusNeighborsTransformer
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> RadiusNeighborsTransformer(radius=2.0).fit_transform(X).nnz
    8
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
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> csr_matrix:
        """Finds the graph from queries to the points.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            The points that are asked about, of floats.

        Returns
        -------
        scipy.sparse.csr_matrix
            Shape (n_queries, n_samples_fit), float64.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, and with NaN or infinity.

        Examples
        --------
        >>> from tilefold.sklearn import RadiusNeighborsTransformer
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> graph = RadiusNeighborsTransformer(radius=2.0).fit(X)
        >>> graph.transform([[2.0]]).shape
        (1, 4)
        """
        check_is_fitted(self)
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)
