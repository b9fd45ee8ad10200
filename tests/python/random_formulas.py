# tests/python/random_formulas.py - random formulas of random arrays, and what
# they are in float64.
"""Grows a formula as text and evaluates it at the same time.

Every value of the formula has its numbers at hand, so that an operand outside
the domain of an operation is brought into it by a formula around it, and never
gives NaN.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bounded import Bounded, elementwise
from meanings import OPERATIONS, SUGAR, Meaning
from random_reductions import (
    INDICES,
    REDUCTIONS,
    SCALARS,
    SMOOTH,
    TRUTHS,
    WITH_COUNT,
)
from random_terms import COLUMNS, ROWS, Case, I, J, Leaves, Term

if TYPE_CHECKING:
    import random

INFIX = {"mod", "and", "or"}
COMPARED = {">", ">=", "isnan", "isinf", "isfinite"}
VECTORS = {"Cross", "MatVec", "VecMat", "Outer", "normalize"}


def spelled(spelling: str, operands: list[str]) -> str:
    """An operation of a formula, in parentheses where it is an operator."""
    if spelling == "neg":
        return f"(-{operands[0]})"
    if spelling == "not":
        return f"(not {operands[0]})"
    if not spelling[0].isalpha() or spelling in INFIX:
        return f"({operands[0]} {spelling} {operands[1]})"
    return f"{spelling}({', '.join(operands)})"


def nearly_equal(a: Bounded, b: Bounded) -> np.ndarray:
    """Where a kernel may find equal what is not, or the other way round."""
    reach = a.error + b.error
    return np.float64((np.abs(a.value - b.value) <= reach) & (reach > 0))


def fits(name: str, meaning: Meaning, rank: int) -> bool:
    """Whether a row makes a number, or a vector as long as its operand."""
    if name in ("Less", "LessEqual", "Equal", "NotEqual", "And", "Or", "Not"):
        return False
    if not meaning.by_component:
        return (name in ("Cross", "normalize")) if rank else name not in VECTORS
    scalar = any(
        wanted.startswith(("scalar", "order", "degree"))
        for wanted in meaning.operands[:1]
    )
    return rank == 0 or not scalar


class Generator(Leaves):
    """Grows terms of leaves, and cases of terms."""

    # ---- operations ---------------------------------------------------------

    def meanings(self, table: str) -> dict[str, Meaning]:
        return OPERATIONS if table == "operations" else SUGAR

    def grow(self, rank: int, length: int, depth: int) -> Term:
        """A value of at most `depth` levels."""
        if depth <= 0 or self.one_in(4):
            return self.leaf(rank, length)
        if self.one_in(8):
            return (
                self.subscript(depth) if rank == 0 else self.list(length, depth)
            )
        rows = [
            (table, name)
            for table in ("operations", "functions")
            for name, meaning in self.meanings(table).items()
            if fits(name, meaning, rank) and (meaning.smooth or not self.smooth)
        ]
        table, name = self.choose(rows)
        if name == "Cross" and length != 3:
            return self.leaf(rank, length)
        return self.make(table, name, rank, length, depth)

    def subscript(self, depth: int) -> Term:
        vector = self.grow(1, self.length, depth - 1)
        k = self.below(vector.length)
        written = self.choose([k, k - vector.length])
        numbers = vector.numbers.shaped(lambda v: v[..., k])
        self.case.traits.add("subscript")
        return self.made(
            f"({vector.text})[{written}]", numbers, vector.kind, None, [vector]
        )

    def list(self, length: int, depth: int) -> Term:
        parts = [self.grow(0, length, depth - 2) for _ in range(length)]
        parts = self.alike(parts)
        numbers = [part.numbers for part in parts]
        shape = np.broadcast_shapes(*(n.value.shape for n in numbers))
        values, errors = (
            np.stack([np.broadcast_to(a, shape) for a in arrays], -1)
            for arrays in zip(
                *((n.value, n.error) for n in numbers), strict=True
            )
        )
        same = {part.kind for part in parts}
        kind = same.pop() if len(same) == 1 else "real"
        text = "[" + ", ".join(part.text for part in parts) + "]"
        self.case.traits.add("list")
        return self.made(text, Bounded(values, errors), kind, None, parts)

    def wrapped(self, term: Term, name: str) -> Term:
        return self.apply("operations", name, [term])

    def plus(self, term: Term, value: float) -> Term:
        return self.apply("operations", "Add", [term, self.number(value)])

    def times(self, term: Term, value: float) -> Term:
        return self.apply("operations", "Mul", [term, self.number(value)])

    def bounded(self, term: Term, most: float) -> Term:
        """Not larger than `most`."""
        if term.largest() <= most:
            return term
        way = self.choose(["Tanh", "Sin", "Atan"])
        return self.times(self.wrapped(term, way), most / 2)

    def positive(self, term: Term) -> Term:
        """From 0.1 to 30."""
        if term.least() > 0.1 and term.largest() < 30:
            return term
        way = self.choose(["Sin", "Cos", "Tanh"])
        return self.plus(self.wrapped(term, way), self.choose([1.25, 2]))

    def domain(self, term: Term, wanted: str) -> Term:
        term = self.bounded(term, 30)
        if wanted == "positive":
            return self.positive(term)
        if wanted == "beyond":
            return self.plus(self.positive(term), 1)
        if wanted == "few":
            inside = term.least() > 0.1 and term.largest() < 6
            return (
                term
                if inside
                else self.plus(
                    self.wrapped(term, "Sin"), self.choose([1.25, 2])
                )
            )
        if wanted == "nonzero":
            far = np.abs(term.numbers.value).min(initial=1) >= 0.1
            return term if far else self.positive(term)
        limits = {"small": 3, "unit": 0.9, "tangible": 1.2}
        return self.bounded(term, limits.get(wanted, 30))

    def operand(self, wanted: str, rank: int, length: int, depth: int) -> Term:
        """What a meaning asks for; see meanings.py."""
        words = wanted.split()
        if words[0] == "scalar":
            rank, words = 0, words[1:] or ["any"]
        if words[0] == "order":
            return self.number(self.below(4))
        if words[0] == "degree":
            return self.number(self.choose([0, 1, 2, 3, 0.5, 1.25, 2.5]))
        if words[0] == "truth":
            return self.truth(rank, length, depth)
        if words[0] == "vector3":
            return self.bounded(self.grow(1, 3, depth), 30)
        if words[0] == "vector":
            return self.bounded(self.grow(1, length, depth), 30)
        return self.domain(self.grow(rank, length, depth), words[0])

    def truth(self, rank: int, length: int, depth: int) -> Term:
        name = self.choose(["Less", "LessEqual", "Equal", "NotEqual"])
        if depth > 0 and self.one_in(3):
            name = self.choose(["And", "Or", "Not"])
        return self.make("operations", name, rank, length, depth)

    def make(
        self, table: str, name: str, rank: int, length: int, depth: int
    ) -> Term:
        """An operation, of operands of at most `depth` levels."""
        meaning = (OPERATIONS if table == "operations" else SUGAR)[name]
        if "matrix" in meaning.operands or "square" in meaning.operands:
            return self.with_matrix(table, name, meaning, length, depth)
        operands = []
        for k, wanted in enumerate(meaning.operands):
            # A scalar goes with a vector, after the first operand.
            own = rank and (k == 0 or self.below(3) > 0)
            # A vector of one component goes with a longer one as well; a sum
            # of points of i and of j does not.
            single = (
                rank
                and not own
                and meaning.by_component
                and name not in ("Add", "Sub")
                and self.one_in(3)
            )
            if single:
                self.case.traits.add("one component")
            operands.append(
                self.operand(
                    wanted,
                    1 if own or single else 0,
                    1 if single else length,
                    depth - 1,
                )
            )
        return self.apply(table, name, operands)

    def with_matrix(self, table, name, meaning: Meaning, length, depth) -> Term:
        length = max(length, 2)
        columns = self.choose([1, 2, 3])
        shapes = {
            "MatVec": (columns + 1, length),
            "VecMat": (length, columns),
            "symsqnorm": (length, length),
        }
        operands = [
            self.bounded(self.grow(1, length, depth - 1), 30)
            if wanted == "vector"
            else self.matrix(*shapes[name])
            for wanted in meaning.operands
        ]
        return self.apply(table, name, operands)

    def alike(self, terms: list[Term]) -> list[Term]:
        """A choice of uint64 and other whole numbers is refused: no integer
        type holds both. Then all are real."""
        whole = {"integer", "index", "truth"}
        if "dtype u64" not in self.case.traits or len(terms) == 1:
            return terms
        return [
            self.times(term, 1.5) if term.kind in whole else term
            for term in terms
        ]

    def apply(self, table: str, name: str, operands: list[Term]) -> Term:
        if name in ("Where", "ifelse"):
            operands = [operands[0], *self.alike(operands[1:])]
        meaning = (OPERATIONS if table == "operations" else SUGAR)[name]
        numbers = self.evaluate(table, name, meaning, operands)
        row = self.operations[name] if table == "operations" else {}
        kind = "truth" if numbers.value.dtype == bool else "real"
        if row.get("result") in ("Compare", "Logic") or name in COMPARED:
            kind = "truth"
        if self.stays_whole(row, operands):
            kind = "integer"
        spelling = row.get("spelling", name)
        if spelling == "@" and any(
            operand.rank == 1 and operand.text in self.terms
            for operand in operands
        ):  # a parameter of shape (1, D) is a matrix there
            spelling = name.lower()
        return self.made(
            spelled(spelling, [o.text for o in operands]),
            numbers,
            kind,
            (table, name),
            operands,
        )

    def made(self, text, numbers: Bounded, kind, row, operands) -> Term:
        """A term of others; its axes are theirs."""
        return Term(
            text,
            numbers,
            int(numbers.value.ndim > 4),
            kind,
            frozenset().union(*(operand.axes for operand in operands)),
            frozenset({row}).union(*(operand.rows for operand in operands)),
            names=frozenset().union(*(operand.names for operand in operands)),
        )

    def stays_whole(self, row: dict[str, str], operands: list[Term]) -> bool:
        """Sums and products of integers are exact."""
        return row.get("result") in ("Affine", "Select") and all(
            operand.kind == "integer"
            for operand in operands[row["result"] == "Select" :]
        )

    def evaluate(self, table, name, meaning: Meaning, operands) -> Bounded:
        row = self.operations[name] if table == "operations" else {}
        picks = row.get("result") in ("Compare", "Logic", "Select")
        whole = self.stays_whole(row, operands) or picks or name in (">", ">=")
        unit = 0.0 if whole else self.unit()
        numbers = [operand.numbers.with_unit(unit) for operand in operands]
        ranks = [operand.rank for operand in operands]
        if not meaning.by_component:
            result = meaning.function(*numbers)
        else:
            if any(ranks):
                numbers = [
                    n if rank else n.shaped(lambda v: v[..., None])
                    for n, rank in zip(numbers, ranks, strict=True)
                ]
            result = elementwise(meaning.function, *numbers)
            if name in ("Equal", "NotEqual"):
                result.error = nearly_equal(*numbers)
        if meaning.step:
            size = max([1.0, *(operand.largest() for operand in operands)])
            result.error = result.error + meaning.step * unit * size
        return result

    # ---- reductions ---------------------------------------------------------

    def reaching(self, body: Term, axes: str) -> Term:
        """Made to depend on the axes, and on an array of each."""
        for axis in axes:
            if self.arrays_on(body, axis):
                continue
            leaf = self.argument(axis, 0)
            if body.kind == "truth":
                far = self.apply(
                    "operations", "Less", [leaf, self.number(1.25)]
                )
                body = self.apply("operations", "And", [body, far])
            else:
                body = self.apply("operations", "Add", [body, leaf])
        return body

    def arrays_on(self, term: Term, axis: str) -> bool:
        return any(
            name in self.terms and f"{name}_{axis}" in term.text
            for name in term.names
        )

    def body(self, depth: int, rank: int, kind: str = "real") -> Term:
        """The inside of a reduction, around the focus if that is a row of
        operations or functions."""
        table, name = self.focus
        if table != "reductions" and (table, name) not in self.case.rows:
            term = self.make(table, name, rank, self.length, depth)
        elif kind == "truth":
            term = self.truth(rank, self.length, depth)
        else:
            term = self.grow(rank, self.length, depth)
        if kind == "truth" and term.kind != "truth":
            term = self.apply("operations", "Less", [term, self.leaf(0)])
        self.case.rows |= term.rows
        return term

    def scalar(self, term: Term) -> Term:
        return self.wrapped(term, "CompSum") if term.rank else term

    def reduce(self, name: str, axes: str) -> Term:
        rank = 0 if name in SCALARS else self.below(2)
        kind = "truth" if name in TRUTHS else "real"
        body = self.body(2, rank, kind)
        if name in SCALARS and body.rank:
            body = self.scalar(body)
        body = self.reaching(body, axes)
        if kind != "truth":
            body = self.bounded(body, 1.5 if name == "prod" else 20)
        operands = [body]
        if name == "softmax":
            operands.append(
                self.bounded(self.grow(self.below(2), self.length, 1), 20)
            )
        if name == "logsumexp" and self.below(2):
            operands.append(self.positive(self.leaf(0)))
        count = 1 + self.below(5)
        return self.reduced(name, axes, operands, count)

    def reduced(
        self, name: str, axes: str, operands: list[Term], count: int
    ) -> Term:
        counts = name == "sum" and operands[0].kind in ("integer", "truth")
        unit = 0.0 if counts else self.unit()
        numbers = [o.numbers.with_unit(unit) for o in operands]
        points = np.broadcast_shapes(*(n.value.shape[:4] for n in numbers))
        numbers = [n.shaped(lambda v: along(v, axes, points)) for n in numbers]
        texts = [operand.text for operand in operands]
        more = [count] if name in WITH_COUNT else []
        texts += map(str, more)
        result = self.over(name, axes, operands, numbers, more)
        place = ROWS if axes == I else COLUMNS
        if name in ("max", "min") and operands[0].kind == "truth":
            # Of nothing: false or true, which are the infinities of truth.
            result = result.shaped(lambda v: np.clip(v, 0, 1))
        result = result.shaped(lambda v: np.expand_dims(v, place))
        kind = "index" if name in INDICES else "real"
        if name in ("any", "all"):
            kind = "truth"
        if name in ("max", "min"):
            kind = operands[0].kind
        if counts:
            kind = "integer"
        text = f"({name}_{axes}({', '.join(texts)}))"
        term = self.made(text, result, kind, ("reductions", name), operands)
        return replace(term, axes=term.axes - set(axes))

    def over(
        self,
        name: str,
        axes: str,  # noqa: ARG002
        operands: list[Term],  # noqa: ARG002
        numbers: list[Bounded],
        more: list[int],
    ) -> Bounded:
        """What a reduction gives of operands, whose numbers are `along` its
        axes: of all of them here."""
        return REDUCTIONS[name](*numbers, *more)

    def reduction_name(self) -> str:
        if self.focus[0] == "reductions":
            return self.focus[1]
        return self.choose(
            SMOOTH if self.smooth else ["sum", "sum", *REDUCTIONS]
        )

    def after(self, term: Term, axes: str) -> Term:
        """What is done with a reduction: nothing, or something with values on
        the axis that is kept, or with another reduction over the same axes."""
        if term.kind not in ("real", "integer") or self.below(2):
            return term
        kept = sorted({I, J} - set(axes))
        self.axes = [*kept, ""]
        if self.one_in(3):
            self.axes = [I, J, ""]
            other = self.reduced(
                "sum", axes, [self.reaching(self.body(1, 0), axes)], 1
            )
            self.case.traits.add("two reductions")
        else:
            other = self.leaf(0) if kept or self.below(2) else self.literal()
            self.case.traits.add("after a reduction")
        return self.apply(
            "operations", self.choose(["Add", "Mul"]), [term, other]
        )

    def nested(self, axes: str) -> tuple[Term, str]:
        """A reduction of a reduction, and the axes that nothing is left of: it
        is over what the inner one keeps, or over the inner one's axis again."""
        inner = self.reduce(self.reduction_name(), axes)
        finite = np.isfinite(inner.numbers.value).all()
        if inner.kind != "real" or not finite:
            return inner, axes
        (kept,) = {I, J} - {axes}
        again = self.choose([kept, kept, axes])
        if again not in inner.axes:
            leaf = self.argument(again, 0)
            way = self.choose(["Add", "Mul"])
            inner = self.apply("operations", way, [inner, leaf])
        inner = self.reaching(inner, again)
        names = set(SMOOTH if self.smooth else REDUCTIONS)
        name = self.choose(sorted(names - TRUTHS - {"softmax"}))
        if name in SCALARS:
            inner = self.scalar(inner)
        inner = self.bounded(inner, 1.5 if name == "prod" else 20)
        self.case.traits.add("nested reductions")
        term = self.reduced(name, again, [inner], 1 + self.below(5))
        return term, "ij" if again == kept else axes

    # ---- the whole ----------------------------------------------------------

    def manner(self) -> str:
        ways = ["reduce", "reduce", "reduce", "map", "kernel"]
        way = self.choose(ways)
        return "reduce" if self.smooth else way

    def finish(self) -> Case:
        manner = self.manner()
        if self.focus[0] == "reductions":
            manner = "reduce"
        if manner == "reduce":
            axes = self.choose(["j", "j", "i", "ij"])
            if axes != "ij" and self.one_in(4):
                term, axes = self.nested(axes)
            else:
                term = self.reduce(self.reduction_name(), axes)
            term = self.after(term, axes)
        elif manner == "map":
            axes = self.choose([I, J])
            self.axes = [axes, axes, ""]
            term = self.reaching(self.body(3, self.below(2)), axes)
        else:
            axes = "ij"
            term = self.reaching(self.scalar(self.body(3, 0)), axes)
        self.case.traits.add(f"{manner} over {axes}")
        return self.case_of(self.counted(term, manner, axes), manner)

    def counted(self, term: Term, manner: str, axes: str) -> Term:
        """An index symbol needs an array that says how many points there are:
        here one on the axis that is kept."""
        for axis in (I, J):
            kept = manner != "reduce" or axis not in axes
            if axis in term.axes and kept and not self.arrays_on(term, axis):
                leaf = self.argument(axis, 0)
                if term.kind == "truth":
                    leaf = self.apply(
                        "operations", "LessEqual", [leaf, self.number(2)]
                    )
                    term = self.apply("operations", "And", [term, leaf])
                else:
                    term = self.apply("operations", "Add", [term, leaf])
        return term

    def case_of(self, term: Term, manner: str) -> Case:
        case = self.case
        case.text = term.text
        case.kernel = manner == "kernel"
        case.kind = term.kind
        case.rows = term.rows - {None}
        case.points = self.points
        case.ranks = {name: self.terms[name].rank for name in self.terms}
        case.arrays = {
            name: array
            for name, array in case.arrays.items()
            if name in term.names
        }
        leads = [self.leads[name] for name in case.arrays if name in self.leads]
        batch = np.broadcast_shapes((), *leads)
        case.batch, case.unit = tuple(batch), self.unit()
        lead = (1,) * (2 - len(batch)) + tuple(batch)
        points = tuple(self.points[a] for a in (I, J) if a in term.axes)

        def shaped(numbers: np.ndarray) -> np.ndarray:
            whole = np.broadcast_to(numbers, lead + numbers.shape[2:])
            components = whole.shape[4:]
            return whole.reshape(tuple(batch) + points + components)

        case.wanted = term.numbers.shaped(shaped)
        return case


def along(values: np.ndarray, axes: str, points: tuple[int, ...]) -> np.ndarray:
    """(batch, batch, kept points, reduced points, components…)."""
    values = np.broadcast_to(values, points + values.shape[4:])
    if axes == I:
        return np.swapaxes(values, ROWS, COLUMNS)
    if axes == J:
        return values
    shape = (*points[:2], 1, points[2] * points[3], *values.shape[4:])
    return values.reshape(shape)


def make_case(
    generator: random.Random,
    focus: tuple[str, str],
    smooth: bool = False,
    maker: type[Generator] = Generator,
) -> Case:
    """A case around the row `focus`."""
    with np.errstate(all="ignore"):
        return maker(generator, focus, smooth).finish()
