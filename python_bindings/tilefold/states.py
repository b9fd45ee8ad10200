# python_bindings/tilefold/states.py - what a reduction keeps of parts of an
# axis, and how parts are joined.
"""`State`: a reduction's states of the points that it has met so far.

The points of the reduced axis are cut at multiples of a segment, and states
are joined by a balanced tree over the segments, which is the same whatever
parts the axis came in. A state holds nodes of that tree: siblings are merged,
others wait. A part that begins or ends within a segment leaves fragments,
which are merged, in order, once they are a whole segment.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    States = np.ndarray[Any, np.dtype[np.float64]]
    Merge = Callable[[States, States], None]

__all__ = [
    "PartArgument",
    "State",
    "StateKind",
    "joined",
    "nodes_of",
    "require_same",
]

_VERSION = 2  # of the bytes of a state


@dataclass(frozen=True)
class PartArgument:
    """An argument without its numbers: its shape holds -1 for its points."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    axis: str  # "i", "j" or ""
    declared: int | None = None  # the axes of a role around it
    library: str = "numpy"

    def __str__(self) -> str:
        shape = tuple("…" if n < 0 else n for n in self.shape)
        spelled = f"({', '.join(map(str, shape))})".replace("…)", "…,)")
        return f"{self.name} {spelled if shape else 'a number'} {self.dtype}"


@dataclass(frozen=True)
class StateKind:
    """What states have in common that may be merged.

    `fingerprint` stands for the formula, the types of its arguments, the plan
    of its kernel and the segment, and `monoid` for all of these but the plan;
    `total` is the length of the reduced axis, and the rows are `rows` of
    `total_rows` from `first_row` on.
    """

    fingerprint: str
    monoid: str
    batches: int
    slots: int
    rows: int
    stride: int
    first_row: int
    total_rows: int
    total: int
    segment: int
    reduced: str
    kept: str
    folds: bool
    arguments: tuple[PartArgument, ...]
    batch_rank: int | None = None

    def of_rows(self, first: int, rows: int) -> StateKind:
        """The same, of other rows, whose stride is not known."""
        return replace(self, first_row=first, rows=rows, stride=0)

    def of_stride(self, stride: int) -> StateKind:
        """The same, of the stride of its rows."""
        return replace(self, stride=stride)

    def leaves(self) -> int:
        """Segments of the axis; the last may be shorter than the others."""
        return -(-self.total // self.segment)

    def points(self, node: tuple[int, int]) -> tuple[int, int]:
        """The points [first, last) of a node (level, index)."""
        level, index = node
        width = self.segment << level
        return index * width, min((index + 1) * width, self.total)


@dataclass(frozen=True)
class State:
    """What a reduction knows of the points that it has met so far.

    Made by ``Reduction.partial``; immutable: merging makes another one.
    Picklable, its arrays out of band (protocol 5).

    Attributes
    ----------
    kind : StateKind
        What states have in common that may be merged.
    nodes : dict
        By (level, index) of the tree that joins segments, arrays of shape
        (batches, slots, stride), float64.
    fragments : dict
        By points [first, last) within a segment, arrays of the same shape.

    See Also
    --------
    Reduction

    Examples
    --------
    >>> r = tilefold.Reduction("sum_j y_j")
    >>> state = r.partial(y=np.ones(2), j=(0, 3))
    >>> state.complete, state.missing()
    (False, [(2, 3)])
    """

    __module__ = "tilefold"  # where it is found

    kind: StateKind
    nodes: dict[tuple[int, int], States] = field(default_factory=dict)
    fragments: dict[tuple[int, int], States] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """The text that states must have in common to be merged."""
        return self.kind.fingerprint

    @property
    def rows(self) -> tuple[int, int]:
        """The rows [first, last) of the result that it is of: two ints."""
        return self.kind.first_row, self.kind.first_row + self.kind.rows

    @property
    def nbytes(self) -> int:
        """The bytes of its arrays, without what Python needs around them."""
        held = (*self.nodes.values(), *self.fragments.values())
        return sum(states.nbytes for states in held)

    def parts(self) -> list[tuple[int, int]]:
        """Tells which points of the reduced axis it holds.

        Returns
        -------
        list of tuple of int
            Points [first, last) in order, those that follow one another joined.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> r.partial(y=np.ones(2), j=(1, 5)).parts()
        [(1, 3)]
        """
        spans = [self.kind.points(node) for node in self.nodes]
        joined: list[tuple[int, int]] = []
        for first, last in sorted([*spans, *self.fragments]):
            if joined and joined[-1][1] == first:
                joined[-1] = (joined[-1][0], last)
            elif last > first:
                joined.append((first, last))
        return joined

    @property
    def complete(self) -> bool:
        """Whether it is of all points of the reduced axis."""
        total = self.kind.total
        return self.parts() == ([(0, total)] if total else [])

    def missing(self) -> list[tuple[int, int]]:
        """Tells which points of the reduced axis it lacks.

        Returns
        -------
        list of tuple of int
            Points [first, last) in order; nothing where it is complete.

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> r.partial(y=np.ones(2), j=(1, 5)).missing()
        [(0, 1), (3, 5)]
        """
        ends = [0, *(end for part in self.parts() for end in part)]
        ends.append(self.kind.total)
        gaps = zip(ends[::2], ends[1::2], strict=True)
        return [(first, last) for first, last in gaps if first < last]

    def _refuse_incomplete(self) -> None:
        """Raises ArgumentError, naming the first points that it lacks."""
        (first, last), *more = self.missing()
        also = f" and {len(more)} other parts" if more else ""
        _refuse(
            f"one that lacks points {first} to {last} of "
            f"{self.kind.total}{also}",
            "merge the states of all points before the result is made",
        )

    def __repr__(self) -> str:
        """Tells which points and rows it is of."""
        spans = ", ".join(f"[{a}, {b})" for a, b in self.parts()) or "none"
        return (
            f"tilefold.State: {spans} of {self.kind.total} points on "
            f"{self.kind.reduced}, rows {list(self.rows)}, {self.nbytes} bytes"
        )

    def to_bytes(self) -> bytes:
        """Writes the state as bytes, for files and messages.

        Bytes of another version of tilefold are refused when they are read.

        Returns
        -------
        bytes
            A NumPy archive without pickled objects.

        See Also
        --------
        State.from_bytes

        Examples
        --------
        >>> r = tilefold.Reduction("sum_j y_j")
        >>> data = r.partial(y=np.ones(2)).to_bytes()
        >>> tilefold.State.from_bytes(data).complete
        True
        """
        header = {
            "version": _VERSION,
            "kind": asdict(self.kind),
            "nodes": list(self.nodes),
            "fragments": list(self.fragments),
        }
        arrays = [*self.nodes.values(), *self.fragments.values()]
        file = io.BytesIO()
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        np.savez(file, text, *arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> State:
        """Reads the state that ``to_bytes`` wrote; nothing in it is executed.

        Parameters
        ----------
        data : bytes, bytearray or memoryview
            What ``to_bytes`` gave.

        Returns
        -------
        State
            The same state.

        Raises
        ------
        ArgumentError
            For other bytes, and those of another version.

        Examples
        --------
        >>> try:
        ...     tilefold.State.from_bytes(b"else")
        ... except tilefold.ArgumentError as error:
        ...     error.code
        'BadOption'
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = [file[name] for name in file.files]
            header = json.loads(arrays[0].tobytes())
        except (ValueError, OSError, LookupError, EOFError, BadZipFile):
            _refuse("bytes that to_bytes() did not write", "pass its bytes")
        if header.get("version") != _VERSION:
            _refuse(
                f"one of version {header.get('version')}",
                f"use states of this tilefold, of version {_VERSION}",
            )
        kind = header["kind"]
        kind["arguments"] = tuple(
            PartArgument(**{**given, "shape": tuple(given["shape"])})
            for given in kind["arguments"]
        )
        nodes = [tuple(node) for node in header["nodes"]]
        fragments = [tuple(part) for part in header["fragments"]]
        middle = 1 + len(nodes)
        return cls(
            StateKind(**kind),
            dict(zip(nodes, arrays[1:middle], strict=True)),
            dict(zip(fragments, arrays[middle:], strict=True)),
        )


def _refuse(found: str, cure: str) -> Any:
    return _core.fail("BadOption", "state", found, cure)


def nodes_of(
    kind: StateKind, first: int, last: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Points [first, last) as nodes (level, index) and fragments."""
    segment, total = kind.segment, kind.total
    head = min(-(-first // segment) * segment, last)
    tail = last if last == total else max(last // segment * segment, head)
    fragments = [(a, b) for a, b in ((first, head), (tail, last)) if a < b]
    leaf, end = -(-head // segment), -(-tail // segment)
    nodes = []
    while leaf < end:
        # The largest node that begins here (at 0 all do) and ends in time.
        most = (end - leaf).bit_length() - 1
        aligned = (leaf & -leaf).bit_length() - 1 if leaf else most
        level = min(most, aligned)
        nodes.append((level, leaf >> level))
        leaf += 1 << level
    return nodes, fragments


def joined(states: Iterable[State], merge: Merge) -> State:
    """All states as one. `merge` joins later states to earlier, in place.

    Nodes that come twice are dropped. Raises `ArgumentError` where states are
    of other kinds, or meet some points twice and others once.
    """
    given = list(states)
    if not given:
        _core.fail("BadOption", "states", "none", "pass one state or more")
    kind = given[0].kind
    for state in given[1:]:
        require_same(kind, state.kind)
    join = _Join(kind, merge)
    for state in given:
        join.add(state)
    return join.result()


def require_same(kind: StateKind, other: StateKind) -> None:
    """Raises ArgumentError where states of two kinds do not merge."""
    if other != kind:
        _refuse(*_difference(kind, other))


def _difference(kind: StateKind, other: StateKind) -> tuple[str, str]:
    """What two kinds differ in, and the cure."""
    if kind.monoid != other.monoid:
        return (
            "one of another formula, other types of arguments or another "
            "segment",
            "merge states of one Reduction",
        )
    if kind.fingerprint != other.fingerprint:
        return (
            "one of another plan or machine",
            "pin the code of all machines by "
            'options=tilefold.Options(isa="x86-64-v3"), or merge with '
            "mixed=True, for other last bits",
        )
    rows = [k.first_row for k in (kind, other)]
    if rows[0] != rows[1] or kind.rows != other.rows:
        return (
            f"one of rows from {rows[1]}, beside one of rows from {rows[0]}",
            "merge states of the same rows; concatenate() those of others",
        )
    return (
        f"one of {other.total} points in all, beside one of {kind.total}",
        "say how long the axes are: partial(…, j=(first, total))",
    )


class _Join:
    """States by node, of which those below another are dropped."""

    def __init__(self, kind: StateKind, merge: Merge) -> None:
        self.kind = kind
        self.merge = merge
        self.nodes: dict[tuple[int, int], States] = {}
        self.fragments: dict[tuple[int, int], States] = {}
        self.owned: set[int] = set()

    def add(self, state: State) -> None:
        for span, states in state.fragments.items():
            self.fragments.setdefault(span, states)
        for node, states in state.nodes.items():
            self.nodes.setdefault(node, states)

    def result(self) -> State:
        self._drop_covered()
        self._check_overlaps()
        self._fill_segments()
        self._merge_siblings()
        return State(self.kind, self.nodes, self.fragments)

    def _covered(self, node: tuple[int, int]) -> bool:
        """Whether a node above it is there."""
        level, index = node
        levels = self.kind.leaves().bit_length() + 1
        return any(
            (level + up, index >> up) in self.nodes
            for up in range(1, levels - level + 1)
        )

    def _drop_covered(self) -> None:
        for node in [node for node in self.nodes if self._covered(node)]:
            del self.nodes[node]
        for first, last in list(self.fragments):
            leaf = (0, first // self.kind.segment)
            if leaf in self.nodes or self._covered(leaf):
                del self.fragments[first, last]

    def _check_overlaps(self) -> None:
        """Fragments of one segment that meet some points twice are refused."""
        spans = sorted(self.fragments)
        for (_, end), (first, last) in pairwise(spans):
            if first < end:
                _refuse(
                    f"one of points {first} to {last}, beside one of points "
                    f"up to {end}",
                    "merge parts that do not overlap",
                )

    def _owned(self, states: States) -> States:
        """The states in memory that may be written."""
        if id(states) not in self.owned:
            states = states.copy()
            self.owned.add(id(states))
        return states

    def _joined(self, into: States, later: States) -> States:
        into = self._owned(into)
        self.merge(into, later)
        return into

    def _fill_segments(self) -> None:
        """Fragments that are whole segments become leaves."""
        kind = self.kind
        by_segment: dict[int, list[tuple[int, int]]] = {}
        for span in sorted(self.fragments):
            by_segment.setdefault(span[0] // kind.segment, []).append(span)
        for index, spans in by_segment.items():
            first, last = kind.points((0, index))
            ends = [first, *(b for _, b in spans)]
            begins = [*(a for a, _ in spans), last]
            if ends != begins:
                continue
            states = self.fragments.pop(spans[0])
            for span in spans[1:]:
                states = self._joined(states, self.fragments.pop(span))
            self.nodes[0, index] = states

    def _merge_siblings(self) -> None:
        """Two halves of a node become it, from the leaves up."""
        for level in range(self.kind.leaves().bit_length()):
            for index in sorted(k for of, k in self.nodes if of == level):
                left, right = (level, index), (level, index + 1)
                if index % 2 == 0 and right in self.nodes:
                    self.nodes[level + 1, index >> 1] = self._joined(
                        self.nodes.pop(left), self.nodes.pop(right)
                    )
