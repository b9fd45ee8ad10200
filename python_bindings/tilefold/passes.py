# python_bindings/tilefold/passes.py - formulas of several passes, in parts.
"""`Passes`: a formula whose reductions need one another, pass by pass.

Each pass is a reduction of its own, whose points may come in parts; what it
leaves behind, later passes read as arguments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, overload

import numpy as np

from tilefold import _core
from tilefold.graph_text import (
    AXES,
    meets_chosen,
    nodes_of,
    refuse,
    written,
)
from tilefold.roles import bare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tilefold.reduction_arguments import Place
    from tilefold.states import State

__all__ = [
    "Argument",
    "Leaf",
    "Pass",
    "Passes",
    "Step",
    "complex_of",
    "passes_of",
    "steps_of",
]

_DTYPES = {"f64": "float64", "f32": "float32", "i64": "int64", "bool": "bool"}

# An int64 that an earlier pass left is three numbers of 16 bits beside
# float32, with which NumPy promotes int64, not int16, to float64.
_PIECES = (("uint16", 0), ("uint16", 16), ("int16", 32))
_LARGEST = 2**47


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


class Argument(NamedTuple):
    """What an argument of a step is made of.

    `source`: a name of the formula's, or of what an earlier pass left; "#i" and
    "#j": how many points there are, "@i" and "@j": the number of the first.
    """

    source: str
    axis: str
    part: str = ""  # "real", "imag", or the number of a piece

    def of(self, value: Any) -> Any:
        """The argument, of what its source is."""
        if self.part in ("real", "imag"):
            return getattr(value, self.part)
        if not self.part:
            return value
        whole = np.asarray(value)
        ends = whole.min(initial=0), whole.max(initial=0)
        if not -_LARGEST <= ends[0] <= ends[1] < _LARGEST:
            refuse("whole numbers from 2^47 on between them, beside float32")
        dtype, shift = _PIECES[int(self.part)]
        return (whole >> shift & 0xFFFF).astype(dtype)


class Leaf(NamedTuple):
    """A part of what a step leaves: some components of its result."""

    name: str
    axis: str
    first: int
    width: int  # -1: all of the result
    rank: int
    dtype: str

    def of(self, value: Any) -> Any:
        """The part, of the result."""
        if self.width >= 0:
            last = self.first + self.width
            if self.rank == 0:
                value = value[..., self.first]
            else:
                value = value[..., self.first : last]
        return _as(value, self.dtype)


def _as(value: Any, dtype: str) -> Any:
    """An array of a dtype, in its own library."""
    if type(value).__module__ == "torch":
        import torch

        return value.to(getattr(torch, dtype))
    return value.astype(dtype) if hasattr(value, "astype") else value


def complex_of(real: Any, imaginary: Any) -> Any:
    """A complex number of its parts, in their library."""
    if type(real).__module__ == "torch":
        import torch

        return torch.complex(real, imaginary)
    joined = np.empty(np.shape(real), np.result_type(real, np.complex64))
    joined.real, joined.imag = real, imaginary
    return joined[()]


@dataclass(frozen=True)
class Step:
    """One of the formulas that a formula of several passes consists of."""

    text: str
    reduces: bool
    is_chosen: bool  # the reductions meet the pairs of the call's ranges
    arguments: Mapping[str, Argument]  # by their names in the text
    leaves: tuple[Leaf, ...]

    def own(self, given: Mapping[str, Any], axes: str) -> dict[str, Any]:
        """The arguments that are on some axes, or on none."""
        found = {}
        for name, argument in self.arguments.items():
            if argument.axis in axes and argument.source in given:
                found[name] = argument.of(bare(given[argument.source]))
        return found

    def lengths(self, given: Mapping[str, Any], axis: str) -> dict[str, int]:
        """The points of the arrays on an axis, by their names in `given`."""
        return {
            argument.source: int(np.shape(bare(given[argument.source]))[0])
            for argument in self.arguments.values()
            if argument.axis == axis and argument.source in given
        }

    def left(self, result: Any) -> dict[str, Any]:
        """What it leaves, by name."""
        return {leaf.name: leaf.of(result) for leaf in self.leaves}


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
        given = {**(arguments or {}), **arrays}
        places = {"i": i, "j": j}
        for axis, place in places.items():
            lengths = self._step.lengths(given, axis)
            total = place[1] if place else max(lengths.values(), default=None)
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
        given = {**(arguments or {}), **arrays}
        kind = state.kind
        rows = {"@i": 0, "@j": 0}
        sizes = {f"#{kind.reduced}": float(kind.total)}
        if kind.kept:
            sizes[f"#{kind.kept}"] = float(kind.total_rows)
            rows[f"@{kind.kept}"] = kind.first_row
        known = {**given, **rows, **sizes}
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
        results: Sequence[tuple[str, str, bool]],
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
        for name, dtype, is_imaginary in self._results:
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
                results[-1] = complex_of(results[-1], value)
            else:
                results.append(_as(value, dtype))
        return results[0] if len(results) == 1 else tuple(results)


class _Writer:
    """Writes the passes of a formula as formulas of their own."""

    def __init__(
        self, formula: _core.Formula, given: Mapping[str, Any], single: bool
    ) -> None:
        self.given = {
            str(formula._axes_of(name)[0]): name for name in sorted(given)
        }
        self.complex = {
            known
            for known, name in self.given.items()
            if _is_complex(bare(given[name]))
        }
        self.single = single
        self.taken = set(self.given)
        self.left: dict[str, Leaf] = {}

    def step(self, data: Mapping[str, Any]) -> Step:
        arguments: dict[str, Argument] = {}
        reduces = any(node.op == "reduce" for node in nodes_of(data))

        def spell(name: str, axes: int) -> str:
            if name[0] == "@" and reduces:  # which knows where its parts lie
                return AXES[axes]
            return self._spelled(name, AXES[axes], arguments)

        text = written(data, spell)
        for name, first, type_ in data["leaves"]:
            self.left[name] = self._leaf(name, first, type_, data)
        names = [name for name, _, _ in data["leaves"]]
        leaves = tuple(self.left[name] for name in names)
        is_chosen = meets_chosen(data)
        if is_chosen and not any(one.axis for one in arguments.values()):
            refuse("the number of chosen pairs between them")
        return Step(text, reduces, is_chosen, arguments, leaves)

    def _spelled(
        self, name: str, axis: str, arguments: dict[str, Argument]
    ) -> str:
        """The text of an argument, and what it is made of."""

        def add(source: str, part: str = "", own: str = "") -> str:
            wished = own or source.translate(_LETTERS)
            argument = Argument(source, axis, part)
            if _DEFINITION.fullmatch(wished):
                wished += "x"
            while arguments.get(wished, argument) != argument:
                wished += "x"
            arguments[wished] = argument
            return f"{wished}_{axis}" if axis else wished

        if name[0] == "@":
            symbol, axis = axis, ""
            return f"({symbol} + {add(name)})"
        if name in self.left:
            leaf = self.left[name]
            if self.single and leaf.dtype == "int64" and axis:
                low, middle, high = (add(leaf.name, part) for part in "012")
                return f"({low} + 65536.0*{middle} + 4294967296.0*{high})"
            return add(leaf.name)
        if name[0] == "#":
            return add(name)
        known, _, imaginary = name.partition("#")
        part = ""
        if known in self.complex:
            part = "imag" if imaginary else "real"
        return add(self.given[known], part, known + part)

    def _leaf(
        self, name: str, first: int, type_: Any, data: Mapping[str, Any]
    ) -> Leaf:
        dtype, rank, axes, rows, _ = type_
        if rank == 2:
            refuse("matrices between them")
        wished = "left" + name[1:]
        while wished in self.taken:
            wished += "x"
        self.taken.add(wished)
        own = data["nodes"][data["result"]][4]
        count = -1 if own[1] == 0 else rows
        return Leaf(wished, AXES[axes], first, count, rank, _DTYPES[dtype])


# As those of `written` are; and "#i" and "@i" are not names of a formula.
_DEFINITION = re.compile(r"v\d+")
_LETTERS = str.maketrans({"#": "points", "@": "first"})


def _is_complex(value: Any) -> bool:
    return isinstance(value, complex) or "complex" in str(
        getattr(value, "dtype", "")
    )


def steps_of(
    formula: _core.Formula,
    given: Mapping[str, Any],
    chosen: bool = False,
) -> tuple[list[Step], list[tuple[str, str, bool]]]:
    """The steps of a formula of arrays of these types, and its results.

    `chosen`: of a call with ranges. Of a result: the name of what a step
    leaves, the dtype, and whether it is the imaginary part of the one before.
    """
    for name, value in given.items():
        if name == "batch_rank" or len(np.shape(bare(value))) > 2:
            refuse("batches")
        if str(getattr(bare(value), "dtype", "")).endswith("uint64"):
            refuse("uint64 numbers")
    program = formula._program(dict(given), {}, chosen)
    sweeps = program["sweeps"]
    writer = _Writer(formula, given, sweeps[0]["real"] == "f32")
    steps = [writer.step(data) for data in sweeps]
    results = []
    for sweep, part, label, type_ in program["results"]:
        if sweep < 0:
            refuse("a result that is 0 whatever the arrays are")
        leaf = steps[sweep].leaves[part]
        results.append((leaf.name, _DTYPES[type_[0]], label.endswith("#im")))
    return steps, results


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
