# python_bindings/tilefold/neighbors.py - the points within a radius.
"""`radius_neighbors`: which points are near one another, as a sparse list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tilefold import _core
from tilefold.pair_term import PairTerm
from tilefold.roles import detached

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike

__all__ = ["Neighbors", "radius_neighbors"]


class Neighbors(NamedTuple):
    """The neighbours of each point, as compressed sparse rows.

    Those of point i are ``indices[indptr[i]:indptr[i + 1]]``, ascending, and
    their distances the same places of ``distances``. SciPy reads them as
    ``scipy.sparse.csr_matrix((distances, indices, indptr), shape=K.shape)``.

    Attributes
    ----------
    indptr : array of int64
        Where the neighbours of each point begin: shape (N + 1,).
    indices : array of int64
        The neighbours, shape (n,).
    distances : array or None
        Their distances, shape (n,), where they were asked for.

    See Also
    --------
    radius_neighbors, Kernel.radius_neighbors

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [5.0]])
    >>> near = tilefold.radius_neighbors(x, radius=2)
    >>> near.indptr
    array([0, 2, 4, 5])
    >>> near.indices
    array([0, 1, 0, 1, 2])
    """

    indptr: Any
    indices: Any
    distances: Any


Neighbors.__module__ = "tilefold"  # where it is found
Neighbors.indptr.__doc__ = "Where the neighbours of each point begin: (N + 1,)."
Neighbors.indices.__doc__ = "The neighbours of all points, int64: (n,)."
Neighbors.distances.__doc__ = "Their distances, (n,), or None."


def radius_neighbors(
    x: ArrayLike,
    y: ArrayLike | None = None,
    radius: float = 1.0,
    metric: str = "euclidean",
    return_distance: bool = False,
) -> Neighbors:
    """Finds, for each point of x, the points of y within a radius.

    Every pair is looked at, in blocks: memory is that of the result.

    Parameters
    ----------
    x : array of shape (N, D)
        Points, of any real dtype.
    y : array of shape (M, D), optional
        Points among which neighbours are sought, of any real dtype; without
        them x, each point being its own neighbour.
    radius : float, default 1.0
        The largest distance that is near, in the units of the metric.
    metric : str, default "euclidean"
        A named distance of two points and nothing else: "euclidean",
        "manhattan", "chebyshev", "haversine", ...; others are kernels, whose
        method ``Kernel.radius_neighbors`` does the same.
    return_distance : bool, default False
        Whether distances are kept.

    Returns
    -------
    Neighbors
        ``indptr`` (N + 1,) and ``indices`` (n,), int64, and ``distances`` (n,)
        or None.

    Raises
    ------
    ArgumentError
        For a metric that there is not.
    ShapeError, DTypeError
        Where the points do not fit each other.

    See Also
    --------
    Kernel.radius_neighbors : the same by any distance.
    Kernel.argkmin : a number of neighbours, however far.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [5.0]])
    >>> near = tilefold.radius_neighbors(x, radius=2, return_distance=True)
    >>> near.distances
    array([0., 1., 1., 0., 0.])
    """
    known = _core.named_distances()
    if metric not in known:
        cure = f"pass one of {', '.join(known)}"
        _core.fail("BadOption", "metric", repr(metric), cure)
    arrays: dict[str, Any] = {"x": x}
    other = "x_j"
    if y is not None:
        arrays["y"] = y
        other = "y_j"
    formula = _core.compile(f"{metric}(x_i, {other})")
    pair = PairTerm.sized(formula, arrays, {"options": None})
    if len(pair.shape) != 2:
        _core.fail("NeighborsShape", pair.shape)
    return neighbors(pair, radius, return_distance)


def neighbors(pair: PairTerm, radius: Any, with_values: bool) -> Neighbors:
    """Those of the rows of a pair term."""
    arguments = {
        name: detached(value) for name, value in pair.arguments.items()
    }
    return Neighbors(
        *_core._neighbors(
            pair.formula,
            arguments,
            detached(radius),
            with_values,
            pair.settings,
        )
    )
