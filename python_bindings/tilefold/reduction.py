# python_bindings/tilefold/reduction.py - a reduction over data in parts.
"""`Reduction`: partial, merge, finalise.

    r = tilefold.Reduction("sum_j exp(-|x_i - y_j|²) b_j")
    states = [r.partial(x=x, y=y[a:b], b=b[a:b], j=(a, len(y)))
              for a, b in parts]
    result = r.finalise(r.merge(*states), x=x)

Parts may be computed anywhere, in any order, and more than once. Where they
begin at multiples of the segment, the result has the bits of one call with
`Options(segment=…)`, however many parts there are; where they do not, the same
parts give the same bits, whoever merges them, and when.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import fields
from functools import reduce as _fold
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.roles import Role, bare
from tilefold.states import ArgumentType, State, StateKind, joined, nodes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    Place = tuple[int, int] | None

__all__ = ["Reduction"]

_WHOLE = (0, -1)  # an axis of which all points are given
_MOST_CALLS = 16  # kept for merges, which need no numbers of arguments


class Reduction:
    """A reduction whose points may come in parts.

    `formula` is a text or a `Formula` that reduces once: a sum, an extremum, a
    mean, a log-sum-exp … of what needs no other reduction. `segment` is how
    many points of the reduced axis are joined at a time, `options` are those
    of all calls. Computed by the CPU. Picklable and hashable.

    Raises `ArgumentError` for formulas of several passes over the pairs, such
    as variances and derivatives, when a part is computed.
    """

    __slots__ = (
        "__weakref__",
        "_calls",
        "_lock",
        "_options",
        "formula",
        "options",
        "segment",
    )

    def __init__(
        self,
        formula: str | _core.Formula,
        *,
        segment: int = 8192,
        options: _core.Options | None = None,
    ) -> None:
        if not isinstance(formula, _core.Formula):
            formula = _core.compile(formula)
        self.formula = formula
        self.segment = segment
        self.options = options
        self._options = _with_segment(options, segment)
        self._calls: OrderedDict[StateKind, _core.PartialCall] = OrderedDict()
        self._lock = Lock()

    def partial(
        self,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        i: Place = None,
        j: Place = None,
        **arrays: Any,
    ) -> State:
        """The state of the points that the arrays hold.

        `i` and `j` say where arrays lie on the whole axes: the number of
        their first point, and how many points there are in all; without them
        the arrays are the whole axes. Of the axis that the result keeps, the
        state has a row for each point here, of `slots` numbers.

        Raises what a call raises, and `ArgumentError` for a place that the
        axis does not have.
        """
        given = {**(arguments or {}), **arrays}
        call = self._bound(given, i, j)
        layout = call.layout
        kind = self._kind(layout, given)
        first = layout["first"]
        nodes, fragments = nodes_of(kind, first, first + layout["count"])
        return State(
            kind,
            {node: call.leave(*kind.points(node)) for node in nodes},
            {part: call.leave(*part) for part in fragments},
        )

    def identity(
        self,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        i: Place = None,
        j: Place = None,
        **arrays: Any,
    ) -> State:
        """The state of no points, as `partial` of these arrays has it."""
        given = {**(arguments or {}), **arrays}
        layout = self._bound(given, i, j).layout
        return State(self._kind(layout, given))

    def merge(self, *states: State) -> State:
        """All points of the states, in any order, as one state.

        What comes twice counts once. Raises `ArgumentError` for states of
        another formula, other types of arguments, rows or lengths, and for
        parts that meet some points twice.
        """
        self._require(states)
        return joined(states, self._merge(states[0]) if states else _never)

    def concatenate(self, *states: State) -> State:
        """The rows of all states, each of the same points, as one state.

        For what is finalised for all rows together: `sum_ij`. Raises
        `ArgumentError` where rows do not follow one another.
        """
        self._require(states)
        if not states:
            _core.fail("BadOption", "states", "none", "pass one or more")
        ordered = sorted(states, key=lambda state: state.kind.first_row)
        return _fold(self._beside, ordered)

    def finalise(
        self,
        state: State,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        out: Any = None,
        **arrays: Any,
    ) -> Any:
        """The result for the state's rows, as the formula gives it.

        Takes the arrays on the kept axis and parameters; of those on a reduced
        axis nothing is read, and they may be missing. Raises `ArgumentError`
        where the state lacks points, of which it names the first, and for
        arrays of other types than the state's.
        """
        self._require([state])
        kind = state.kind
        if not state.complete:
            self._refuse_incomplete(state)
        given = {**(arguments or {}), **arrays}
        unread = {kind.reduced: min(kind.total, 1)}
        if kind.folds:
            unread[kind.kept] = kind.rows
        for argument in kind.arguments:
            if argument.axis and argument.axis in unread:
                points = unread[argument.axis]
                given.setdefault(argument.name, _made_up(argument, points))
        places = self._places(kind, given)
        if out is not None:
            given["out"] = out
        call = self._bound(given, places.get("i"), places.get("j"))
        if self._kind(call.layout, given).fingerprint != kind.fingerprint:
            _core.fail(
                "BadOption",
                "state",
                "one of arrays of other types than these",
                "pass arrays of the dtypes and components that the states "
                f"are of: {', '.join(map(str, kind.arguments))}",
            )
        return call.finalise(self._whole(state, call))

    def __call__(
        self,
        arguments: Mapping[str, Any] | None = None,
        /,
        **arrays: Any,
    ) -> Any:
        """The result in one call, in memory: of the same bits."""
        given = {**(arguments or {}), **arrays}
        return self.formula(**given, options=self._options)

    def __repr__(self) -> str:
        more = f", options={self.options!r}" if self.options else ""
        return (
            f"tilefold.Reduction({self.formula.text!r}, "
            f"segment={self.segment}{more})"
        )

    def _token(self) -> tuple[Any, ...]:
        """What it is told apart by."""
        options = repr(self.options) if self.options else ""
        return (repr(self.formula), self.segment, options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reduction):
            return NotImplemented
        return self._token() == other._token()

    def __hash__(self) -> int:
        return hash(self._token())

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return ("tilefold.Reduction", *self._token())

    def __reduce__(self) -> Any:
        return _again, (self.formula, self.segment, self.options)

    def _bound(
        self, given: dict[str, Any], i: Place, j: Place
    ) -> _core.PartialCall:
        """The call of these arrays, with the settings of all calls."""
        for name in ("options", "session", "ranges", "sum_batch", "accumulate"):
            if given.get(name) is not None:
                _core.fail(
                    "BadOption",
                    name,
                    "it among the arguments of a Reduction",
                    "options belong to tilefold.Reduction(…, options=); "
                    "leave out the others",
                )
        arguments = {**given, "options": self._options}
        return _core.PartialCall(
            self.formula, arguments, _place("i", i), _place("j", j)
        )

    def _kind(self, layout: dict[str, Any], given: dict[str, Any]) -> StateKind:
        """What the states of a call are, given its arguments."""
        batch_rank = given.get("batch_rank")
        arguments = tuple(
            _type_of(self.formula, name, given[name], batch_rank)
            for name in sorted(given)
            if name not in ("batch_rank", "out", "options")
        )
        types = [str(argument) for argument in arguments]
        own = {item.name for item in fields(StateKind)} & layout.keys()
        return StateKind(
            fingerprint=f"{self._name()}-{_digest(layout['kind'], types)}",
            arguments=arguments,
            batch_rank=batch_rank,
            **{name: layout[name] for name in own},
        )

    def _name(self) -> str:
        """What stands for the formula and the settings of all calls."""
        return _digest(self.formula.text, self._token())

    def _call(self, kind: StateKind) -> _core.PartialCall:
        """A call without numbers, for states of this kind."""
        with self._lock:
            if kind in self._calls:
                self._calls.move_to_end(kind)
                return self._calls[kind]
        points = {kind.reduced: min(kind.total, 1), kind.kept: kind.rows}
        given = {
            argument.name: _made_up(argument, points.get(argument.axis, 1))
            for argument in kind.arguments
        }
        if kind.batch_rank is not None:
            given["batch_rank"] = kind.batch_rank
        places = self._places(kind, given)
        call = self._bound(given, places.get("i"), places.get("j"))
        if self._kind(call.layout, given).fingerprint != kind.fingerprint:
            _core.fail(
                "BadOption",
                "state",
                "one of another plan, machine or version",
                "pin the code of all machines by "
                'options=tilefold.Options(isa="x86-64-v3")',
            )
        with self._lock:
            self._calls[kind] = call
            while len(self._calls) > _MOST_CALLS:
                self._calls.popitem(last=False)
        return call

    def _merge(self, state: State) -> Any:
        """What joins later states to earlier ones of this kind, in place."""
        return self._call(state.kind).merge

    def _require(self, states: Any) -> None:
        """They are states of this formula."""
        for state in states:
            if not isinstance(state, State):
                _core.fail(
                    "BadOption",
                    "state",
                    f"a {type(state).__name__}",
                    "pass what partial() or merge() returned; bytes go "
                    "through tilefold.State.from_bytes",
                )
            if not state.fingerprint.startswith(self._name() + "-"):
                _core.fail(
                    "BadOption",
                    "state",
                    "one of another formula, segment or options",
                    f"pass states of {self!r}",
                )

    def _places(
        self, kind: StateKind, given: dict[str, Any]
    ) -> dict[str, tuple[int, int]]:
        """Where the arrays of a state's rows lie."""
        places = {kind.reduced: (0, kind.total)}
        if kind.kept:
            places[kind.kept] = (kind.first_row, kind.total_rows)
        on = {argument.name: argument.axis for argument in kind.arguments}
        held = {on.get(name, "") for name in given}
        return {axis: place for axis, place in places.items() if axis in held}

    def _refuse_incomplete(self, state: State) -> None:
        (first, last), *more = state.missing()
        also = f" and {len(more)} other parts" if more else ""
        _core.fail(
            "BadOption",
            "state",
            f"one that lacks points {first} to {last} of "
            f"{state.kind.total}{also}",
            "merge the states of all points before the result is made",
        )

    def _whole(self, state: State, call: _core.PartialCall) -> Any:
        """The one state of all points: nodes joined from the right."""
        kind = state.kind
        layout = call.layout
        if layout["rows"] != kind.rows:
            _core.fail(
                "BadOption",
                "state",
                f"one of {kind.rows} rows, beside arrays of {layout['rows']}",
                "pass the arrays of the state's rows",
            )
        if kind.folds and kind.kept and kind.rows != kind.total_rows:
            _core.fail(
                "BadOption",
                "state",
                f"one of {kind.rows} of {kind.total_rows} points of "
                f"{kind.kept}, all of which make the one result",
                "concatenate() the states of all rows first",
            )
        if not state.nodes:
            return call.leave(0, 0)
        order = sorted(state.nodes, key=kind.points)
        joined_ = state.nodes[order[-1]]
        for node in reversed(order[:-1]):
            states = state.nodes[node].copy()
            call.merge(states, joined_)
            joined_ = states
        return joined_

    def _beside(self, state: State, later: State) -> State:
        """The rows of both, which follow one another."""
        one, other = state.kind, later.kind
        if one.first_row + one.rows != other.first_row:
            _core.fail(
                "BadOption",
                "states",
                f"rows up to {one.first_row + one.rows}, then rows from "
                f"{other.first_row}",
                "pass the states of rows that follow one another",
            )
        if one.of_rows(0, 0) != other.of_rows(0, 0) or (
            state.nodes.keys() != later.nodes.keys()
            or state.fragments.keys() != later.fragments.keys()
        ):
            _core.fail(
                "BadOption",
                "states",
                "states of different points",
                "merge the states of all points of each rows first",
            )
        kind = one.of_rows(one.first_row, one.rows + other.rows)
        stride = self._call(kind).layout["stride"]
        both = (one.rows, other.rows, stride)
        return State(
            kind.of_stride(stride),
            _beside(state.nodes, later.nodes, both),
            _beside(state.fragments, later.fragments, both),
        )


def _beside(states: Any, later: Any, sizes: tuple[int, int, int]) -> Any:
    """Arrays of both rows, by node."""
    rows, more, stride = sizes
    both = {}
    for node, given in states.items():
        array = np.zeros((*given.shape[:2], stride))
        array[..., :rows] = given[..., :rows]
        array[..., rows : rows + more] = later[node][..., :more]
        both[node] = array
    return both


def _again(
    formula: _core.Formula, segment: int, options: _core.Options | None
) -> Reduction:
    return Reduction(formula, segment=segment, options=options)


def _never(_into: Any, _later: Any) -> None:
    """Joins nothing: there are no states."""


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _with_segment(options: _core.Options | None, segment: int) -> _core.Options:
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


def _place(axis: str, given: Place) -> tuple[int, int]:
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


def _type_of(
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


def _made_up(argument: ArgumentType, points: int) -> Any:
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
