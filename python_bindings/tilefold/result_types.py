# python_bindings/tilefold/result_types.py - what a formula gives, told
# without a run.
"""`ArgumentType`, `ResultType`, and the second for the first.

No array is read and no kernel compiled: for what plans calls, whose arrays
are not there yet. Lengths may be symbols, which are handed through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tilefold import _core
from tilefold.errors import ShapeError
from tilefold.roles import Role, bare
from tilefold.slices import I, J

__all__ = [
    "ArgumentType",
    "Place",
    "ResultType",
    "as_taken",
    "axes_of",
    "batch_of",
    "few",
    "few_columns",
    "is_symbol",
    "points_of",
    "result_types",
    "stand_ins",
    "type_of",
    "with_few_points",
]

_MOST_KEPT = 64  # signatures of a formula

# NumPy has bfloat16 only beside ml_dtypes, and results are of the same types.
_STAND_INS = {"bfloat16": "float16"}


@dataclass(frozen=True)
class ArgumentType:
    """An argument without its numbers, for ``Formula.result_types``.

    Parameters
    ----------
    shape : tuple
        Dimensions of the batch, points, components, as an array has them.
        Where the number of points, or of a batch, is not known, it may be
        None, a name, or any symbol that is no int.
    dtype : str or dtype
        Of NumPy, or of the library of the array.
    axes : int, optional
        0, 1 or 2: what ``Pm``, ``Vi`` or ``Vj`` would declare.

    Raises
    ------
    TypeError
        For a shape that is no tuple or list.

    See Also
    --------
    ResultType

    Examples
    --------
    >>> tilefold.ArgumentType(("N", 3), np.float32)
    ArgumentType(shape=('N', 3), dtype='float32', axes=None)
    """

    __module__ = "tilefold"  # where it is found

    shape: tuple[Any, ...]
    dtype: str
    axes: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        object.__setattr__(self, "dtype", _name_of(self.dtype))


@dataclass(frozen=True)
class ResultType:
    """What a formula gives for types of arguments.

    Attributes
    ----------
    like : str or None
        The argument whose shape a gradient has; None of any other result.
    axes : int
        Those that it keeps: 0 none, 1 i, 2 j, 3 both.
    components : tuple of int
        The extents behind the points: () of a number.
    dtype : str
        As NumPy names it.
    shape : tuple
        All of its extents, of which symbols are those of the arguments.

    See Also
    --------
    Formula.result_types

    Examples
    --------
    >>> f = tilefold.compile("sum_j x_i·y_j").grad("x")
    >>> points = tilefold.ArgumentType(("N", 3), np.float32)
    >>> grad = tilefold.ArgumentType(("N",), np.float32)
    >>> f.result_types({"x": points, "y": points, "grad": grad})[0].like
    'x'
    """

    __module__ = "tilefold"  # where it is found

    like: str | None
    axes: int
    components: tuple[int, ...]
    dtype: str
    shape: tuple[Any, ...]


def result_types(
    formula: _core.Formula, types: Mapping[str, Any], batch: int = 0
) -> list[ResultType]:
    """What `Formula.result_types` gives; once for the same types."""
    if not isinstance(types, Mapping):
        _core.fail(
            "BadOption",
            "types",
            f"a {type(types).__name__}",
            'pass a mapping, as in {"x": tilefold.ArgumentType((5, 3), "f4")}',
        )
    if type(batch) is not int or batch < 0:
        _core.fail(
            "BadOption",
            "batch",
            repr(batch),
            "pass how many first dimensions are a batch's, from 0 on",
        )
    given = {name: type_of(name, value) for name, value in types.items()}
    signature = (batch, *given.items())
    kept = _KEPT.setdefault(formula, {})
    try:
        found = kept.get(signature)
    except TypeError:  # a symbol that has no hash
        return _found(formula, given, batch)
    if found is None:
        found = _found(formula, given, batch)
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[signature] = found
    return list(found)


_KEPT: WeakKeyDictionary[Any, dict[Any, list[ResultType]]] = WeakKeyDictionary()


def _found(
    formula: _core.Formula, given: Mapping[str, ArgumentType], batch: int
) -> list[ResultType]:
    """The same, of checked types."""
    arrays, own, places = stand_ins(formula, given, batch)
    found = formula._result_types(arrays, {"batch_rank": own})
    points = points_of(places, batch)
    batches = batch_of(places, [1] * batch)
    results = []
    for like, axes, dtype, width in found:
        if like:  # a gradient has the shape of its argument
            on, shape = places[like]
            components = shape[batch + bool(on) :]
        else:
            kept = tuple(points[axis] for axis in (I, J) if axes & axis)
            components = (width,) if width >= 0 else ()
            shape = (*batches, *kept, *components)
        results.append(ResultType(like or None, axes, components, dtype, shape))
    return results


def stand_ins(
    formula: _core.Formula, given: Mapping[str, ArgumentType], batch: int
) -> tuple[dict[str, Any], int, dict[str, Place]]:
    """Arrays that take no memory, the rank of their batch, and all places.

    Where a length is a symbol, they are few points, without a batch.
    """
    places: dict[str, Place] = {}
    for name, kind in given.items():
        known = formula._axes_of(name)[0]
        places[known] = Place(axes_of(formula, name, kind), kind.shape)
    shapes = [kind.shape for kind in given.values()]
    own = batch
    if any(is_symbol(extent) for shape in shapes for extent in shape):
        own = 0
        columns = few_columns([axes for axes, _ in places.values()])
        shapes = [
            few(axes, shape[batch:], columns) for axes, shape in places.values()
        ]
    arrays = {
        name: _array_of(name, shape, kind)
        for (name, kind), shape in zip(given.items(), shapes, strict=True)
    }
    return arrays, own, places


# ---- types -------------------------------------------------------------------


def _name_of(dtype: Any) -> str:
    """An element type as NumPy names it."""
    text = str(dtype).removeprefix("torch.")
    try:
        return np.dtype(text if "torch." in str(dtype) else dtype).name
    except TypeError:  # one that NumPy does not have, or none
        return text


def as_taken(value: Any) -> Any:
    """A whole number or truth value of Python's as calls take it.

    As a float, unless it is an integer that no float64 holds.
    """
    if not isinstance(value, bool | int):
        return value
    try:
        number = float(value)
    except OverflowError:  # which a call refuses by name
        return value
    return number if number == value else value


def type_of(name: str, value: Any) -> ArgumentType:
    """The type of an argument, which may be given in its place."""
    axes = value.axes if isinstance(value, Role) else None
    value = as_taken(bare(value))
    if isinstance(value, bool | int | float | complex):
        value = np.asarray(value)
    if isinstance(value, ArgumentType):
        if value.axes not in (None, 0, I, J):
            _core.fail(
                "BadOption",
                f"axes of '{name}'",
                repr(value.axes),
                "pass 0, 1 for i or 2 for j; without it subscripts say them",
            )
        return value if axes is None else replace(value, axes=axes)
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        _core.fail(
            "BadOption",
            f"'{name}'",
            f"a {type(value).__name__} without a shape and a dtype",
            "pass tilefold.ArgumentType(shape, dtype), or an array",
        )
    return ArgumentType(value.shape, value.dtype, axes)


def _array_of(name: str, shape: tuple[Any, ...], kind: ArgumentType) -> Any:
    """An array that takes no memory."""
    if any(is_symbol(extent) or extent < 0 for extent in shape):
        _core.fail(
            "BadOption",
            f"'{name}'",
            f"of shape {kind.shape}, whose components are not all known",
            "give components as numbers: only points, of which axes= says "
            "where subscripts do not, and what batch= counts, may be symbols",
        )
    try:
        zero = np.zeros((), _STAND_INS.get(kind.dtype, kind.dtype))
    except TypeError:
        _core.fail("UnsupportedDType", name, kind.dtype)
    value = np.broadcast_to(zero, [int(extent) for extent in shape])
    return value if kind.axes is None else Role(value, kind.axes)


# ---- lengths that may be symbols ---------------------------------------------


class Place(NamedTuple):
    """Where an argument lies: its axes, as bits, and all of its shape."""

    axes: int
    shape: tuple[Any, ...]


def is_symbol(extent: Any) -> bool:
    """Whether an extent is not known."""
    return not isinstance(extent, int | np.integer)


def few(axes: int, shape: Sequence[Any], columns: int) -> tuple[Any, ...]:
    """A shape without a batch, with few points where there may be any."""
    if axes and shape:
        return (columns if axes == J else 2, *shape[1:])
    return tuple(shape)


def few_columns(axes: Iterable[int]) -> int:
    """Few points of j: as many as of i where an array is on both axes."""
    return 2 if I + J in axes else 3


def axes_of(formula: _core.Formula, name: str, value: Any) -> int:
    """The axes of an argument, as bits: declared, or as subscripts have it."""
    own = value.axes if isinstance(value, Role | ArgumentType) else None
    return int(formula._axes_of(name)[1]) if own is None else int(own)


def with_few_points(
    formula: _core.Formula,
    arguments: Mapping[str, Any],
    batch_rank: int | None,
    stand_in: Callable[[Any, tuple[Any, ...]], Any],
) -> tuple[dict[str, Any], tuple[Any, Any]]:
    """Arrays of few points for arguments, and N and M, which may be symbols.

    `stand_in` makes what is like a value, of another shape and without memory.
    """
    places = {
        name: Place(axes_of(formula, name, value), tuple(np.shape(bare(value))))
        for name, value in arguments.items()
    }
    columns = few_columns([axes for axes, _ in places.values()])
    found, points = {}, {I: 1, J: 1}
    for name, (axes, shape) in places.items():
        batch = max(len(shape) - 2, 0) if batch_rank is None else batch_rank
        if len(shape) > batch:
            for axis in (I, J):
                if axes & axis:
                    points[axis] = shape[batch]
        own = (*shape[:batch], *few(axes, shape[batch:], columns))
        array = stand_in(bare(arguments[name]), own)
        is_declared = isinstance(arguments[name], Role)
        found[name] = Role(array, axes) if is_declared else array
    return found, (points[I], points[J])


def points_of(places: Mapping[str, Place], batch: int) -> dict[int, Any]:
    """The points on each axis, of which all arrays on it have as many."""
    points: dict[int, Any] = {I: 1, J: 1}
    said_by: dict[int, str] = {}
    for name, (axes, shape) in places.items():
        for axis in (I, J):
            if not axes & axis or len(shape) <= batch:
                continue
            extent = shape[batch]
            if axis not in said_by or points[axis] is None:
                points[axis], said_by[axis] = extent, name
            elif extent is not None and extent != points[axis]:
                # Of more texts than _core.fail() takes.
                message = (
                    f"'{said_by[axis]}' has {points[axis]} rows on "
                    f"{'i' if axis == I else 'j'}, '{name}' has {extent}\n"
                    "all arrays on one axis have the same number of rows"
                )
                raise ShapeError(message, code="LengthMismatch")
    return points


def batch_of(
    places: Mapping[str, Place], extents: Sequence[Any]
) -> tuple[Any, ...]:
    """The dimensions of the batch, as all arrays together have them.

    `extents` are those that something else has said, or 1.
    """
    found = list(extents)
    for name, (_, shape) in places.items():
        own = shape[: len(found)]
        for d, extent in enumerate(own):
            if _is_one(found[d]) or found[d] is None:
                found[d] = found[d] if _is_one(extent) else extent
            elif not _is_one(extent) and extent not in (None, found[d]):
                _core.fail(
                    "BatchMismatch", tuple(found), "the others", own, name
                )
    return tuple(found)


def _is_one(extent: Any) -> bool:
    return not is_symbol(extent) and bool(extent == 1)
