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

from collections import OrderedDict
from dataclasses import fields
from functools import reduce as _fold
from threading import Lock
from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.errors import ArgumentError
from tilefold.passes import Passes, passes_of
from tilefold.reduction_arguments import (
    Place,
    digest,
    made_up,
    place_of,
    places_of,
    refuse_both_axes,
    refuse_several,
    type_of,
    with_segment,
)
from tilefold.states import State, StateKind, beside, joined, nodes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Reduction"]

_MOST_CALLS = 16  # kept for merges, which need no numbers of arguments


class Reduction:
    """A reduction whose points may come in parts.

    Parts are computed anywhere, in any order, and more than once. Where they
    begin at multiples of the segment, the result has the bits of one call with
    ``Options(segment=...)``, however many parts there are. Computed by the CPU.
    Picklable and hashable.

    Parameters
    ----------
    formula : str or Formula
        A sum, an extremum, a mean, a log-sum-exp, ... Where it needs other
        reductions' results, such as a variance, it is reduced by ``passes``.
    segment : int, default 8192
        How many points of the reduced axis are joined at a time.
    options : Options, optional
        Those of all calls.

    Raises
    ------
    ArgumentError
        By ``partial``, for formulas of several passes over the pairs.

    See Also
    --------
    State : what is known of the points so far.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
    >>> r = tilefold.Reduction("sum_j |x_i - y_j|")
    >>> a = r.partial(x=x, y=y[:2], j=(0, 3))
    >>> b = r.partial(x=x, y=y[2:], j=(2, 3))
    >>> r.finalise(r.merge(b, a), x=x)
    array([4., 3.])
    """

    __slots__ = {
        "__weakref__": "What weak references keep.",
        "_calls": "Those of states that were merged last.",
        "_lock": "Of the calls.",
        "_options": "The options, with the segment.",
        "formula": "The ``Formula`` that is reduced.",
        "options": "The ``Options`` of all calls, or None.",
        "segment": "How many points are joined at a time: an int.",
    }

    def __init__(
        self,
        formula: str | _core.Formula,
        *,
        segment: int = 8192,
        options: _core.Options | None = None,
    ) -> None:
        if not isinstance(formula, _core.Formula):
            formula = _core.compile(formula)
        self.formula: _core.Formula = formula
        self.segment: int = segment
        self.options: _core.Options | None = options
        self._options = with_segment(options, segment)
        self._calls: OrderedDict[StateKind, _core.PartialCall] = OrderedDict()
        self._lock = Lock()

    def passes(
        self,
        arguments: Mapping[str, Any] | None = None,
        /,
        **arrays: Any,
    ) -> Passes:
        """Cuts the formula into passes over the points, each a reduction.

        A variance needs the mean first, a quantile some thirty counts. Each
        pass has ``partial``, ``merge`` and ``finalise``; what it leaves behind
        is given to those after it.

        Parameters
        ----------
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        **arrays : array
            Arguments by their names, without batches: of any number of points,
            since no more than their types is looked at.

        Returns
        -------
        Passes
            In their order; one where the formula reduces once.

        Raises
        ------
        ArgumentError
            For folds, matrices between passes, uint64, and batches.

        Examples
        --------
        >>> y, left = np.array([1.0, 2.0, 3.0, 6.0]), {}
        >>> passes = tilefold.Reduction("var_j y_j").passes(y=y)
        >>> for step in passes:
        ...     part = step.partial(left, y=y)
        ...     left |= step.finalise(part, left)
        >>> float(passes.result(left))
        3.5
        """
        given = {**(arguments or {}), **arrays}
        refuse_both_axes(self.formula, given)
        return self._passes(given)

    def _passes(self, given: dict[str, Any]) -> Passes:
        """The same, of arrays that may be on both axes."""
        return passes_of(self.formula, given, self._of_text)

    def _of_text(self, text: str) -> Reduction:
        """A reduction of the same settings."""
        return Reduction(text, segment=self.segment, options=self.options)

    def partial(
        self,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        i: Place = None,
        j: Place = None,
        **arrays: Any,
    ) -> State:
        """Computes the state of the points that the arrays hold.

        Parameters
        ----------
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        i, j : tuple of int, optional
            Where the arrays lie on the whole axis: the number of their first
            point, and how many points there are in all. The arrays are the
            whole axis where nothing is said.
        **arrays : array
            Arguments by their names: shapes and dtypes as in ``Formula``.

        Returns
        -------
        State
            Of the axis that the result keeps, with a row for each point here.

        Raises
        ------
        ArgumentError
            For a place that the axis does not have, and what a call raises.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> r.partial(y=np.ones(2), j=(0, 5)).parts()
        [(0, 2)]
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
        """Makes the state of no points, with which every other merges.

        Parameters
        ----------
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        i, j : tuple of int, optional
            Where the arrays lie on the whole axis, as ``partial`` takes it.
        **arrays : array
            Arguments by their names; nothing of them is computed.

        Returns
        -------
        State
            As ``partial`` of these arrays has it, of no points.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> r.identity(y=np.ones(2), j=(0, 5)).missing()
        [(0, 5)]
        """
        given = {**(arguments or {}), **arrays}
        layout = self._bound(given, i, j).layout
        return State(self._kind(layout, given))

    def merge(self, *states: State) -> State:
        """Joins the points of states, in any order, into one state.

        Parameters
        ----------
        *states : State
            Of the same rows, of one axis; what comes twice counts once.

        Returns
        -------
        State
            Of all of their points; the states given are left as they were.

        Raises
        ------
        ArgumentError
            For states of another formula, other types of arguments, rows or
            lengths, for parts that meet some points twice, and for no states.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> a = r.partial(y=np.ones(2), j=(0, 3))
        >>> b = r.partial(y=np.ones(1), j=(2, 3))
        >>> r.merge(b, a, b).complete
        True
        """
        self._require(states)
        return joined(states, self._merge(states[0]))

    def concatenate(self, *states: State) -> State:
        """Joins the rows of states, each of the same points, into one state.

        For what is finalised for all rows together, such as ``sum_ij``.

        Parameters
        ----------
        *states : State
            Of the same points, of rows that follow one another.

        Returns
        -------
        State
            Of all of their rows.

        Raises
        ------
        ArgumentError
            Where rows do not follow one another, or points differ.

        Examples
        --------
        >>> x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0, 3.0])
        >>> r = tilefold.Reduction("sum_ij |x_i - y_j|")
        >>> a = r.partial(x=x[:1], y=y, i=(0, 2))
        >>> b = r.partial(x=x[1:], y=y, i=(1, 2))
        >>> float(r.finalise(r.concatenate(a, b)))
        7.0
        """
        self._require(states)
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
        """Makes the result of a state of all points.

        Parameters
        ----------
        state : State
            Complete: of every point of the reduced axis.
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        out : array, optional
            Where the result is written.
        **arrays : array
            Those on the kept axis, and parameters. Of those on the reduced axis
            nothing is read, and they may be missing.

        Returns
        -------
        array or float
            For the state's rows, of the shape and dtype that a call gives.

        Raises
        ------
        ArgumentError
            Where the state lacks points, of which the first is named, and for
            arrays of other types than the state's.

        Examples
        --------
        >>> r = tilefold.Reduction("mean_j y_j")
        >>> float(r.finalise(r.partial(y=np.array([1.0, 3.0]))))
        2.0
        """
        self._require([state])
        kind = state.kind
        if not state.complete:
            state._refuse_incomplete()
        given = {**(arguments or {}), **arrays}
        unread = {kind.reduced: min(kind.total, 1)}
        if kind.folds:
            unread[kind.kept] = kind.rows
        for argument in kind.arguments:
            if argument.axis and argument.axis in unread:
                points = unread[argument.axis]
                given.setdefault(argument.name, made_up(argument, points))
        places = places_of(kind, given)
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
        """Computes the result in one call, in memory, of the same bits.

        Parameters
        ----------
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        **arrays : array
            Arguments by their names: shapes and dtypes as in ``Formula``.

        Returns
        -------
        array or float
            What ``finalise`` gives of parts of these arrays.

        Examples
        --------
        >>> float(tilefold.Reduction("sum_j y_j")(y=np.ones(3)))
        3.0
        """
        given = {**(arguments or {}), **arrays}
        try:
            passes = self._passes(given)
        except ArgumentError:  # there are no states of parts
            passes = None
        if passes is None or len(passes) == 1:
            return self.formula(**given, options=self._options)
        for step in passes:
            given |= step.finalise(step.partial(given), given)
        return passes.result(given)

    def __repr__(self) -> str:
        """Tells the formula, the segment and the options."""
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
        refuse_both_axes(self.formula, given)
        arguments = {**given, "options": self._options}
        places = place_of("i", i), place_of("j", j)
        try:
            return _core.PartialCall(self.formula, arguments, *places)
        except ArgumentError as error:
            if "several passes" in str(error):
                refuse_several()
            raise

    def _kind(self, layout: dict[str, Any], given: dict[str, Any]) -> StateKind:
        """What the states of a call are, given its arguments."""
        batch_rank = given.get("batch_rank")
        arguments = tuple(
            type_of(self.formula, name, given[name], batch_rank)
            for name in sorted(given)
            if name not in ("batch_rank", "out", "options")
        )
        types = [str(argument) for argument in arguments]
        own = {item.name for item in fields(StateKind)} & layout.keys()
        return StateKind(
            fingerprint=f"{self._name()}-{digest(layout['kind'], types)}",
            arguments=arguments,
            batch_rank=batch_rank,
            **{name: layout[name] for name in own},
        )

    def _name(self) -> str:
        """What stands for the formula and the settings of all calls."""
        return digest(self.formula.text, self._token())

    def _call(self, kind: StateKind) -> _core.PartialCall:
        """A call without numbers, for states of this kind."""
        with self._lock:
            if kind in self._calls:
                self._calls.move_to_end(kind)
                return self._calls[kind]
        points = {kind.reduced: min(kind.total, 1), kind.kept: kind.rows}
        given = {
            argument.name: made_up(argument, points.get(argument.axis, 1))
            for argument in kind.arguments
        }
        if kind.batch_rank is not None:
            given["batch_rank"] = kind.batch_rank
        places = places_of(kind, given)
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
        """They are states of this formula, one or more."""
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
            if not state.fingerprint.startswith(self._name() + "-"):
                _core.fail(
                    "BadOption",
                    "state",
                    "one of another formula, segment or options",
                    f"pass states of {self!r}",
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
            beside(state.nodes, later.nodes, both),
            beside(state.fragments, later.fragments, both),
        )


def _again(
    formula: _core.Formula, segment: int, options: _core.Options | None
) -> Reduction:
    return Reduction(formula, segment=segment, options=options)
