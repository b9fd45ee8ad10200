# python_bindings/tilefold/reduction_arguments.py - what `Reduction` is given.
"""Arguments of `Reduction`: their places, types, and arrays without memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from tilefold import _core
from tilefold.roles import Role, bare
from tilefold.states import ArgumentType, StateKind

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Place",
    "digest",
    "made_up",
    "place_of",
    "refuse_both_axes",
    "refuse_several",
    "type_of",
    "with_segment",
]

Place: TypeAlias = "tuple[int, int] | None"

_WHOLE = (0, -1)  # an axis of which all points are given


def with_segment(options: _core.Options | None, segment: int) -> _core.Options:
    """The options with the segment."""
    if type(segment) is not int or segment < 1:
        _core.fail(
            "BadOption",
            "segment",
            repr(segment),
            "give a number of points from 1 on",
        )
    if options is None:
        return _core.Options(segment=segment)
    if not isinstance(options, _core.Options):
        _core.fail(
            "BadOption",
            "options",
            f"a {type(options).__name__}",
            "pass a tilefold.Options",
        )
    if options.segment not in (None, segment):
        _core.fail(
            "BadOption",
            "segment",
            f"{options.segment} among the options, and {segment}",
            "say it once: tilefold.Reduction(…, segment=)",
        )
    constructor: Any = options.__reduce__()[0]
    return _core.Options(**{**constructor.keywords, "segment": segment})


def place_of(axis: str, given: Place) -> tuple[int, int]:
    """The first number and the length of an axis, or the whole of it."""
    if given is None:
        return _WHOLE
    try:
        first, total = (int(number) for number in given)
    except (TypeError, ValueError):
        first, total = -1, -1
    if first < 0 or total < 0:
        _core.fail(
            "BadOption",
            axis,
            repr(given),
            "pass the number of the first point, and how many there are in all",
        )
    return first, total


def places_of(
    kind: StateKind, given: Mapping[str, Any]
) -> dict[str, tuple[int, int]]:
    """Where the arrays of a state's rows lie."""
    places = {kind.reduced: (0, kind.total)}
    if kind.kept:
        places[kind.kept] = (kind.first_row, kind.total_rows)
    on = {argument.name: argument.axis for argument in kind.arguments}
    held = {on.get(name, "") for name in given}
    return {axis: place for axis, place in places.items() if axis in held}


def refuse_both_axes(formula: _core.Formula, given: Mapping[str, Any]) -> None:
    """Arrays whose points are on i and on j have no parts of their own."""
    for name in given:
        known, axes = formula._axes_of(name)
        if axes == 3 and not isinstance(given[name], Role):
            _core.fail(
                "BadOption",
                f"'{name}'",
                "an array whose points are on both axes",
                f"name its points on j otherwise, as in {known}_i and y_j, and "
                "pass it under both names",
            )


def refuse_several() -> NoReturn:
    """Refuses states of a formula that has none of its own."""
    _core.fail(
        "BadOption",
        "formula",
        "one that takes several passes over the pairs, and states are of one",
        "take them one by one: for step in reduction.passes(…), each with "
        "partial, merge and finalise",
    )


def type_of(
    formula: _core.Formula, name: str, value: Any, batch_rank: int | None
) -> ArgumentType:
    """An argument, and -1 in its shape for its points."""
    declared = value.axes if isinstance(value, Role) else None
    array = bare(value)
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        array = np.asarray(array)
    shape = [int(extent) for extent in array.shape]
    axes = formula._axes_of(name)[1] if declared is None else declared
    if axes:
        shape[_points_at(shape, batch_rank)] = -1
    library = "torch" if type(array).__module__ == "torch" else "numpy"
    dtype = str(array.dtype).removeprefix("torch.")
    axis = ("", "i", "j")[axes]
    return ArgumentType(name, tuple(shape), dtype, axis, declared, library)


def _points_at(shape: list[int], batch_rank: int | None) -> int:
    """The dimension of an array that its points are on."""
    if batch_rank is not None:
        return batch_rank
    return max(len(shape) - 2, 0)


def digest(*parts: Any) -> str:
    """A text that stands for these, in any process."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def made_up(argument: ArgumentType, points: int) -> Any:
    """Zeros of the type of an argument, of the memory of one."""
    shape = tuple(points if n < 0 else n for n in argument.shape)
    value: Any
    if argument.library == "torch":
        import torch

        value = torch.zeros((), dtype=getattr(torch, argument.dtype))
        value = value.expand(shape)
    else:
        value = np.broadcast_to(np.zeros((), np.dtype(argument.dtype)), shape)
    if argument.declared is None:
        return value
    return Role(value, argument.declared)
