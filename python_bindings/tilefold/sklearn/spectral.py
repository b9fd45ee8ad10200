# python_bindings/tilefold/sklearn/spectral.py - clusters of a graph.
"""`SpectralClustering`, whose affinities are computed and not stored."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.cluster import k_means
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import _deterministic_vector_sign_flip
from sklearn.utils.validation import validate_data

from tilefold.sklearn.kernels import read_kernel
from tilefold.sklearn.library import as_numpy, beside, floats, options_of
from tilefold.sklearn.machines import KERNEL_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tilefold import Kernel

__all__ = ["SpectralClustering"]

# Up to here the whole matrix is decomposed.
_FEW = 500
# Vectors that Lanczos' method keeps: with fewer it begins again more often, and
# takes twice as many products.
_LANCZOS = 60


class SpectralClustering(ClusterMixin, BaseEstimator):
    """Clusters by the smallest eigenvectors of a graph's Laplacian.

    The Laplacian is normalised: A. Ng, M. Jordan and Y. Weiss, On spectral
    clustering, 2001. A product with the affinities is one pass, so that
    Lanczos' method takes O(N) memory.

    Parameters
    ----------
    n_clusters : int, default 8
        How many clusters.
    affinity : str or callable, default "rbf"
        The affinity of two points, not negative: as ``kernel`` of
        ``KernelRidge``.
    gamma, degree, coef0 : float, optional
        Of scikit-learn's kernels.
    kernel_params : Mapping, optional
        Values of the other names of a formula.
    n_components : int, optional
        How many eigenvectors: n_clusters.
    n_init : int, default 10
        Starts of "kmeans".
    eigen_tol : float or "auto", default "auto"
        Relative accuracy of the eigenvalues: 1e-8, of float32 points 1e-5.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default "kmeans"
        How eigenvectors become clusters.
    random_state : int or RandomState, optional
        Where random numbers come from.
    n_jobs : int, optional
        How many threads: what tilefold takes; -1 is all processors.

    Attributes
    ----------
    labels_ : array of shape (N,)
        The cluster of each point.
    affinity_matrix_ : tilefold.Kernel
        The affinities, of shape (N, N), not stored.

    See Also
    --------
    KMeans : clusters of the points themselves.

    Examples
    --------
    >>> from tilefold.sklearn import SpectralClustering
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = SpectralClustering(2, gamma=0.1, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{k: v for k, v in KERNEL_PARAMETERS.items() if k != "kernel"},
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "affinity": KERNEL_PARAMETERS["kernel"],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "eigen_tol": [
            Interval(Real, 0.0, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "assign_labels": [StrOptions({"kmeans", "discretize", "cluster_qr"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str | Callable[..., Any] = "rbf",
        gamma: float | None = 1.0,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_components: int | None = None,
        n_init: int = 10,
        eigen_tol: float | str = "auto",
        assign_labels: str = "kmeans",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.n_init = n_init
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
    ) -> SpectralClustering:
        """Finds the clusters of points.

        Parameters
        ----------
        X : array of shape (N, D)
            The points, of floats.
        y : None
            Not read.

        Returns
        -------
        SpectralClustering
            Itself, fitted.

        Raises
        ------
        ValueError
            For parameters out of their ranges, X that is no finite array of two
            dimensions, and affinities that are negative, or a formula that is
            none of two points.

        Examples
        --------
        >>> from tilefold.sklearn import SpectralClustering
        >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> model = SpectralClustering(2, gamma=0.1, random_state=0)
        >>> model.fit(X).labels_.shape
        (4,)
        """
        x = validate_data(self, X, dtype=floats(X), ensure_min_samples=2)
        kernel = read_kernel(
            self.affinity,
            x.shape[1],
            self.kernel_params,
            gamma=self.gamma,
            coef0=self.coef0,
            degree=self.degree,
        )
        self.affinity_matrix_ = kernel.matrix(
            x, options=options_of(self.n_jobs)
        )
        random = check_random_state(self.random_state)
        maps = self._embedding(x, random)
        if self.assign_labels == "kmeans":
            _, labels, _ = k_means(
                maps, self.n_clusters, random_state=random, n_init=self.n_init
            )
        elif self.assign_labels == "cluster_qr":
            labels = cluster_qr(maps)
        else:
            labels = discretize(maps, random_state=random)
        self.labels_ = beside(labels, x)
        return self

    def _embedding(self, x: Any, random: np.random.RandomState) -> Any:
        """The eigenvectors (N, n_components), divided by √degree."""
        count = self.n_components or self.n_clusters
        # Lanczos' method begins with the numbers that scikit-learn's does.
        start = random.uniform(-1, 1, x.shape[0])
        affinities = _Normalised(self.affinity_matrix_, x)
        if x.shape[0] <= max(_FEW, 3 * count):
            vectors = affinities.leading(count)
        else:
            _, vectors = eigsh(
                affinities.operator(),
                k=count,
                which="LA",
                tol=self._tolerance(x),
                v0=start,
                ncv=min(max(_LANCZOS, 4 * count), x.shape[0]),
            )
        vectors = vectors[:, ::-1] / affinities.roots[:, None]
        return _deterministic_vector_sign_flip(vectors.T).T

    def _tolerance(self, x: Any) -> float:
        if not isinstance(self.eigen_tol, str):
            return float(self.eigen_tol)
        return 1e-5 if "float32" in str(x.dtype) else 1e-8


class _Normalised:
    """D^(-1/2) (K - diag K) D^(-1/2), whose largest eigenvalues are wanted.

    D are the sums of its rows; the Laplacian is the identity less this, 0
    where a point has no neighbour.
    """

    def __init__(self, matrix: Kernel, like: Any) -> None:
        self._matrix, self._like = matrix, like
        self._diagonal = as_numpy(matrix.diag()).astype(np.float64)
        degrees = as_numpy(matrix.sum(1)) - self._diagonal
        self._alone = degrees <= 0
        self.roots = np.sqrt(np.where(self._alone, 1, degrees))

    def operator(self) -> LinearOperator:
        """As SciPy's solvers take it, in float64."""
        return LinearOperator(
            self._matrix.shape, matvec=self._product, dtype=np.float64
        )

    def leading(self, count: int) -> Any:
        """The `count` largest eigenvectors, ascending, of all values."""
        values = as_numpy(self._matrix.dense()).astype(np.float64)
        np.fill_diagonal(values, 0)
        values /= self.roots
        values /= self.roots[:, None]
        values.flat[:: len(values) + 1] = self._alone
        last = len(values) - 1
        first = max(last + 1 - count, 0)
        return scipy.linalg.eigh(values, subset_by_index=[first, last])[1]

    def _product(self, vector: Any) -> Any:
        scaled = vector.ravel() / self.roots
        given = beside(scaled.astype(_dtype(self._like)), self._like)
        product = as_numpy(self._matrix @ given) - self._diagonal * scaled
        return product / self.roots + self._alone * vector.ravel()


def _dtype(points: Any) -> Any:
    return np.float32 if "float32" in str(points.dtype) else np.float64
