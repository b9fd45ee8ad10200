# python_bindings/tilefold/expression.py - what NumPy's functions make of
# kernels: one formula.
"""`Expression`: a value computed of kernels, numbers and arrays, pair by pair.

Arrays broadcast with kernels as they would in NumPy: of a kernel of shape
(N, M), one of shape (N, 1) goes with the rows and one of shape (M,) or (1, M)
with the columns, so that `u[:, None] * K * v` is diag(u) K diag(v), and one
formula still. No array of all pairs is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.functions import BOUNDS, JOINS, POWERS
from tilefold.pair_term import PairTerm
from tilefold.quantization import Quantized
from tilefold.result_types import axes_of
from tilefold.roles import Role
from tilefold.slices import is_integer, of_every_batch
from tilefold.trace import Source, Tracer
from tilefold.trace_text import free_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Expression", "Shape", "applied", "placed", "with_diagonal"]

_LARGEST_LITERAL = 64


class _Term(Source):
    """A pair term where a formula has a name."""

    def __init__(self, pair: PairTerm) -> None:
        super().__init__(pair, "operand")

    def identity(self) -> object:
        """One pair term is one, however often it is met."""
        return id(self.value)


class Expression(Tracer):
    """A traced value whose arguments may be kernels."""

    __slots__ = ()

    @classmethod
    def of_pair(cls, pair: PairTerm) -> Expression:
        """A pair term as an operand."""
        return cls.from_source(_Term(pair), int(pair.components is not None))

    @classmethod
    def of_number(cls, number: Any) -> Expression:
        """Small whole numbers as typed, others as parameters."""
        if isinstance(number, (bool, np.bool_)):
            truth: Expression = cls.of(number)
            return truth
        if is_integer(number) and abs(int(number)) <= _LARGEST_LITERAL:
            return cls.literal(number)
        return cls.parameter(number, "s")

    def fused(self) -> PairTerm:
        """One pair term of all; equal arrays under one name stay one.

        Its settings are those of the first; of all, the ranges are the same.
        """
        terms = [s.value for s in self.sources.values() if isinstance(s, _Term)]
        arguments, renamed = _merged(terms)
        text, given = self.to_formula(arguments)
        pairs = {
            name: value
            for name, value in given.items()
            if isinstance(value, PairTerm)
        }
        for name in pairs:
            del given[name]
        return _substituted(text, pairs, renamed, given)


def _merged(
    terms: Sequence[PairTerm],
) -> tuple[dict[str, Any], dict[int, dict[str, str]]]:
    """The arguments of all, and the names that some have of each now.

    An array is one argument of several terms where it has one name in them,
    and is on some axis in all of them, or a parameter in all.
    """
    arguments: dict[str, Any] = {}
    on_axes: dict[str, bool] = {}
    renamed: dict[int, dict[str, str]] = {}
    shared: dict[tuple[int, bool], Any] = {}
    is_mixed = any(term.batch != terms[0].batch for term in terms)
    for term in terms:
        if id(term) in renamed:
            continue
        if term.settings.get("ranges") is not terms[0].settings.get("ranges"):
            _core.fail("RangesDiffer")
        names = renamed[id(term)] = {}
        given = term.arguments
        if is_mixed:  # what one has could be a batch beside the other
            given = of_every_batch(term.formula, given, shared)
        for name, value in given.items():
            free, number = name, 2
            is_on_axis = axes_of(term.formula, name, value) > 0
            while free in arguments and (
                arguments[free] is not value or on_axes[free] != is_on_axis
            ):
                free, number = f"{name}{number}", number + 1
            arguments[free] = value
            on_axes[free] = is_on_axis
            if free != name:
                names[name] = free
    return arguments, renamed


def _substituted(
    text: str,
    pairs: dict[str, PairTerm],
    renamed: dict[int, dict[str, str]],
    arguments: dict[str, Any],
) -> PairTerm:
    """The formula `text`, in which names stand for pair terms."""
    first = next(iter(pairs.values()))
    operands = [
        (name, pair.formula, renamed[id(pair)]) for name, pair in pairs.items()
    ]
    formula = first.compiled(first.compiled(text)._substitute(operands))
    return PairTerm(formula, arguments, first.settings)


# Operators of two numbers, which are most of what is done with kernels.
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def _arithmetic(name: str, operands: Sequence[Any]) -> PairTerm | None:
    """What `applied` gives, at half the cost; None: it is another case."""
    pairs = [value for value in operands if type(value) is PairTerm]
    if name not in _ARITHMETIC or any(p.components is not None for p in pairs):
        return None
    if all(pair.dtype == "bool" for pair in pairs):
        return None  # of which sums are others
    arguments, renamed = _merged(pairs)
    named: dict[str, PairTerm] = {}
    spelled = []
    for value in operands:
        if type(value) is PairTerm:
            known = next((k for k, v in named.items() if v is value), None)
            free = known or free_name("operand", {**arguments, **named})
            named[free] = value
        elif type(value) is int and abs(value) <= _LARGEST_LITERAL:
            free = f"({value})"
        elif type(value) in (int, float):
            free = free_name("s", arguments)
            arguments[free] = value
        else:
            return None
        spelled.append(free)
    text = f" {_ARITHMETIC[name]} ".join(spelled)
    return _substituted(text, named, renamed, arguments)


def applied(name: str, operands: Sequence[Any], kwargs: Any) -> PairTerm:
    """What a function of NumPy, PyTorch or the operators makes of pair terms.

    `operands` are pair terms, numbers, and arrays that broadcast with them.
    """
    if not kwargs and (plain := _arithmetic(name, operands)):
        return plain
    if name in JOINS:  # of components here, of whole matrices in NumPy
        _core.fail("TracedFunction", f"{name} of kernels")
    pairs = [value for value in operands if isinstance(value, PairTerm)]
    shape = Shape.of(pairs)
    require_one_reading(name, shape, [p.components is None for p in pairs])

    def operand(value: Any) -> Any:
        if value is None:  # of clip
            return value
        if isinstance(value, PairTerm):
            return Expression.of_pair(value)
        if isinstance(value, (float, np.floating)) and name in POWERS:
            return Expression.literal(value)
        if not is_array(value):
            return Expression.of_number(value)
        return placed(Expression, value, shape)

    given = [operand(value) for value in operands]
    named = {
        key: operand(value) if key in BOUNDS else value
        for key, value in kwargs.items()
    }
    value: Expression = Expression.apply(name, given, named)
    return value.fused()


def with_diagonal(pair: PairTerm, values: Any) -> PairTerm:
    """The pair term plus a number, or one for each point, where i is j."""
    operand = Expression.of_pair(pair)
    if np.ndim(values) == 0:
        added = Expression.of_number(values)
    elif np.ndim(values) == 1:
        added = Expression.from_source(Source(values, "s", "i"), 0)
    else:
        if not hasattr(values, "shape"):
            values = np.asarray(values)
        vector = Expression.from_source(Source(values[..., None], "s", "i"), 1)
        added = vector.made("{0}[0]", [vector], 0)
    form = "({0} + where(i == j, {1}, 0))"
    return operand.made(form, [operand, added], operand.rank).fused()


# ---- arrays that broadcast ---------------------------------------------------


class Shape:
    """Of values of pairs: batches, points on i and j, components or None."""

    __slots__ = ("columns", "components", "has_batches", "rows")

    def __init__(
        self,
        rows: int | None,
        columns: int | None,
        components: int | None,
        has_batches: bool = False,
    ) -> None:
        self.rows: int | None = rows
        self.columns: int | None = columns
        self.components: int | None = components
        self.has_batches: bool = has_batches

    @classmethod
    def of(cls, pairs: Iterable[PairTerm]) -> Shape:
        """That of the first, with the components that any has."""
        pairs = list(pairs)
        widths = [p.components for p in pairs if p.components is not None]
        return cls(
            *pairs[0].points,
            max(widths, default=None),
            any(pair.batch for pair in pairs),
        )

    def __str__(self) -> str:
        ends = () if self.components is None else (self.components,)
        return f"(…, {', '.join(map(str, (self.rows, self.columns, *ends)))})"


def require_one_reading(
    name: str, shape: Shape, are_numbers: Sequence[bool]
) -> None:
    """Refuses a matrix of numbers that NumPy would match with components.

    It goes with each component otherwise, where NumPy has no reading.
    """
    rows, columns, width = shape.rows, shape.columns, shape.components
    if width is None or not any(are_numbers) or (rows == columns == 1):
        return

    def fits(a: int | None, b: int | None) -> bool:
        return a == b or 1 in (a, b)

    if fits(rows, columns) and fits(columns, width):
        _core.fail(
            "KernelVectorProduct",
            f"{name} with a kernel of shape {(rows, columns)}",
            (rows, columns, width),
            "it of V.dense() and K.dense()[..., None]",
            "of V.dense() and K.dense()",
        )


def is_array(value: Any) -> bool:
    """An array of at least one dimension, a list of numbers, or a tensor."""
    if isinstance(value, (Role, Quantized)):
        _core.fail("TracedValue", type(value).__name__)
    if hasattr(value, "shape"):
        return len(value.shape) > 0
    return isinstance(value, (list, tuple))


def placed(kind: type[Tracer], value: Any, shape: Shape) -> Any:
    """An array as the argument on i, on j or on neither that its shape says.

    Its axes are those of NumPy's broadcasting, from the last one: components
    (where the values have some), columns, rows, batches.
    """
    if not hasattr(value, "shape"):
        value = np.asarray(value)
    given = tuple(value.shape)
    has_components = shape.components is not None
    axes = 2 + has_components
    if len(given) < axes:
        value = value[(None,) * (axes - len(given))]
    extents = [shape.rows, shape.columns]
    extents += [shape.components] if has_components else []
    met = tuple(value.shape[-axes:])
    for extent, known in zip(met, extents, strict=True):
        if extent not in (1, known):
            _core.fail("KernelBroadcast", given, str(shape))
    if met[0] != 1 and met[1] != 1:
        _core.fail("KernelMatrix", given)
    axis = "i" if met[0] != 1 else "j" if met[1] != 1 else ""
    return _on_axis(kind, value, axis, shape)


def _on_axis(kind: type[Tracer], value: Any, axis: str, shape: Shape) -> Any:
    """Of an array with an axis for rows, for columns, and for components."""
    if shape.components is None:
        value = value[..., None]
    # Without the axis that has one point: (…, N, D), or (…, 1, D), which no
    # number of points is taken for.
    value = value[..., 0, :] if axis != "j" else value[..., 0, :, :]
    is_batch = value.ndim > 2
    if value.shape[-1] == 1 and not is_batch:
        number = value[..., 0] if axis else value[0, 0]
        return kind.from_source(Source(number, "w", axis), 0)
    if shape.has_batches and axis and not is_batch:
        value = value[None]  # the same for each: no batch of numbers
    vector = kind.from_source(Source(value, "w", axis), 1)
    if value.shape[-1] > 1:
        return vector
    if not axis:  # a parameter of one component is a number
        return kind.from_source(Source(value, "w", axis), 0)
    return vector.made("{0}[0]", [vector], 0)
