# python_bindings/tilefold/steps.py - a formula as the formulas of its passes.
"""`steps_of`: the texts that a formula of several passes consists of.

A step reduces once, or maps what earlier ones left. What a text reads of the
arrays of the call, and of what was left, its arguments say.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilefold import _core
from tilefold.graph_text import (
    AXES,
    meets_chosen,
    nodes_of,
    refuse,
    written,
)
from tilefold.result_types import axes_of, result_types
from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Set

__all__ = [
    "Argument",
    "Leaf",
    "Like",
    "Result",
    "Step",
    "as_type",
    "numbers",
    "of_shape",
    "steps_of",
]

_DTYPES = {"f64": "float64", "f32": "float32", "i64": "int64", "bool": "bool"}

# An int64 that an earlier pass left is three numbers of 16 bits beside
# float32, with which NumPy promotes int64, not int16, to float64.
_PIECES = (("uint16", 0), ("uint16", 16), ("int16", 32))
_LARGEST = 2**47


class Argument(NamedTuple):
    """What an argument of a step is made of.

    `source`: a name of the formula's, or of what an earlier pass left; "#i" and
    "#j": how many points there are, "@i" and "@j": the number of the first,
    "%i" and "%j": the numbers of all.
    """

    source: str
    axis: str
    part: str = ""  # "real", "imag", or the number of a piece
    dtype: str = ""  # which the formula is computed in, where it is wider

    def of(self, value: Any) -> Any:
        """The argument, of what its source is."""
        found = self._part_of(value)
        return as_type(found, self.dtype) if self.dtype else found

    def _part_of(self, value: Any) -> Any:
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
    rows: int  # its components
    dtype: str

    def of(self, value: Any) -> Any:
        """The part, of the result."""
        if self.width >= 0:
            last = self.first + self.width
            if self.rank == 0:
                value = value[..., self.first]
            else:
                value = value[..., self.first : last]
        return as_type(value, self.dtype)


def as_type(value: Any, dtype: str) -> Any:
    """An array of a dtype, in its own library."""
    if type(value).__module__ == "torch":
        import torch

        return value.to(getattr(torch, dtype))
    return value.astype(dtype) if hasattr(value, "astype") else value


def numbers(first: int, count: int) -> Any:
    """Those of so many points."""
    return np.arange(first, first + count, dtype=np.int64)


def of_shape(value: Any, shape: tuple[int, ...]) -> Any:
    """A gradient in the shape of its argument.

    It may be the same for each of its points.
    """
    if math.prod(np.shape(value)) == math.prod(shape):
        return value.reshape(shape) if np.shape(value) != shape else value
    if type(value).__module__ == "torch":
        return value.expand(shape).clone()
    return np.broadcast_to(value, shape).copy()


class Like(NamedTuple):
    """The argument that a gradient has the shape of."""

    name: str
    axis: str
    components: tuple[int, ...]

    def shape(self, points: Any) -> tuple[int, ...]:
        """Its shape, of so many points where it is on an axis."""
        return (int(points), *self.components) if self.axis else self.components


class Result(NamedTuple):
    """What a result is of what the steps leave."""

    name: str
    dtype: str
    is_imaginary: bool  # of the one before
    like: Like | None


@dataclass(frozen=True)
class Step:
    """One of the formulas that a formula of several passes consists of."""

    text: str
    reduces: bool
    is_chosen: bool  # the reductions meet the pairs of the call's ranges
    arguments: Mapping[str, Argument]  # by their names in the text
    leaves: tuple[Leaf, ...]
    on: Mapping[str, tuple[str, ...]]  # the call's arrays on each axis

    def own(self, given: Mapping[str, Any], axes: str) -> dict[str, Any]:
        """The arguments that are on some axes, or on none."""
        found = {}
        for name, argument in self.arguments.items():
            if argument.axis in axes and argument.source in given:
                value = argument.of(bare(given[argument.source]))
                # A part may have as many points as a parameter components.
                is_ambiguous = not argument.axis and np.ndim(value) > 0
                found[name] = Role(value, 0) if is_ambiguous else value
        return found

    def lengths(self, given: Mapping[str, Any], axis: str) -> dict[str, int]:
        """The points of the arrays on an axis, by their names in `given`."""
        return {
            argument.source: int(np.shape(bare(given[argument.source]))[0])
            for argument in self.arguments.values()
            if argument.axis == axis and argument.source in given
        }

    def points(self, given: Mapping[str, Any], axis: str) -> int | None:
        """How many points of an axis are here; None where no array says it."""
        names = [name for name in self.on[axis] if name in given]
        lengths = [int(np.shape(bare(given[name]))[0]) for name in names]
        return lengths[0] if lengths else None

    def reads_numbers(self, axis: str) -> bool:
        """Whether an argument is the numbers of the points of an axis."""
        return any(a.source == f"%{axis}" for a in self.arguments.values())

    def left(self, result: Any) -> dict[str, Any]:
        """What it leaves, by name."""
        return {leaf.name: leaf.of(result) for leaf in self.leaves}


class _Writer:
    """Writes the passes of a formula as formulas of their own."""

    def __init__(
        self, formula: _core.Formula, given: Mapping[str, Any]
    ) -> None:
        self.given = {
            str(formula._axes_of(name)[0]): name for name in sorted(given)
        }
        self.complex = {
            known
            for known, name in self.given.items()
            if _is_complex(bare(given[name]))
        }
        self.values = given
        self.single = False
        self.of_truths = False
        self.taken = set(self.given)
        self.left: dict[str, Leaf] = {}
        self.on: dict[str, tuple[str, ...]] = {
            axis: tuple(
                name
                for name, value in given.items()
                if axes_of(formula, name, value) & bit
            )
            for axis, bit in (("i", 1), ("j", 2))
        }

    def step(self, data: Mapping[str, Any]) -> Step:
        self.single = data["real"] == "f32"
        self.of_truths = False
        reduces = any(node.op == "reduce" for node in nodes_of(data))
        text, arguments, symbols = self._written(data, reduces, set())
        # A symbol of an axis that no array is on is an array of numbers.
        bare_axes = symbols - {one.axis for one in arguments.values()}
        self.of_truths = self._reads_truths_alone(arguments)
        if bare_axes or self.of_truths:
            text, arguments, _ = self._written(data, reduces, bare_axes)
        for name, first, type_ in data["leaves"]:
            self.left[name] = self._leaf(name, first, type_, data)
        is_chosen = meets_chosen(data)
        if is_chosen and not any(one.axis for one in arguments.values()):
            text, arguments = self._counted(data)
        names = [name for name, _, _ in data["leaves"]]
        leaves = tuple(self.left[name] for name in names)
        return Step(
            text, reduces, is_chosen, self._wide(arguments), leaves, self.on
        )

    def _reads_truths_alone(self, arguments: Mapping[str, Argument]) -> bool:
        """Whether a step in float64 has no arrays but of truth values.

        These would leave it in float32: it reads them as int32 instead.
        """
        own = [one.source for one in arguments.values() if one.axis]
        kinds = {_wider(self.values.get(source)) for source in own}
        return not self.single and kinds == {"bool"}

    def _is_left_double(self, source: str) -> bool:
        """Whether an earlier step left it in float64, as a number of pairs."""
        return any(
            leaf.name == source and leaf.dtype == "float64"
            for leaf in self.left.values()
        )

    def _counted(
        self, data: Mapping[str, Any]
    ) -> tuple[str, dict[str, Argument]]:
        """The text of a number of chosen pairs, and arrays for its axes."""
        carriers: dict[str, Argument] = {}
        zeros = []
        for axis, names in self.on.items():
            name = names[0]
            known = next(k for k, own in self.given.items() if own == name)
            text = self._spelled(known, axis, carriers)
            if np.ndim(bare(self.values[name])) > 1:
                text = f"({text})[0]"
            zeros.append(f"({text} < {text})")  # no number is, nor is NaN
        zero = " + ".join(zeros)
        text = written(data, lambda name, _: refuse(name), zero)
        return text, carriers

    def _wide(self, arguments: Mapping[str, Argument]) -> dict[str, Argument]:
        """The arguments in dtypes that compute a step as the formula is.

        That may be in float64 for arguments that the step does not read.
        """
        if self.single:
            return {
                name: one._replace(dtype="float32")
                if one.axis and self._is_left_double(one.source)
                else one
                for name, one in arguments.items()
            }
        wider = {
            name: _wider(self.values.get(one.source))
            for name, one in arguments.items()
            if one.axis
        }
        if not all(wider.values()):
            return dict(arguments)
        if self.of_truths:
            wider = dict.fromkeys(wider, "int32")
        return {
            name: one._replace(dtype=wider.get(name, ""))
            for name, one in arguments.items()
        }

    def _written(
        self, data: Mapping[str, Any], reduces: bool, bare_axes: Set[str]
    ) -> tuple[str, dict[str, Argument], set[str]]:
        """The text, its arguments, and the axes whose symbols it reads."""
        arguments: dict[str, Argument] = {}
        symbols: set[str] = set()

        def spell(name: str, axes: int) -> str:
            axis = AXES[axes]
            if name[0] == "@":
                symbols.add(axis)
                if axis in bare_axes:
                    return self._spelled(f"%{axis}", axis, arguments)
                if reduces:  # which knows where its parts lie
                    return axis
            return self._spelled(name, axis, arguments)

        return written(data, spell), arguments, symbols

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
        leaf = self.left.get(name)
        if name[0] == "%" or (leaf and leaf.dtype == "int64" and axis):
            source = leaf.name if leaf else name
            if not self.single:
                return add(source)
            low, middle, high = (add(source, part) for part in "012")
            return f"({low} + 65536.0*{middle} + 4294967296.0*{high})"
        if leaf:
            # Arrays of one number are read as numbers.
            is_one = leaf.rank == 1 and leaf.rows == 1 and not axis
            return f"[{add(leaf.name)}]" if is_one else add(leaf.name)
        if name[0] == "#":
            return add(name)
        known, _, imaginary = name.partition("#")
        part = ""
        if known in self.complex:
            part = "imag" if imaginary else "real"
        own = add(self.given[known], part, known + part)
        return f"({own} != 0)" if self.of_truths and axis else own

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
        return Leaf(
            wished, AXES[axes], first, count, rank, rows, _DTYPES[dtype]
        )


# As those of `written` are; and "#i" and "@i" are not names of a formula.
_DEFINITION = re.compile(r"v\d+")
_LETTERS = str.maketrans({"#": "points", "@": "first", "%": "number"})


# Of the dtypes that leave a formula in float32, those that do not.
_WIDER = {
    "float16": "float64", "bfloat16": "float64", "float32": "float64",
    "complex64": "float64", "int8": "int32", "int16": "int32",
    "uint8": "int32", "uint16": "int32", "bool": "bool",
}  # fmt: skip


def _wider(value: Any) -> str:
    """The dtype that an argument needs; "": its own is wide enough.

    What an earlier step left is in float64.
    """
    dtype = str(getattr(bare(value), "dtype", ""))
    return _WIDER.get(dtype.rpartition(".")[2], "")


def _is_complex(value: Any) -> bool:
    return isinstance(value, complex) or "complex" in str(
        getattr(value, "dtype", "")
    )


def steps_of(
    formula: _core.Formula,
    given: Mapping[str, Any],
    chosen: bool = False,
) -> tuple[list[Step], list[Result]]:
    """The steps of a formula of arrays of these types, and its results.

    `chosen`: of a call with ranges.
    """
    for name, value in given.items():
        if name == "batch_rank" or len(np.shape(bare(value))) > 2:
            refuse("batches")
        if str(getattr(bare(value), "dtype", "")).endswith("uint64"):
            refuse("uint64 numbers")
    program = formula._program(dict(given), {}, chosen)
    sweeps = program["sweeps"]
    writer = _Writer(formula, given)
    steps = [writer.step(data) for data in sweeps]
    results: list[Result] = []
    likes = iter(_likes(formula, given))
    for sweep, part, label, type_ in program["results"]:
        if sweep < 0:
            refuse("a result that is 0 whatever the arrays are")
        leaf = steps[sweep].leaves[part]
        is_imaginary = label.endswith("#im")
        like = results[-1].like if is_imaginary else next(likes)
        dtype = _DTYPES[type_[0]]
        results.append(Result(leaf.name, dtype, is_imaginary, like))
    return steps, results


def _likes(
    formula: _core.Formula, given: Mapping[str, Any]
) -> Iterator[Like | None]:
    """Of each result the argument that it is a gradient by."""
    for found in result_types(formula, given):
        if found.like is None:
            yield None
            continue
        name = next(n for n in given if formula._axes_of(n)[0] == found.like)
        axes = axes_of(formula, name, given[name])
        own = found.shape[1 if axes else 0 :]
        yield Like(name, AXES[axes & 1 or axes], own)
