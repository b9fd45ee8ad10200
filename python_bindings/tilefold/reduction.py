# python_bindings/tilefold/reduction.py - a reduction over data in parts.
"""`Reduction`: partial, merge, finalise.

    r = tilefold.Reduction("sum_j exp(-|x_i - y_j|²) b_j")
    states = [r.partial(x=x, y=y[a:b], b=b[a:b], j=(a, len(y)))
              for a, b in parts]
    result = r.finalise(r.merge(*states), x=x)

Parts that begin within a segment give the same bits where they are the same
parts, whoever merges them, and when.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tilefold import _core
from tilefold.errors import ArgumentError
from tilefold.kept_calls import KeptCalls, require_own
from tilefold.passes import Passes, passes_of
from tilefold.ranges import Ranges, require_ranges
from tilefold.reduction_arguments import (
    ORDER_FREE,
    Place,
    add_unread,
    arguments_like,
    kind_of,
    made_of_types,
    partial_call,
    places_of,
    refuse_both_axes,
    require_arrays,
    require_states,
    sweeps_of,
    with_segment,
)
from tilefold.reduction_identity import ReductionIdentity
from tilefold.state_rows import as_kind, in_order, whole
from tilefold.states import State, StateKind, joined, nodes_of, require_same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold.array_types import ArrayLike
    from tilefold.result_types import ArgumentType

__all__ = ["Reduction"]


class Reduction(ReductionIdentity):
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
    ranges : Ranges, optional
        The pairs that are met, of all parts, by the numbers of points on the
        whole axes. A sum over both axes has other last bits than in memory.

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

    __module__ = "tilefold"  # where it is found

    __slots__ = {
        "__weakref__": "What weak references keep.",
        "_calls": "Those of states that were merged last.",
        "_settings": "Those of each call: options with the segment, ranges.",
        "formula": "The ``Formula`` that is reduced.",
        "options": "The ``Options`` of all calls, or None.",
        "ranges": "The ``Ranges`` of all parts, or None.",
        "segment": "How many points are joined at a time: an int.",
    }

    def __init__(
        self,
        formula: str | _core.Formula,
        *,
        segment: int = 8192,
        options: _core.Options | None = None,
        ranges: Ranges | None = None,
    ) -> None:
        if not isinstance(formula, _core.Formula):
            formula = _core.compile(formula)
        if ranges is not None:
            require_ranges(ranges)
        self.formula: _core.Formula = formula
        self.segment: int = segment
        self.options: _core.Options | None = options
        self.ranges: Ranges | None = ranges
        self._settings: dict[str, Any] = {
            "options": with_segment(options, segment)
        }
        if ranges is not None:
            self._settings["ranges"] = ranges
        self._calls = KeptCalls()

    def passes(
        self,
        arguments: Mapping[str, ArrayLike | ArgumentType] | None = None,
        /,
        **arrays: ArrayLike | ArgumentType,
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
            Arguments by their names, without batches, or a
            ``tilefold.ArgumentType`` of each: only types are looked at. Shapes
            and dtypes as in ``Formula``.

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
        given = _core.arguments(arguments, arrays)
        refuse_both_axes(self.formula, given)
        return self._passes(made_of_types(self.formula, given))

    def sweeps(
        self,
        arguments: Mapping[str, ArrayLike | ArgumentType] | None = None,
        /,
        **arrays: ArrayLike | ArgumentType,
    ) -> int:
        """Counts the passes over the pairs that a result takes.

        Parameters
        ----------
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        **arrays : array or ArgumentType
            Arguments by their names, of which only types are looked at:
            shapes and dtypes as in ``Formula``.

        Returns
        -------
        int
            1 where it has states of its own; else those of ``passes``.

        Raises
        ------
        ShapeError, DTypeError, ArgumentError
            Where arguments do not fit the formula or each other.

        Examples
        --------
        >>> y = tilefold.ArgumentType(("M",), "float32")
        >>> tilefold.Reduction("var_j y_j").sweeps(y=y)
        2
        """
        return len(sweeps_of(self.formula, _core.arguments(arguments, arrays)))

    def order_free(
        self,
        arguments: Mapping[str, ArrayLike | ArgumentType] | None = None,
        /,
        **arrays: ArrayLike | ArgumentType,
    ) -> bool:
        """Tells whether any parts give the same bits, wherever they begin.

        So it is of extrema, their places and counts, which round nothing; only
        an extremum that is zero may have either sign. Parts of others begin at
        multiples of the segment for that.

        Parameters
        ----------
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        **arrays : array or ArgumentType
            Arguments by their names, of which only types are looked at:
            shapes and dtypes as in ``Formula``.

        Returns
        -------
        bool
            Of all reductions of the formula.

        Raises
        ------
        ShapeError, DTypeError, ArgumentError
            Where arguments do not fit the formula or each other.

        Examples
        --------
        >>> y = tilefold.ArgumentType(("M",), "float32")
        >>> tilefold.Reduction("max_j y_j").order_free(y=y)
        True
        """
        found = sweeps_of(self.formula, _core.arguments(arguments, arrays))
        return all(names <= ORDER_FREE for names in found)

    def _passes(self, given: dict[str, Any]) -> Passes:
        """The same, of arrays that may be on both axes."""
        chosen = self.ranges is not None
        return passes_of(self.formula, given, self._of_text, chosen)

    def _of_text(self, text: str, is_chosen: bool) -> Reduction:
        """A reduction of the same settings, with ranges where it has pairs."""
        ranges = self.ranges if is_chosen else None
        return Reduction(**{**self._own(), "formula": text, "ranges": ranges})

    def _own(self) -> dict[str, Any]:
        """What it was made of."""
        names = ("formula", "segment", "options", "ranges")
        return {name: getattr(self, name) for name in names}

    def partial(
        self,
        arguments: Mapping[str, ArrayLike] | None = None,
        /,
        *,
        i: Place = None,
        j: Place = None,
        into: State | None = None,
        **arrays: ArrayLike,
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
        into : State, optional
            What earlier parts gave, which is left as it is.
        **arrays : array
            Arguments by their names: shapes and dtypes as in ``Formula``.

        Returns
        -------
        State
            Of the axis that the result keeps, with a row for each point here;
            of the points of ``into``, too.

        Raises
        ------
        ShapeError, DTypeError
            Where arrays do not fit the formula or each other.
        ArgumentError
            For a place that the axis does not have, formulas of several passes,
            and what ``merge`` raises, before anything is computed.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> state = r.partial(y=np.ones(2), j=(0, 5))
        >>> r.partial(y=np.ones(2), j=(2, 5), into=state).parts()
        [(0, 4)]
        """
        given = _core.arguments(arguments, arrays)
        call = self._bound(given, i, j)
        layout = call.layout
        kind = self._kind(layout, given)
        if into is not None:
            self._require([into])
            require_same(into.kind, kind)
        first = layout["first"]
        nodes, fragments = nodes_of(kind, first, first + layout["count"])
        state = State(
            kind,
            {node: call.leave(*kind.points(node)) for node in nodes},
            {part: call.leave(*part) for part in fragments},
        )
        return state if into is None else self.merge(into, state)

    def identity(
        self,
        arguments: Mapping[str, ArrayLike] | None = None,
        /,
        *,
        i: Place = None,
        j: Place = None,
        **arrays: ArrayLike,
    ) -> State:
        """Makes the state of no points, with which every other merges.

        Parameters
        ----------
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        i, j : tuple of int, optional
            Where the arrays lie on the whole axis, as ``partial`` takes it.
        **arrays : array
            Arguments by their names, of which nothing is computed: shapes and
            dtypes as in ``Formula``.

        Returns
        -------
        State
            As ``partial`` of these arrays has it, of no points.

        Raises
        ------
        ShapeError, DTypeError, ArgumentError
            As ``partial`` raises them.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> r.identity(y=np.ones(2), j=(0, 5)).missing()
        [(0, 5)]
        """
        given = _core.arguments(arguments, arrays)
        layout = self._bound(given, i, j).layout
        return State(self._kind(layout, given))

    def merge(self, *states: State, mixed: bool = False) -> State:
        """Joins the points of states, in any order, into one state.

        Parameters
        ----------
        *states : State
            Of the same rows, of one axis; what comes twice counts once.
        mixed : bool, default False
            Whether they may be of other plans, options and machines, whose last
            bits differ. The state is then one of this machine.

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
        self._require(states, mixed)
        if mixed:
            states = tuple(as_kind(s, self._own_kind(s.kind)) for s in states)
        return joined(states, self._call(states[0].kind).merge)

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
        return in_order(states, lambda kind: self._call(kind).layout["stride"])

    def finalise(
        self,
        state: State,
        arguments: Mapping[str, ArrayLike] | None = None,
        /,
        *,
        out: ArrayLike | None = None,
        **arrays: ArrayLike,
    ) -> Any:
        """Makes the result of a state of all points.

        Parameters
        ----------
        state : State
            Complete: of every point of the reduced axis.
        arguments : Mapping, optional
            The arrays by name, as one mapping.
        out : array, optional
            Where the result is written: of its shape, such as (N,), and dtype.
        **arrays : array
            Those on the kept axis, and parameters: shapes and dtypes as in
            ``Formula``. Of those on the reduced axis nothing is read, and they
            may be missing.

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
        given = _core.arguments(arguments, arrays)
        add_unread(kind, given)
        places = places_of(kind, given)
        if out is not None:
            given["out"] = out
        call = self._bound(given, places.get("i"), places.get("j"))
        require_arrays(kind, self._kind(call.layout, given))
        return call.finalise(whole(state, call))

    def __call__(
        self,
        arguments: Mapping[str, ArrayLike] | None = None,
        /,
        **arrays: ArrayLike,
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
            Of the shape and dtype that a call gives: what ``finalise`` gives
            of parts of these arrays.

        Raises
        ------
        ShapeError, DTypeError, ArgumentError
            Where arrays do not fit the formula or each other.

        Examples
        --------
        >>> float(tilefold.Reduction("sum_j y_j")(y=np.ones(3)))
        3.0
        """
        given = _core.arguments(arguments, arrays)
        try:
            passes = self._passes(given)
        except ArgumentError:  # there are no states of parts
            passes = None
        if passes is None or len(passes) == 1:
            return self.formula(**given, **self._settings)
        for step in passes:
            given |= step.finalise(step.partial(given), given)
        return passes.result(given)

    def __repr__(self) -> str:
        """Tells the formula, the segment, the options and the ranges."""
        more = f", options={self.options!r}" if self.options else ""
        if self.ranges is not None:
            more += f", ranges=<{self.ranges!r}>"
        return (
            f"tilefold.Reduction({self.formula.text!r}, "
            f"segment={self.segment}{more})"
        )

    def _without_pairs(self) -> Reduction:
        """One that merges and finalises the same states, for little memory."""
        if self.ranges is None:
            return self
        ranges = self.ranges._without_pairs()
        return Reduction(**{**self._own(), "ranges": ranges})

    def __reduce__(self) -> Any:
        return partial(Reduction, **self._own()), ()

    def _bound(
        self, given: dict[str, Any], i: Place, j: Place
    ) -> _core.PartialCall:
        """The call of these arrays, with the settings of all calls."""
        return partial_call(self.formula, self._settings, given, i, j)

    def _kind(self, layout: dict[str, Any], given: dict[str, Any]) -> StateKind:
        """What the states of a call are, given its arguments."""
        return kind_of(
            self.formula, self._name(), self._monoid(), layout, given
        )

    def _own_kind(self, kind: StateKind) -> StateKind:
        """What states of these arguments and rows are on this machine."""
        if not kind.monoid.startswith(self._monoid() + "-"):
            return replace(kind, monoid=self._monoid())  # of another formula
        return self._like(kind)[1]

    def _like(self, kind: StateKind) -> tuple[_core.PartialCall, StateKind]:
        """A call without numbers, of arguments as those of states."""
        given = arguments_like(kind)
        places = places_of(kind, given)
        call = self._bound(given, places.get("i"), places.get("j"))
        return call, self._kind(call.layout, given)

    def _call(self, kind: StateKind) -> _core.PartialCall:
        """A call without numbers, for states of this kind."""
        call = self._calls.of(kind)
        if call is None:
            call, own = self._like(kind)
            require_own(own, kind)
            self._calls.keep(kind, call)
        return call

    def _require(self, states: Any, mixed: bool = False) -> None:
        """They are states of this formula, one or more; of any options."""
        require_states(states, self._name(), repr(self), mixed)
