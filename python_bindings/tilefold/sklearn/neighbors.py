# python_bindings/tilefold/sklearn/neighbors.py - who is near whom.
"""`NearestNeighbors`, and what all estimators of neighbours share.

All pairs are met, in one compiled pass that stores no matrix of distances:
memory is that of the result. Of equal distances the lower index is first.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from tilefold.errors import ArgumentError
from tilefold.sklearn.library import (
    as_numpy,
    beside,
    floats,
    options_of,
    queries,
)
from tilefold.sklearn.metrics import PRECOMPUTED, Metric, read_metric

if TYPE_CHECKING:
    from typing import Self

    from tilefold import Kernel

__all__ = [
    "KNeighborsSearch",
    "NearestNeighbors",
    "NeighborsBase",
    "RadiusNeighborsSearch",
    "nearest",
]

_MOST_KEPT = 1024  # as a reduction keeps
_BLOCK = 2**21  # numbers of a block of distances, 16 MiB of doubles


class NeighborsBase(BaseEstimator):
    """Points that are searched, and their metric.

    Attributes: `effective_metric_` the metric that was meant,
    `effective_metric_params_` its parameters, `n_samples_fit_` the number of
    points, `n_features_in_` and `feature_names_in_` as everywhere.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "metric": [str, callable],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
    }

    def _fit_points(self, x: Any) -> None:
        """Keeps validated points, or distances, and reads the metric."""
        if self._is_precomputed:
            _check_distances(x)
            self._metric: Metric = PRECOMPUTED
        else:
            self._metric = read_metric(
                self.metric, x.shape[1], self.metric_params, self.p
            )
            # Refuses what is no distance.
            self._metric.ranks(x[:1, :], x[:1, :])
        self.effective_metric_ = self.metric
        self.effective_metric_params_ = dict(self._metric.parameters)
        if self.metric == "minkowski":
            p = (self.metric_params or {}).get("p", self.p)
            names = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
            if "w" not in self._metric.parameters:
                self.effective_metric_ = names.get(p or 2, "minkowski")
        self._fit_X = x
        self.n_samples_fit_ = x.shape[0]

    @property
    def _is_precomputed(self) -> bool:
        """Whether X is a matrix of distances, (n_queries, n_samples_fit)."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _ranks(self, x: Any) -> Kernel:
        """What the distances from x to the points are ranked by."""
        return self._metric.ranks(x, self._fit_X, options_of(self.n_jobs))

    def _queries(self, x: Any, method: str) -> Any:
        """Validated queries; None stands for the points themselves."""
        check_is_fitted(self, "_fit_X")
        if x is None:
            return self._fit_X
        return queries(self, x, "_fit_X", method)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        # Cross-validation takes rows and columns of X then.
        tags.input_tags.pairwise = self._is_precomputed
        return tags


class KNeighborsSearch(NeighborsBase):
    """The K nearest points."""

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Finds the nearest points of each query, nearest first.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), optional
            The points that are asked about, of floats; without them those that
            were fitted, none being its own neighbour.
        n_neighbors : int, optional
            How many: that of the class.
        return_distance : bool, default True
            Whether distances are given, too.

        Returns
        -------
        tuple of array
            Distances, of X's dtype, and indices, int64, both of shape
            (n_queries, n_neighbors) and of X's library; or the indices alone.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, with NaN or infinity, and where
            there are fewer points than neighbours are asked for.
        TypeError
            For an n_neighbors that is no integer.

        Examples
        --------
        >>> from tilefold.sklearn import NearestNeighbors
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> search = NearestNeighbors(n_neighbors=1).fit(X)
        >>> search.kneighbors(return_distance=False)
        array([[1],
               [0],
               [3],
               [2]])
        """
        queried = self._queries(X, "kneighbors")
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        _check_count(count, self.n_samples_fit_, X is None)
        found = nearest(
            self._ranks(queried), count + (X is None), return_distance
        )
        if X is None:
            found = _without_itself(found)
        ranks, places = found
        if not return_distance:
            return places
        return self._metric.distance_of(ranks), places

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: str = "connectivity",
    ) -> csr_matrix:
        """Finds the nearest points as a sparse matrix of SciPy's.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), optional
            The points that are asked about, of floats; without them those that
            were fitted, none being its own neighbour.
        n_neighbors : int, optional
            How many: that of the class.
        mode : {"connectivity", "distance"}, default "connectivity"
            Whether entries are 1, or distances.

        Returns
        -------
        scipy.sparse.csr_matrix
            Shape (n_queries, n_samples_fit), float64.

        Raises
        ------
        NotFittedError, ValueError, TypeError
            As ``kneighbors`` raises them; and for another mode.

        Examples
        --------
        >>> from tilefold.sklearn import NearestNeighbors
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> graph = NearestNeighbors(n_neighbors=1).fit(X).kneighbors_graph()
        >>> graph.indices.tolist()
        [1, 0, 3, 2]
        """
        _check_mode(mode)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        found = self.kneighbors(X, count, mode == "distance")
        places = as_numpy(found[1] if mode == "distance" else found)
        rows = places.shape[0]
        data = (
            as_numpy(found[0]).ravel()
            if mode == "distance"
            else np.ones(places.size)
        )
        indptr = np.arange(0, places.size + 1, count)
        return csr_matrix(
            (data, places.ravel(), indptr), shape=(rows, self.n_samples_fit_)
        )


class RadiusNeighborsSearch(NeighborsBase):
    """The points within a radius."""

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Finds the points within a radius of each query, as lists.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), optional
            The points that are asked about, of floats; without them those that
            were fitted, none being its own neighbour.
        radius : float, optional
            In the units of the metric: that of the class.
        return_distance : bool, default True
            Whether distances are given, too.
        sort_results : bool, default False
            Whether neighbours come nearest first, or by ascending index.

        Returns
        -------
        tuple of array
            Two arrays of NumPy's, of shape (n_queries,), whose elements are
            arrays: of distances, and of indices; or the latter alone.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For X of another number of features, with NaN or infinity, for a
            radius below 0, and for sort_results without return_distance.

        Examples
        --------
        >>> from tilefold.sklearn import NearestNeighbors
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> search = NearestNeighbors(radius=2.0).fit(X)
        >>> search.radius_neighbors([[2.0]], return_distance=False)[0].tolist()
        [0, 1]
        """
        if sort_results and not return_distance:
            raise ValueError(
                "return_distance must be True if sort_results is True."
            )
        pieces = self._within(X, radius, return_distance, sort_results)
        places = _lists(pieces.indices, pieces.indptr)
        if not return_distance:
            return places
        return _lists(pieces.data, pieces.indptr), places

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> csr_matrix:
        """Finds the points within a radius as a sparse matrix of SciPy's.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), optional
            The points that are asked about, of floats; without them those that
            were fitted, none being its own neighbour.
        radius : float, optional
            In the units of the metric: that of the class.
        mode : {"connectivity", "distance"}, default "connectivity"
            Whether entries are 1, or distances.
        sort_results : bool, default False
            Whether neighbours come nearest first, or by ascending index.

        Returns
        -------
        scipy.sparse.csr_matrix
            Shape (n_queries, n_samples_fit), float64.

        Raises
        ------
        NotFittedError, ValueError
            As ``radius_neighbors`` raises them; and for another mode.

        Examples
        --------
        >>> from tilefold.sklearn import NearestNeighbors
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> graph = NearestNeighbors(radius=2.0).fit(X).radius_neighbors_graph()
        >>> graph.indices.tolist()
        [1, 0, 3, 2]
        """
        _check_mode(mode)
        has_distances = mode == "distance"
        graph = self._within(
            X, radius, has_distances, sort_results and has_distances
        )
        if not has_distances:
            graph.data = np.ones(graph.nnz)
        return graph

    def _within(
        self,
        x: Any,
        radius: float | None,
        with_distances: bool,
        is_sorted: bool = False,
    ) -> csr_matrix:
        queried = self._queries(x, "radius_neighbors")
        radius = self.radius if radius is None else radius
        if not radius >= 0:
            raise ValueError(f"radius == {radius}, must be >= 0.")
        graph = self._within_rows(queried, radius, with_distances)
        if x is None:
            graph = _off_diagonal(graph)
        return _nearest_first(graph) if is_sorted else graph

    def _within_rows(
        self, queried: Any, radius: float, with_distances: bool
    ) -> csr_matrix:
        """Those of validated queries; without distances the data is 0."""
        if self._is_precomputed:
            distances = as_numpy(queried)
            is_within = distances <= radius
            ends = np.cumsum(is_within.sum(axis=1))
            return csr_matrix(
                (
                    distances[is_within] * with_distances,
                    np.nonzero(is_within)[1],
                    np.concatenate([[0], ends]),
                ),
                shape=distances.shape,
            )
        try:
            found = self._ranks(queried).radius_neighbors(
                self._metric.rank_of(radius), 1, with_distances
            )
        except ArgumentError as error:  # a similarity is no metric
            raise ValueError(str(error)) from error
        indptr, indices = as_numpy(found.indptr), as_numpy(found.indices)
        if with_distances:
            data = self._metric.distance_of(as_numpy(found.distances))
        else:
            data = np.zeros(indices.shape)
        return csr_matrix(
            (data, indices, indptr),
            shape=(queried.shape[0], self.n_samples_fit_),
        )


class NearestNeighbors(KNeighborsSearch, RadiusNeighborsSearch):
    """Searches for the neighbours of points, by any metric.

    Every pair is looked at: exact, whatever the number of components.

    Parameters
    ----------
    n_neighbors : int, default 5
        How many a search finds, where it does not say.
    radius : float, default 1.0
        Within which a search looks, where it does not say.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default "auto"
        Read for the sake of scikit-learn's programs, and without effect: every
        pair is looked at.
    leaf_size : int, default 30
        Likewise.
    metric : str or callable, default "minkowski"
        A name of scikit-learn's, a distance of tilefold's catalogue, a formula
        in x_i and y_j, or a Python function of two points, which is traced; or
        "precomputed": X are distances, (n_queries, n_samples).
    p : float, default 2
        The exponent of "minkowski".
    metric_params : dict, optional
        Other arguments of the metric.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    n_samples_fit_ : int
        How many points were fitted.

    See Also
    --------
    KNeighborsClassifier, KNeighborsRegressor, KNeighborsTransformer
    tilefold.radius_neighbors : the same as a function.

    Examples
    --------
    >>> from tilefold.sklearn import NearestNeighbors
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> search = NearestNeighbors(metric="sum(abs(x_i - y_j))").fit(X)
    >>> distances, places = search.kneighbors([[2.0]], n_neighbors=2)
    >>> places
    array([[1, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NeighborsBase._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="both")],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Keeps the points among which neighbours are sought.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The points, of floats, in any library of the array API.
        y : None
            Not read.

        Returns
        -------
        NearestNeighbors
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, and X that is no finite array of
            two dimensions.

        Examples
        --------
        >>> from tilefold.sklearn import NearestNeighbors
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> NearestNeighbors().fit(X).n_samples_fit_
        4
        """
        self._fit_points(validate_data(self, X, dtype=floats(X)))
        return self


def _check_distances(x: Any) -> None:
    """Refuses a matrix that is none of distances of points to each other."""
    if x.shape[0] != x.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix of distances, and X "
            f"has the shape {tuple(x.shape)}"
        )
    if (x < 0).any():
        raise ValueError(
            "metric='precomputed' takes distances, and X has negative values; "
            "of a similarity s that is at most 1, pass 1 - s"
        )


def nearest(kernel: Kernel, count: int, with_values: bool) -> tuple[Any, Any]:
    """The `count` smallest values of each row, ascending, and where.

    Both of shape (N, count); without values the first is None. Raises
    `ValueError` where a value is NaN.
    """
    if count > _MOST_KEPT:
        return _nearest_by_blocks(kernel, count)
    if with_values:
        values, places = kernel.topk(count, axis=1, largest=False)
        if np.isnan(as_numpy(values)[..., -1]).any():  # where NaN comes last
            raise ValueError("the metric is NaN for some pairs of points")
    else:
        values, places = None, kernel.argkmin(count, axis=1)
    return values, places


def _nearest_by_blocks(kernel: Kernel, count: int) -> tuple[Any, Any]:
    """As `nearest`, of blocks of rows with all their values."""
    rows, columns = kernel.shape
    step = max(1, _BLOCK // columns)
    values, places = [], []
    for first in range(0, rows, step):
        block = as_numpy(kernel[first : first + step].dense())
        kth = np.partition(block, count - 1, axis=1)[:, count - 1 : count]
        # Of those at the last distance, the first ones.
        below = block < kth
        level = block == kth
        missing = count - below.sum(axis=1, keepdims=True)
        chosen = below | (level & (level.cumsum(axis=1) <= missing))
        at = np.nonzero(chosen)[1].reshape(len(block), count)
        value = np.take_along_axis(block, at, 1)
        order = np.argsort(value, axis=1, kind="stable")
        values.append(np.take_along_axis(value, order, 1))
        places.append(np.take_along_axis(at, order, 1))
    return np.concatenate(values), np.concatenate(places)


def _check_count(count: int, points: int, is_without_itself: bool) -> None:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
        raise TypeError(
            f"n_neighbors does not take {type(count)} value, enter integer "
            "value"
        )
    if count <= 0:
        raise ValueError(f"Expected n_neighbors > 0. Got {count}")
    if count > points - is_without_itself:
        relation = "n_neighbors < " if is_without_itself else "n_neighbors <= "
        raise ValueError(
            f"Expected {relation}n_samples_fit, but n_neighbors = {count}, "
            f"n_samples_fit = {points}"
        )


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(
            'Unsupported mode, must be one of "connectivity", or "distance" '
            f'but got "{mode}" instead'
        )


def _without_itself(found: tuple[Any, Any]) -> tuple[Any, Any]:
    """One column less: a point's own index, else the last."""
    places = as_numpy(found[1])
    rows = places.shape[0]
    kept = places != np.arange(rows)[:, None]
    # More equal points than neighbours: the last of them gives way.
    kept[kept.all(axis=1), -1] = False

    def chosen(array: Any) -> Any:
        from_numpy = as_numpy(array)[kept].reshape(rows, -1)
        return beside(from_numpy, array)

    values = None if found[0] is None else chosen(found[0])
    return values, chosen(found[1])


def _off_diagonal(graph: csr_matrix) -> csr_matrix:
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    kept = graph.indices != rows
    before = np.concatenate([[0], np.cumsum(kept)])
    return csr_matrix(
        (graph.data[kept], graph.indices[kept], before[graph.indptr]),
        shape=graph.shape,
    )


def _nearest_first(graph: csr_matrix) -> csr_matrix:
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = np.lexsort((graph.data, rows))
    return csr_matrix(
        (graph.data[order], graph.indices[order], graph.indptr),
        shape=graph.shape,
    )


def _lists(values: Any, indptr: Any) -> Any:
    """An array of arrays, even where all are equally long."""
    lists = np.empty(len(indptr) - 1, dtype=object)
    lists[:] = np.split(values, indptr[1:-1])
    return lists
