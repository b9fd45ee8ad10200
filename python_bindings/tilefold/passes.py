# python_bindings/tilefold/passes.py - formulas of several passes, in parts.
"""`Passes`: a formula whose reductions need one another, pass by pass.

Each pass is a reduction of its own, whose points may come in parts; what it
leaves behind, later passes read as arguments.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol, overload

from tilefold import _core
from tilefold.namespaces import complex_of
from tilefold.steps import (
    Like,
    Result,
    Step,
    as_type,
    numbers,
    of_shape,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tilefold.reduction_arguments import Place
    from tilefold.states import State

__all__ = ["Pass", "Passes", "passes_of"]


class _Reduction(Protocol):
    """What `tilefold.Reduction` is to a pass."""

    formula: _core.Formula

    def partial(
        self, arguments: Mapping[str, Any], /, *, i: Place, j: Place
    ) -> State: ...

    def merge(self, *states: State) -> State: ...

    def concatenate(self, *states: State) -> State: ...

    def finalise(
        self, state: State, arguments: Mapping[str, Any], /
    ) -> Any: ...


class Pass:
    """A pass over the points, whose states are merged before the next begins.

    Made by ``Reduction.passes``.

    See Also
    --------
    Passes

    Examples
    --------
    >>> r = tilefold.Reduction("std_j |x_i - y_j|")
    >>> first, last = r.passes(x=np.zeros(2), y=np.ones(3))
    >>> first
    tilefold.Pass('(mean_j(v3)) with v2 = (x_i - y_j), v3 = sqrt(sqnorm(v2))')
    """

    def __init__(
        self,
        step: Step,
        maps: Sequence[tuple[Step, _core.Formula]],
        reduction: _Reduction,
        left: Set[str],
    ) -> None:
        self._step = step
        self._maps = maps
        self._reduction = reduction
        self._left = left  # names of what passes leave behind

    def __repr__(self) -> str:
        """Tells the formula."""
        return f"tilefold.Pass({self._step.text!r})"

    def partial(
        self,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        i: Place = None,
        j: Place = None,
        into: State | None = None,
        **arrays: Any,
    ) -> State:
        """Computes the state of the points that the arrays hold.

        Parameters
        ----------
        arguments : Mapping, optional
            Arrays by name: the formula's, and those that earlier passes left.
            What this pass does not read is not looked at.
        i, j : tuple of int, optional
            Where the arrays lie on the whole axis, as ``Reduction.partial``
            takes it. What earlier passes left is of the whole axis.
        into : State, optional
            What earlier parts gave, which is left as it is.
        **arrays : array
            More of them.

        Returns
        -------
        State
            As ``Reduction.partial`` gives it; of the points of ``into``, too.

        Raises
        ------
        ArgumentError
            As ``Reduction.partial`` does.

        Examples
        --------
        >>> r = tilefold.Reduction("var_j y_j")
        >>> first, last = r.passes(y=np.ones(2))
        >>> first.partial(y=np.ones(2), j=(0, 5)).parts()
        [(0, 2)]
        """
        given = _core.arguments(arguments, arrays)
        places = {"i": i, "j": j}
        for axis, place in places.items():
            here = self._step.points(given, axis)
            if here is not None and self._step.reads_numbers(axis):
                given[f"%{axis}"] = numbers(place[0] if place else 0, here)
            lengths = self._step.lengths(given, axis)
            known = [*lengths.values(), *([] if here is None else [here])]
            total = place[1] if place else max(known, default=None)
            if total is not None:
                given[f"#{axis}"] = float(total)
            own = [n for name, n in lengths.items() if name not in self._left]
            if place and own:
                part = slice(place[0], place[0] + own[0])
                for name in lengths.keys() & self._left:
                    if lengths[name] == total:
                        given[name] = given[name][part]
            elif place:
                places[axis] = None
        state = self._reduction.partial(self._step.own(given, "ij"), **places)
        return state if into is None else self.merge(into, state)

    def merge(self, *states: State) -> State:
        """Joins the points and rows of states, in any order, into one state.

        Parameters
        ----------
        *states : State
            Of this pass. Those of other rows are of the same points, as
            ``Reduction.concatenate`` takes them.

        Returns
        -------
        State
            Of all of their points and rows.

        Raises
        ------
        ArgumentError
            As ``Reduction.merge`` and ``Reduction.concatenate`` do.

        Examples
        --------
        >>> r = tilefold.Reduction("var_j y_j")
        >>> first, last = r.passes(y=np.ones(2))
        >>> first.merge(first.partial(y=np.ones(2))).complete
        True
        """
        by_rows: dict[Any, list[State]] = {}
        for state in states:
            by_rows.setdefault(getattr(state, "rows", None), []).append(state)
        if len(by_rows) < 2:
            return self._reduction.merge(*states)
        rows = [self._reduction.merge(*given) for given in by_rows.values()]
        return self._reduction.concatenate(*rows)

    def finalise(
        self,
        state: State,
        arguments: Mapping[str, Any] | None = None,
        /,
        **arrays: Any,
    ) -> dict[str, Any]:
        """Makes what the pass leaves behind of a state of all points.

        Parameters
        ----------
        state : State
            Complete: of every point of the reduced axis.
        arguments : Mapping, optional
            Arrays by name, those that earlier passes left among them: of the
            state's rows, and parameters.
        **arrays : array
            More of them.

        Returns
        -------
        dict
            Arrays by name, for later passes and ``Passes.result``.

        Raises
        ------
        ArgumentError
            As ``Reduction.finalise`` does.

        Examples
        --------
        >>> r = tilefold.Reduction("var_j y_j")
        >>> first, last = r.passes(y=np.ones(2))
        >>> list(first.finalise(first.partial(y=np.ones(2))).values())
        [1.0, 2.0]
        """
        given = _core.arguments(arguments, arrays)
        kind = state.kind
        rows = {"@i": 0, "@j": 0}
        sizes = {f"#{kind.reduced}": float(kind.total)}
        own_numbers = {f"%{kind.reduced}": numbers(0, kind.total)}
        if kind.kept:
            sizes[f"#{kind.kept}"] = float(kind.total_rows)
            rows[f"@{kind.kept}"] = kind.first_row
            own_numbers[f"%{kind.kept}"] = numbers(kind.first_row, kind.rows)
        for axis in {"i", "j"} - {kind.kept, kind.reduced}:
            here = self._step.points(given, axis)
            if here is not None:  # of a gradient by what this pass reads not
                sizes[f"#{axis}"] = float(here)
        known = {**given, **rows, **sizes, **own_numbers}
        own = self._step.own(known, kind.kept)
        left = self._step.left(self._reduction.finalise(state, own))
        for step, formula in self._maps:
            known |= left
            left |= step.left(formula(step.own(known, "ij")))
        return {**left, **sizes}


class Passes(Sequence[Pass]):
    """A formula as passes that follow one another; see ``Reduction.passes``.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 3.0, 6.0])
    >>> r, left = tilefold.Reduction("var_j y_j"), {}
    >>> passes = r.passes(y=y)
    >>> for step in passes:
    ...     a = step.partial(left, y=y[:2], j=(0, 4))
    ...     b = step.partial(left, y=y[2:], j=(2, 4))
    ...     left |= step.finalise(step.merge(a, b), left)
    >>> float(passes.result(left))
    3.5
    """

    def __init__(
        self,
        steps: Sequence[Step],
        results: Sequence[Result],
        reduction_of: Callable[[str, bool], _Reduction],
    ) -> None:
        self._steps = steps
        self._results = results
        self._passes: list[Pass] = []
        left = {leaf.name for step in steps for leaf in step.leaves}
        starts = [k for k, step in enumerate(steps) if step.reduces]
        for first, end in zip(starts, [*starts[1:], len(steps)], strict=True):
            maps = [*steps[: first if first == starts[0] else 0]]
            maps += steps[first + 1 : end]
            self._passes.append(
                Pass(
                    steps[first],
                    [(step, _core.compile(step.text)) for step in maps],
                    reduction_of(steps[first].text, steps[first].is_chosen),
                    left,
                )
            )

    def __len__(self) -> int:
        return len(self._passes)

    @overload
    def __getitem__(self, index: int) -> Pass: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pass]: ...
    def __getitem__(self, index: int | slice) -> Pass | list[Pass]:
        return self._passes[index]

    def __iter__(self) -> Iterator[Pass]:
        return iter(self._passes)

    def result(self, left: Mapping[str, Any]) -> Any:
        """Makes the result of what the passes left behind.

        Parameters
        ----------
        left : Mapping
            What all passes' ``finalise`` gave.

        Returns
        -------
        array or float, or a tuple of them
            As a call of the formula gives it.

        Raises
        ------
        ArgumentError
            Where a pass is missing.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> (only,) = passes = r.passes(y=np.ones(2))
        >>> float(passes.result(only.finalise(only.partial(y=np.ones(2)))))
        2.0
        """
        results: list[Any] = []
        for name, dtype, is_imaginary, like in self._results:
            if name not in left:
                _core.fail(
                    "BadOption",
                    "left",
                    "what no pass has left yet",
                    "add what finalise() of every pass gives: "
                    "left |= step.finalise(state, left)",
                )
            value = left[name]
            if is_imaginary:
                value = complex_of(results.pop(), value)
            else:
                value = as_type(value, dtype)
            results.append(self._as_argument(value, like, left))
        return results[0] if len(results) == 1 else tuple(results)

    def _as_argument(
        self, value: Any, like: Like | None, left: Mapping[str, Any]
    ) -> Any:
        """A gradient in the shape of its argument; other results as they are.

        How many points that has, a pass or an array on the axis says.
        """
        if like is None:
            return value
        points = None
        if like.axis:
            step = self._steps[0]
            points = left.get(f"#{like.axis}", step.points(left, like.axis))
        if like.axis and points is None:
            _core.fail(
                "BadOption",
                "left",
                f"without {like.name!r}, of whose shape a gradient is",
                f"add the whole array to it: left[{like.name!r}] = {like.name}",
            )
        return of_shape(value, like.shape(points))


def passes_of(
    formula: _core.Formula,
    given: Mapping[str, Any],
    reduction_of: Callable[[str, bool], _Reduction],
    chosen: bool = False,
) -> Passes:
    """The passes of a formula of arrays of these types."""
    steps, results = steps_of(formula, given, chosen)
    if not any(step.reduces for step in steps):
        _core.fail(
            "BadOption",
            "formula",
            "one that reduces nothing",
            "call it, part by part",
        )
    return Passes(steps, results, reduction_of)
