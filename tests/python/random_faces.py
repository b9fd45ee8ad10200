# tests/python/random_faces.py - random formulas for each way to call one: sizes
# at the ends, chosen pairs, and answers to be checked.
"""A face is a way to call a formula, or a kernel. Of a case it gives `Answer`s:
calls that are made one after another, and what each must give.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bounded import Bounded
from random_checks import check_numbers, dtype_of, smooth_rows
from random_formulas import Generator, along, make_case
from random_reductions import OTHERS, REDUCTIONS
from random_terms import Case, I, J, all_rows

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable

    from random_terms import Term

#: Sizes that are drawn as often as all others together.
EDGES = ["N = 0", "M = 0", "N = 1", "M = 1", "D = 1", "N = M = 1"]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 6e4, 1e-7]
LONG = [64, 65, 127, 257, 700]
TABLE = REDUCTIONS | OTHERS
#: Reductions whose results are numbers of points.
PLACES = {"argmax", "argmin", "argkmin", "argkmax"}


@dataclass
class Answer:
    """A call, and what it must give: numbers, and where they are not None the
    dtype and the bits of another result."""

    what: str
    call: Callable[[], Any]
    wanted: Bounded
    dtype: str | None = None
    same: Any = None


@dataclass
class FaceCase(Case):
    """A case, and the pairs that are chosen, where some are."""

    ranges: tilefold.Ranges | None = None
    mask: np.ndarray | None = None  # (N, M)


class AnySizes(Generator):
    """Cases at the ends of the sizes as often as of others, a few of hundreds
    of points."""

    of_tensors: bool | None = None  # None: some
    has_batches = True
    manners: list[str] = ["reduce", "reduce", "reduce", "map"]  # noqa: RUF012

    def choose_sizes(self) -> None:
        super().choose_sizes()
        self.case = FaceCase(traits=self.case.traits)
        if not self.has_batches:
            self.batch = []
        edge = self.choose([*EDGES, *["other"] * len(EDGES)])
        for axis, name in ((I, "N"), (J, "M")):
            if self.smooth and not self.points[axis]:
                self.points[axis] = 5
            for size in (0, 1):
                if f"{name} = {size}" in edge:
                    self.points[axis] = size
        if edge == "N = M = 1":
            self.points = {I: 1, J: 1}
        if edge == "D = 1":
            self.length = 1
        if edge == "other" and self.one_in(4):
            self.points[self.choose([I, J])] = self.choose(LONG)

    def is_of_tensors(self) -> bool:
        some = super().is_of_tensors()
        return some if self.of_tensors is None else self.of_tensors

    def manner(self) -> str:
        return self.choose(self.manners)

    def reduction_name(self) -> str:
        """One that other tests are made around, at times."""
        name = super().reduction_name()
        is_free = self.focus[0] != "reductions" and not self.smooth
        return self.choose(list(OTHERS)) if is_free and self.one_in(6) else name

    def over(
        self,
        name: str,
        axes: str,  # noqa: ARG002
        operands: list[Term],  # noqa: ARG002
        numbers: list[Bounded],
        more: list[int],
    ) -> Bounded:
        return TABLE[name](*numbers, *more)


class ArrayCases(AnySizes):
    """Of NumPy's arrays."""

    of_tensors = False


class Spoilt(ArrayCases):
    """Of arrays with NaN, infinities, zeros of both signs and large numbers:
    what they give is asked of one call and another, not of a reference."""

    def array_numbers(self, shape: list[int], dtype: str) -> np.ndarray:
        values = super().array_numbers(shape, dtype)
        if dtype in ("f64", "f32", "f16"):
            for place in np.ndindex(*shape):
                if self.one_in(12):
                    values[place] = self.choose(SPECIAL)
        return values

    def finish(self) -> FaceCase:
        case = super().finish()
        assert case.wanted is not None
        case.wanted.error = np.full(case.wanted.value.shape, np.inf)
        return case


class SingleCases(ArrayCases):
    """Without batches."""

    has_batches = False


class ReducedCases(ArrayCases):
    """Reductions."""

    manners = ["reduce"]  # noqa: RUF012


class TensorCases(AnySizes):
    of_tensors = True


class KernelCases(AnySizes):
    """Pair terms."""

    manners = ["kernel"]  # noqa: RUF012


class ArrayKernelCases(KernelCases):
    of_tensors = False


class SingleKernelCases(ArrayKernelCases):
    has_batches = False


class Chosen(ArrayCases):
    """Cases over chosen pairs: reductions of what is on one axis are whole."""

    manners = ["reduce"]  # noqa: RUF012

    def choose_sizes(self) -> None:
        super().choose_sizes()
        n, m = self.points[I], self.points[J]
        self.case.ranges = random_ranges(self.random, n, m)
        self.case.mask = self.case.ranges.mask(n, m)

    def reaching(self, body: Term, axes: str) -> Term:
        """Of pairs, unless it is of what a reduction has left."""
        left = any(
            row is not None and row[0] == "reductions" for row in body.rows
        )
        return super().reaching(body, axes if left else "ij")

    def over(
        self,
        name: str,
        axes: str,
        operands: list[Term],
        numbers: list[Bounded],
        more: list[int],
    ) -> Bounded:
        if frozenset().union(*(term.axes for term in operands)) < {I, J}:
            return super().over(name, axes, operands, numbers, more)
        return over_chosen(
            name, numbers, more, chosen_along(self.case.mask, axes)
        )


class ChosenKernelCases(Chosen):
    manners = ["kernel"]  # noqa: RUF012


def random_ranges(random: random.Random, n: int, m: int) -> tilefold.Ranges:
    """Tiles of random sizes of which some meet; some points are in none."""
    cuts = [
        sorted(
            {random.randrange(size + 1) for _ in range(random.randrange(2, 6))}
        )
        for size in (n, m)
    ]
    if random.randrange(2):  # all points are in tiles
        cuts = [
            sorted({0, size, *inner})
            for size, inner in zip((n, m), cuts, strict=True)
        ]
    share = random.choice([0.3, 0.7, 0.9])
    visit = [
        [random.random() < share for _ in cuts[1][1:]] for _ in cuts[0][1:]
    ]
    shape = (len(cuts[0]) - 1, len(cuts[1]) - 1)
    return tilefold.Ranges(*cuts, np.array(visit, bool).reshape(shape))


def chosen_along(mask: np.ndarray, axes: str) -> np.ndarray:
    """(kept points, reduced points)."""
    if axes == "ij":
        return mask.reshape(1, -1)
    return mask.T if axes == I else mask


def over_chosen(
    name: str, numbers: list[Bounded], more: list[int], chosen: np.ndarray
) -> Bounded:
    """A reduction of each row's chosen terms, of numbers whose axes 2 and 3 are
    those of `chosen`."""
    rows = []
    for k in range(len(chosen)):
        columns = np.flatnonzero(chosen[k])

        def part(v: np.ndarray, k: int = k, columns: Any = columns) -> Any:
            return v[:, :, k : k + 1, columns]

        row = TABLE[name](*(n.shaped(part) for n in numbers), *more)
        if name in PLACES and columns.size:
            place = row.value.astype(int)
            row.value = np.where(place < 0, -1.0, columns[place])
        rows.append(row)
    if not rows:
        return TABLE[name](*numbers, *more)
    return Bounded(
        np.concatenate([row.value for row in rows], 2),
        np.concatenate([row.error for row in rows], 2),
        numbers[0].unit,
    )


def reduced(
    name: str, term: Bounded, axes: str, mask: Any = None, more: Any = ()
) -> Bounded:
    """A reduction of a matrix (batch…, N, M): (batch…, kept points…)."""
    batch = term.value.shape[:-2]
    four = (1,) * (2 - len(batch)) + term.value.shape
    numbers = term.shaped(lambda v: along(v.reshape(four), axes, four))
    if mask is None:
        result = TABLE[name](numbers, *more)
    else:
        result = over_chosen(name, [numbers], more, chosen_along(mask, axes))
    kept = term.value.shape[-2:]
    points = {I: kept[1:], J: kept[:1], "ij": ()}[axes]
    ends = result.value.shape[3:]
    return result.shaped(lambda v: v.reshape((*batch, *points, *ends)))


# ---- the arrays of a case ---------------------------------------------------


def axes_of(case: Case) -> dict[str, str]:
    """The axes that each array is read on: "", "i", "j" or "ij"."""
    return {
        name: "".join(
            axis
            for axis in (I, J)
            if re.search(rf"\b{name}_{axis}\b", case.text)
        )
        for name in case.arrays
    }


def apart(case: Case) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Text, arrays and their axes, where an array on both has two names."""
    text, arrays, axes = case.text, dict(case.arrays), axes_of(case)
    for name, read in list(axes.items()):
        if read == "ij":
            other = f"q{name}"
            text = re.sub(rf"\b{name}_j\b", f"{other}_j", text)
            arrays[other] = arrays[name]
            axes |= {name: I, other: J}
    return text, arrays, axes


def points_at(case: Case, name: str, array: Any) -> int:
    """The dimension of an array on i or j that its points are on."""
    return int(np.ndim(array) - 1 - case.ranks[name.removeprefix("q")])


def sliced(case: Case, name: str, array: Any, first: int, last: int) -> Any:
    """Some of its points."""
    place = points_at(case, name, array)
    return array[(*(slice(None),) * place, slice(first, last))]


def with_batch_rank(case: Case) -> dict[str, Any]:
    """The arrays, each with all dimensions of the batch, as `batch_rank` has
    them, and parameters without a dimension for points."""
    rank, axes = len(case.batch), axes_of(case)
    given = {}
    for name, array in case.arrays.items():
        if np.ndim(array) == 0:
            given[name] = array
            continue
        shape = tuple(array.shape)
        own = case.ranks[name] + bool(axes[name])
        if not axes[name] and case.ranks[name] == 1:
            lead, ends = shape[:-2], shape[-1:]
        else:
            lead, ends = shape[: len(shape) - own], shape[len(shape) - own :]
        ones = (1,) * (rank - len(lead))
        given[name] = array.reshape(*ones, *lead, *ends)
    return given


def is_two_ways(case: Case) -> bool:
    """Whether a parameter without a dimension for points could be one number
    for each of them: it is refused."""
    lengths = case.points.values()
    return any(
        case.ranks[name] == 1
        and not axes
        and len(case.batch) == 0
        and np.shape(case.arrays[name])[-1] in lengths
        for name, axes in axes_of(case).items()
    )


def random_cuts(random: random.Random, size: int, step: int) -> list[int]:
    """From 0 to `size` by multiples of `step`."""
    inner = {
        random.randrange(size + 1) // step * step
        for _ in range(random.randrange(4))
    }
    return sorted({0, *inner, size}) if size else [0, 0]


# ---- answers ----------------------------------------------------------------


@dataclass
class Tally:
    """How often a face answered, how often it refused, and by what words."""

    answers: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    traits: set[str] = field(default_factory=set)

    def check(self, case: Case, answers: Iterable[Answer]) -> None:
        """Each answer is right, or refused by a sentence of tilefold's."""
        self.traits |= case.traits | sizes_of(case)
        try:
            for answer in answers:
                self.check_one(case, answer)
        except tilefold.Error as error:
            self.refuse("the case", error, case.describe())

    def check_one(self, case: Case, answer: Answer) -> None:
        told = f"{answer.what}: {case.describe()}"
        try:
            result = answer.call()
        except tilefold.Error as error:
            self.refuse(answer.what, error, told)
            return
        except Exception as error:
            error.add_note(told)
            raise
        check_answer(answer, result, told)
        self.answers += 1

    def refuse(self, what: str, error: tilefold.Error, told: str) -> None:
        """A refusal says more than a word, and is none of the library's own
        faults."""
        if isinstance(error, tilefold.InternalError) or len(str(error)) < 20:
            error.add_note(told)
            raise error
        self.refusals[f"{what}: {error}".split("\n")[0]] += 1

    def answers_most(self, share: float) -> bool:
        """Whether this share of the calls was answered, as far as so many
        calls tell."""
        calls = self.answers + self.refusals.total()
        return self.answers >= share * calls - 2 * calls**0.5


def check_answer(answer: Answer, result: Any, told: str) -> None:
    dtype = dtype_of(result)
    assert answer.dtype in (None, dtype), f"{dtype}: {answer.dtype}, {told}"
    check_numbers(result, answer.wanted, told)
    if answer.same is not None:
        assert same_bits(result, answer.same), (
            f"other bits: {told}\n{result}\n{answer.same}"
        )


def same_bits(one: Any, other: Any) -> bool:
    arrays = [
        np.ascontiguousarray(
            a.double().numpy() if hasattr(a, "double") else np.asarray(a)
        )
        for a in (one, other)
    ]
    return arrays[0].tobytes() == arrays[1].tobytes()


def sizes_of(case: Case) -> set[str]:
    """Words of `EDGES` that hold."""
    n, m = case.points[I], case.points[J]
    words = {f"N = {n}", f"M = {m}"}
    if n == m == 1:
        words.add("N = M = 1")
    lengths = [
        np.shape(array)[-1]
        for name, array in case.arrays.items()
        if case.ranks[name] == 1
    ]
    if 1 in lengths:
        words.add("D = 1")
    return words & set(EDGES)


def face_case(
    random: random.Random, number: int, maker: type[AnySizes], smooth: bool
) -> FaceCase:
    """A case around the rows in turn, the one of `number`."""
    rows = smooth_rows() if smooth else all_rows()
    if "reduce" not in maker.manners:
        rows = [row for row in rows if row[0] != "reductions"]
    row = rows[number % len(rows)] if number % 2 else random.choice(rows)
    case = make_case(random, row, smooth, maker)
    assert isinstance(case, FaceCase)
    return case
