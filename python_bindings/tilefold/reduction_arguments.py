# python_bindings/tilefold/reduction_arguments.py - what `Reduction` is given.
"""Arguments of `Reduction`: their places, types, and arrays without memory."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from tilefold import _core
from tilefold.errors import ArgumentError
from tilefold.graph_text import nodes_of
from tilefold.result_types import ArgumentType, as_taken, stand_ins
from tilefold.result_types import type_of as described
from tilefold.roles import Role, bare
from tilefold.states import PartArgument, State, StateKind, require_same

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ORDER_FREE",
    "Place",
    "add_unread",
    "arguments_like",
    "digest",
    "kind_of",
    "made_of_types",
    "partial_call",
    "places_of",
    "refuse_both_axes",
    "require_arrays",
    "require_states",
    "sweeps_of",
    "with_segment",
]

Place: TypeAlias = "tuple[int, int] | None"

_WHOLE = (0, -1)  # an axis of which all points are given

# Reductions whose terms are chosen or counted, but not added up.
ORDER_FREE = {
    "all", "any", "argkmin", "argmax", "argmin", "count", "kmin", "max", "min"
}  # fmt: skip


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


def _place_of(axis: str, given: Place) -> tuple[int, int]:
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


def _refuse_several() -> NoReturn:
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
) -> PartArgument:
    """An argument, and -1 in its shape for its points."""
    declared = value.axes if isinstance(value, Role) else None
    array = as_taken(bare(value))
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        array = np.asarray(array)
    shape = [int(extent) for extent in array.shape]
    axes = formula._axes_of(name)[1] if declared is None else declared
    if axes:
        shape[_points_at(shape, batch_rank)] = -1
    library = "torch" if type(array).__module__ == "torch" else "numpy"
    dtype = str(array.dtype).removeprefix("torch.")
    axis = ("", "i", "j")[axes]
    return PartArgument(name, tuple(shape), dtype, axis, declared, library)


def _points_at(shape: list[int], batch_rank: int | None) -> int:
    """The dimension of an array that its points are on."""
    if batch_rank is not None:
        return batch_rank
    return max(len(shape) - 2, 0)


def digest(*parts: Any) -> str:
    """A text that stands for these, in any process."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def made_up(argument: PartArgument, points: int) -> Any:
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


def arguments_like(kind: StateKind) -> dict[str, Any]:
    """Arrays without numbers, of the types that states are of."""
    points = {kind.reduced: min(kind.total, 1), kind.kept: kind.rows}
    given = {
        argument.name: made_up(argument, points.get(argument.axis, 1))
        for argument in kind.arguments
    }
    if kind.batch_rank is not None:
        given["batch_rank"] = kind.batch_rank
    return given


def kind_of(
    formula: _core.Formula,
    name: str,
    monoid: str,
    layout: Mapping[str, Any],
    given: Mapping[str, Any],
) -> StateKind:
    """What the states of a call are, given its layout and arguments.

    `name` stands for the formula and the settings of all calls, and `monoid`
    for those that other plans have in common.
    """
    batch_rank = given.get("batch_rank")
    arguments = tuple(
        type_of(formula, argument, given[argument], batch_rank)
        for argument in sorted(given)
        if argument not in ("batch_rank", "out", "options")
    )
    types = [str(argument) for argument in arguments]
    own = {item.name for item in fields(StateKind)} & layout.keys()
    return StateKind(
        fingerprint=f"{name}-{digest(layout['kind'], types)}",
        monoid=f"{monoid}-{digest(types)}",
        arguments=arguments,
        batch_rank=batch_rank,
        **{field: layout[field] for field in own},
    )


def made_of_types(
    formula: _core.Formula, given: dict[str, Any]
) -> dict[str, Any]:
    """The arguments; arrays without memory for all where some are types."""
    if not any(isinstance(bare(v), ArgumentType) for v in given.values()):
        return given
    types = {
        name: described(name, value)
        for name, value in given.items()
        if name != "batch_rank"
    }
    batch = given.get("batch_rank")
    arrays, own, _ = stand_ins(formula, types, batch or 0)
    return arrays if batch is None else {**arrays, "batch_rank": own}


def sweeps_of(formula: _core.Formula, given: dict[str, Any]) -> list[set[str]]:
    """The passes over the pairs, as the reductions of each."""
    arguments = dict(made_of_types(formula, given))
    batch = arguments.pop("batch_rank", None)
    settings = {} if batch is None else {"batch_rank": batch}
    program = formula._program(arguments, settings)
    sweeps = (
        {node.more[0] for node in nodes_of(sweep) if node.op == "reduce"}
        for sweep in program["sweeps"]
    )
    return [reductions for reductions in sweeps if reductions]


def require_states(states: Any, name: str, told: str, mixed: bool) -> None:
    """They are states of what `name` stands for; of any options if mixed."""
    if not states:
        _core.fail("BadOption", "states", "none", "pass one or more")
    for state in states:
        if not isinstance(state, State):
            _core.fail(
                "BadOption",
                "state",
                f"a {type(state).__name__}",
                "pass what partial() or merge() returned; bytes go "
                "through tilefold.State.from_bytes",
            )
        if not mixed and not state.fingerprint.startswith(name + "-"):
            _core.fail(
                "BadOption",
                "state",
                "one of another formula, segment or options",
                f"pass states of {told}; where only options differ, merge "
                "with mixed=True",
            )


def add_unread(kind: StateKind, given: dict[str, Any]) -> None:
    """Adds arrays in the place of those that a result reads nothing of."""
    unread = {kind.reduced: min(kind.total, 1)}
    if kind.folds:
        unread[kind.kept] = kind.rows
    for argument in kind.arguments:
        if argument.axis and argument.axis in unread:
            points = unread[argument.axis]
            given.setdefault(argument.name, made_up(argument, points))


def require_arrays(kind: StateKind, own: StateKind) -> None:
    """Raises ArgumentError unless arrays are of the types that a state is of.

    `own` is the kind that states of the arrays have here.
    """
    if own.monoid != kind.monoid:
        _core.fail(
            "BadOption",
            "state",
            "one of arrays of other types than these",
            "pass arrays of the dtypes and components that the states "
            f"are of: {', '.join(map(str, kind.arguments))}",
        )
    require_same(replace(kind, fingerprint=own.fingerprint), kind)


def _is_parameter(
    formula: _core.Formula, name: str, value: Any, totals: list[int]
) -> bool:
    """Whether an array is a parameter though a part has as many points.

    The whole axis has not.
    """
    if isinstance(value, Role) or name == "batch_rank":
        return False
    shape = np.shape(value)
    is_alone = len(shape) == 1 and shape[0] not in totals
    return is_alone and formula._axes_of(name)[1] == 0


def partial_call(
    formula: _core.Formula,
    settings: dict[str, Any],
    given: dict[str, Any],
    i: Place,
    j: Place,
) -> _core.PartialCall:
    """The call of arrays that lie somewhere on their axes.

    `settings` are those of all calls: options, and perhaps ranges.
    """
    for name in ("options", "session", "ranges", "sum_batch", "accumulate"):
        if given.get(name) is not None:
            _core.fail(
                "BadOption",
                name,
                "an argument of one part",
                "options and ranges belong to tilefold.Reduction(…, options=, "
                "ranges=); leave out the others",
            )
    refuse_both_axes(formula, given)
    places = _place_of("i", i), _place_of("j", j)
    totals = [place[1] for place in (i, j) if place]
    own = {
        name: Role(value, 0)
        for name, value in given.items()
        if totals and _is_parameter(formula, name, value, totals)
    }
    arguments = {**given, **own, **settings}
    try:
        return _core.PartialCall(formula, arguments, *places)
    except ArgumentError as error:
        if "several passes" in str(error):
            _refuse_several()
        raise
