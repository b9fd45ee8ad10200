# python_bindings/tilefold/neighbors.py - the points within a radius.
"""`radius_neighbors`: which points are near one another, as a sparse list."""

from __future__ import annotations

from typing import Any, NamedTuple

from tilefold import _core
from tilefold.pair_term import PairTerm
from tilefold.roles import detached

__all__ = ["Neighbors", "radius_neighbors"]


class Neighbors(NamedTuple):
    """The neighbours of each point, as compressed sparse rows.

    Those of point i are `indices[indptr[i]:indptr[i + 1]]`, ascending, and
    `distances` of the same places. SciPy reads them as

        scipy.sparse.csr_matrix((distances, indices, indptr), shape=K.shape)
    """

    indptr: Any
    indices: Any
    distances: Any


def radius_neighbors(
    x: Any,
    y: Any = None,
    radius: float = 1.0,
    metric: str = "euclidean",
    return_distance: bool = False,
) -> Neighbors:
    """For each point of x, the points of y at a distance of at most `radius`.

    x has shape (N, D) and y (M, D); without y, neighbours are among x, each
    point its own. `metric` is a named distance of two points and nothing
    else ("euclidean", "manhattan", "chebyshev", "haversine", …); other
    distances are kernels, which have the method
    `tilefold.Kernel.radius_neighbors`; see there for the result.

    Raises `FormulaError`, `ShapeError`, `DTypeError`, `ArgumentError`.
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
