# tests/python/random_terms.py - the parts of random formulas: arrays of any
# dtype, strides and batch, numbers and index symbols.
"""A `Term` is text and what it is in float64, side by side.

Numbers have the shape (batch, batch, N or 1, M or 1, components…).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bounded import Bounded
from meanings import ELSEWHERE
from tilefold import _core

if TYPE_CHECKING:
    import random

TABLES = _core._tables()
SIZES = [0, 1, 2, 3, 5, 8, 13, 16, 17, 33, 40]
LENGTHS = [1, 1, 2, 3, 3, 3, 4, 5, 7, 8, 9]
I, J = "i", "j"
ROWS, COLUMNS = 2, 3  # axes of the numbers
NUMPY_DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bool": "bool",
    "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
    "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
}  # fmt: skip
# Patterns of leading dimensions: of the whole call, and of one array.
BATCHES = {
    "none": [],
    "one": [2],
    "two": [2, 3],
}
LAYOUTS = ["plain", "reversed", "every other", "transposed", "repeated"]


@dataclass(frozen=True)
class Term:
    """A part of a formula, its numbers, and the rows it was made with."""

    text: str
    numbers: Bounded
    rank: int  # 0 scalar, 1 vector, 2 matrix
    kind: str  # real, integer, truth
    axes: frozenset[str]
    rows: frozenset[tuple[str, str]] = frozenset()
    names: frozenset[str] = frozenset()  # arrays and index symbols it reads

    @property
    def length(self) -> int:
        return self.numbers.value.shape[-1] if self.rank else 0

    def largest(self) -> float:
        return float(np.abs(self.numbers.value).max(initial=0))

    def least(self) -> float:
        return float(self.numbers.value.min(initial=1))


@dataclass
class Case:
    """What a test calls: text, arrays, and the numbers it must get."""

    text: str = ""
    arrays: dict[str, Any] = field(default_factory=dict)
    wanted: Bounded | None = None
    kernel: bool = False  # a pair term, to be made dense
    kind: str = "real"
    rows: frozenset[tuple[str, str]] = frozenset()
    traits: set[str] = field(default_factory=set)  # dtypes, layouts, batches
    points: dict[str, int] = field(default_factory=dict)  # of i and j
    ranks: dict[str, int] = field(default_factory=dict)  # of each array
    batch: tuple[int, ...] = ()
    unit: float = 0.0  # half a step of 1 in the kernel's width

    def describe(self) -> str:
        arrays = (
            f"{name}: {getattr(value, 'dtype', '')} {np.shape(value)}"
            for name, value in self.arrays.items()
        )
        return f"{self.text}\n{'; '.join(arrays)}\n{self.arrays}"


def all_rows() -> list[tuple[str, str]]:
    """(table, name) of everything that a case may be made around."""
    return [
        (table, row["name"])
        for table in ("operations", "functions", "reductions")
        for row in TABLES[table]
        if row["name"] not in ELSEWHERE.get(table, {})
    ]


def kind_of(dtype: str) -> str:
    if dtype[0] in "iu":
        return "integer"
    return "truth" if dtype == "bool" else "real"


class Leaves:
    """The sizes, dtypes and arrays of one case.

    `focus` is a row that it is sure to hold; `smooth` keeps to float64 and to
    what has derivatives everywhere.
    """

    def __init__(
        self,
        random: random.Random,
        focus: tuple[str, str],
        smooth: bool = False,
    ) -> None:
        self.random = random
        self.focus = focus
        self.smooth = smooth
        self.terms: dict[str, Term] = {}
        self.leads: dict[str, list[int]] = {}
        self.case = Case()
        self.operations = {row["name"]: row for row in TABLES["operations"]}
        self.functions = {row["name"]: row for row in TABLES["functions"]}
        self.choose_sizes()
        self.choose_dtypes()
        self.axes = [I, J, I, J, ""]

    # ---- choices ------------------------------------------------------------

    def below(self, count: int) -> int:
        return self.random.randrange(count)

    def one_in(self, count: int) -> bool:
        return self.below(count) == 0

    def choose(self, values: list):
        """Of a list: the order of a set is another one in every process."""
        return values[self.below(len(values))]

    def choose_sizes(self) -> None:
        sizes = SIZES[1:] if self.smooth else SIZES
        self.points = {I: self.choose(sizes), J: self.choose(sizes)}
        if self.one_in(4):
            self.points[J] = self.points[I]
        self.length = self.choose(LENGTHS)
        name = self.choose(["none", "none", "none", "one", "two"])
        self.case.traits.add(f"batch {name}")
        self.batch = BATCHES[name]

    def choose_dtypes(self) -> None:
        """Of the arrays: one, or any; a tensor library where bf16 is."""
        every = [row["name"] for row in TABLES["dtypes"]]
        dtypes = self.choose([["f32"], ["f32"], ["f64"], ["f16"], every, every])
        self.torch = not self.smooth and self.is_of_tensors()
        if self.torch:
            dtypes = self.choose([["bf16"], ["f32"], every])
            dtypes = [d for d in dtypes if d not in ("u64", "u32", "u16")]
        else:
            dtypes = [d for d in dtypes if d != "bf16"]
        self.dtypes = ["f64"] if self.smooth else dtypes

    def is_of_tensors(self) -> bool:
        return self.one_in(4)

    # ---- arrays -------------------------------------------------------------

    def array_numbers(self, shape: list[int], dtype: str) -> np.ndarray:
        """Values that the dtype holds exactly; strides of any kind."""
        flat = np.array(
            [self.random.uniform(-1.5, 1.5) for _ in range(int(np.prod(shape)))]
        ).reshape(shape)
        if dtype == "bool":
            return flat > 0
        if dtype[0] in "iu":
            whole = np.rint(2 * flat)
            if dtype[0] == "u":
                whole = np.abs(whole)
            return whole.astype(NUMPY_DTYPES[dtype])
        if dtype == "bf16":
            bits = flat.astype(np.float32).view(np.uint32) & 0xFFFF0000
            return bits.view(np.float32)
        return flat.astype(NUMPY_DTYPES[dtype])

    def laid_out(self, values: np.ndarray, layout: str) -> np.ndarray:
        """The same numbers (but for "repeated") with other strides."""
        if layout == "reversed" and values.ndim:
            return np.ascontiguousarray(values[::-1])[::-1]
        if layout == "every other" and values.ndim:
            wide = np.repeat(values, 2, axis=-1)
            return wide[..., ::2]
        if layout == "transposed":
            return np.asfortranarray(values)
        if layout == "repeated" and values.ndim and len(values):
            return np.broadcast_to(values[:1], values.shape)
        return values

    def given(self, values: np.ndarray, dtype: str) -> Any:
        """As the caller passes it."""
        values = np.asarray(values)
        if not self.torch:
            return values
        import torch

        values = (
            values if min(values.strides, default=0) >= 0 else values.copy()
        )
        if not values.flags.writeable:
            values = values.copy()
        tensor = torch.from_numpy(values)
        return tensor.to(torch.bfloat16) if dtype == "bf16" else tensor

    def batch_of_one(self) -> list[int]:
        """Leading dimensions of one array: all, some of length 1, the last."""
        pattern = self.choose(["whole", "ones", "fewer", "none"])
        if not self.batch:
            return []
        self.case.traits.add(f"batch {pattern}")
        if pattern == "whole":
            return self.batch
        if pattern == "ones":
            return [1, *self.batch[1:]]
        return self.batch[1:] if pattern == "fewer" else []

    def argument(self, axes: str, rank: int, length: int = 0) -> Term:
        """A new array: on "i", "j", both ("ij") or neither (""), and read on
        the first of them."""
        length = length or self.length
        if rank and length == 1 and not axes:
            # Of one component a parameter would be a scalar.
            axes = next(axis for axis in self.axes if axis)
        name = f"{'abcdefgh'[self.below(8)]}{len(self.terms)}"
        dtype = self.choose(self.dtypes)
        layout = self.choose(LAYOUTS)
        components = [length] if rank else []
        lead = self.leads[name] = self.batch_of_one() if rank else []
        points = [self.points[axes[0]]] if axes else [1] * rank
        shape = [*lead, *points, *components]
        values = self.laid_out(self.array_numbers(shape, dtype), layout)
        self.case.traits |= {f"dtype {dtype}", f"layout {layout}"}
        self.case.traits.add(f"argument on {axes or 'none'} of rank {rank}")
        self.case.arrays[name] = self.given(values, dtype)
        points = points if axes else [1]
        flat = np.asarray(values, np.float64).reshape(
            *[1] * (2 - len(lead)), *lead, *points, *components
        )
        term = self.placed(name, flat, rank, kind_of(dtype), axes)
        self.terms[name] = term
        return term

    def placed(self, name, flat, rank, kind, axes) -> Term:
        """`flat` is (batch, batch, points, components…)."""
        read_on = axes[:1]
        numbers = np.expand_dims(flat, ROWS if read_on == J else COLUMNS)
        text = f"{name}_{read_on}" if read_on else name
        once = not read_on and kind == "real"  # rounded where it is used
        error = np.abs(numbers) * self.unit() if once else None
        return Term(
            text,
            Bounded(numbers, error),
            rank,
            kind,
            frozenset(read_on),
            names=frozenset({name}),
        )

    def matrix(self, rows: int, columns: int) -> Term:
        """A parameter; of one row it would be a vector. One of uint64 is a
        table and nothing else."""
        name = f"m{len(self.terms)}"
        dtype = self.choose([d for d in self.dtypes if d != "u64"] or ["f64"])
        values = self.array_numbers([rows, columns], dtype)
        values = self.laid_out(values, self.choose(LAYOUTS))
        self.case.traits |= {f"dtype {dtype}", "argument on none of rank 2"}
        self.case.arrays[name] = self.given(values, dtype)
        numbers = np.asarray(values, np.float64)[None, None, None, None]
        term = Term(
            name,
            Bounded(numbers, np.abs(numbers) * self.unit()),
            2,
            kind_of(dtype),
            frozenset(),
            names=frozenset({name}),
        )
        self.terms[name] = term
        return term

    # ---- leaves -------------------------------------------------------------

    def leaf(self, rank: int, length: int = 0, axis: str | None = None) -> Term:
        axis = self.choose(self.axes) if axis is None else axis
        fitting = [
            term
            for term in self.terms.values()
            if term.rank == rank
            and (not rank or term.length == (length or self.length))
            and (axis in term.axes if axis else not term.axes)
        ]
        if fitting and self.below(2):
            return self.again(self.choose(fitting))
        if rank == 0 and not axis and self.below(2):
            return self.literal()
        if rank == 0 and axis and self.one_in(6) and not self.smooth:
            return self.index(axis)
        return self.argument(axis, rank, length)

    def again(self, term: Term) -> Term:
        """An array read a second time, perhaps on the other axis."""
        other = J if I in term.axes else I
        fits = self.points[I] == self.points[J] and other in self.axes
        if not term.axes or not fits or self.below(2):
            return term
        name = term.text[:-2]
        self.case.traits.add("argument on both axes")
        swapped = term.numbers.shaped(lambda v: np.swapaxes(v, ROWS, COLUMNS))
        return Term(
            f"{name}_{other}",
            swapped,
            term.rank,
            term.kind,
            frozenset(other),
            names=term.names,
        )

    def literal(self) -> Term:
        value = self.choose([0.5, 1, 2, 3, 1.25, 0.1])
        return self.number(value)

    def number(self, value: float) -> Term:
        numbers = np.full((1, 1, 1, 1), float(value))
        # Few whole numbers are rounded by any dtype, as an order is.
        is_exact = value % 1 == 0 and abs(value) <= 256
        rounding = np.abs(numbers) * (0 if is_exact else self.unit())
        return Term(
            f"{value:g}", Bounded(numbers, rounding), 0, "real", frozenset()
        )

    def index(self, axis: str) -> Term:
        numbers = np.arange(float(self.points[axis]))[None, None, :, None]
        if axis == J:
            numbers = np.swapaxes(numbers, ROWS, COLUMNS)
        self.case.traits.add("index symbol")
        on = frozenset(axis)
        if self.one_in(3):  # counted from the end, by the size of the axis
            self.case.traits.add("size")
            text = f"({axis} - {'N' if axis == I else 'M'})"
            numbers -= self.points[axis]
            return Term(text, Bounded(numbers), 0, "real", on, names=on)
        return Term(axis, Bounded(numbers), 0, "integer", on, names=on)

    def unit(self) -> float:
        """Half a step of 1 where it is coarsest: a float32 kernel's."""
        return 2.0**-53 if self.dtypes == ["f64"] else 2.0**-24
