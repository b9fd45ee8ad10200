# python_bindings/tilefold/jax/function_components.py - what combines and moves
# components of values.
"""`moved`, `folded` and `contracted`: equations of whole arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilefold.jax.function_tables import FOLDS, MOVES
from tilefold.jax.function_values import (
    Known,
    bound,
    joined,
    refuse,
    spread,
    traced,
)
from tilefold.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["contracted", "folded", "level", "moved"]


class _Piece(NamedTuple):
    """A value whose components are numbered from `start` on."""

    value: Tracer
    size: int
    start: int = 0

    def run(self, first: int, count: int) -> Tracer:
        """Components that follow one another."""
        if not self.value.rank or count == self.size:
            return self.value
        begin = first - self.start
        at = begin if count == 1 else slice(begin, begin + count)
        return self.value[at]


def _chosen(pieces: Sequence[_Piece], numbers: Any) -> Tracer:
    """Components by their numbers, a scalar where all are the same."""
    places = np.ravel(numbers).tolist()
    starts = [piece.start for piece in pieces]
    found = np.searchsorted(starts, places, "right").tolist()
    owners: list[_Piece] = [pieces[k - 1] for k in found]
    owner = owners[0]
    is_one = all(other is owner for other in owners)
    if len(set(places)) == 1 or (is_one and not owner.value.rank):
        return owner.run(places[0], 1)
    parts: list[Tracer] = []
    first = 0
    for k in range(1, len(places) + 1):
        is_next = (
            k < len(places)
            and owners[k] is owners[first]
            and places[k] == places[k - 1] + 1
            and owners[k].value.rank
        )
        if not is_next:
            parts.append(owners[first].run(places[first], k - first))
            first = k
    return joined(parts)


def level(equation: Any, operands: Sequence[Any]) -> list[Tracer]:
    """The operands of a function of single components, all of one shape.

    Primitives repeat what has one entry along an axis where others have more.
    """
    shape = np.broadcast_shapes(*(v.aval.shape for v in equation.invars))
    return [
        _repeated(traced(operand), atom.aval.shape, shape)
        for operand, atom in zip(operands, equation.invars, strict=True)
    ]


def _repeated(
    value: Tracer, shape: tuple[int, ...], wider: tuple[int, ...]
) -> Tracer:
    if not value.rank or shape == wider:
        return value
    size = math.prod(shape)
    numbers = np.arange(size).reshape(shape)
    return _chosen([_Piece(value, size)], np.broadcast_to(numbers, wider))


def moved(equation: Any, operands: list[Any]) -> list[Tracer]:
    """What JAX's primitive does to the numbers of components."""
    name = equation.primitive.name
    own = MOVES[name] or range(len(operands))
    pieces: list[_Piece] = []
    given: list[Any] = []
    start = 0
    for k, (operand, atom) in enumerate(
        zip(operands, equation.invars, strict=True)
    ):
        if k in own:
            shape = atom.aval.shape
            size = math.prod(shape)
            numbers = start + np.arange(size, dtype=np.int32).reshape(shape)
            pieces.append(_Piece(traced(operand), size, start))
            given.append(numbers)
            start += size
        elif isinstance(operand, Known) and operand.is_concrete:
            given.append(operand.value)
        else:
            refuse(
                "that reads components by an index which is not known",
                "write the table and its index in the text of a formula: "
                "A[r_i, r_j]",
            )
    outside = {"fill_value": -1} if "fill_value" in equation.params else {}
    found = [np.asarray(v) for v in bound(equation, given, **outside)]
    if any((places < 0).any() for places in found):
        refuse("that reads components which are not there", "index others")
    return [_chosen(pieces, places) for places in found]


def _rows(shape: tuple[int, ...], axes: Sequence[int]) -> Any:
    """The numbers of components, those along some axes as the last one."""
    numbers = np.arange(math.prod(shape)).reshape(shape)
    count = math.prod(shape[axis] for axis in axes)
    others = [axis for axis in range(len(shape)) if axis not in axes]
    return numbers.transpose(*others, *axes).reshape(-1, count)


def folded(equation: Any, value: Tracer) -> Tracer:
    """A reduction along axes of the array."""
    shape = equation.invars[0].aval.shape
    function = FOLDS[equation.primitive.name]
    rows = _rows(shape, equation.params["axes"])
    count = rows.shape[1]
    if not value.rank:
        uniform: Tracer = _of_equal(function, value, count)
        return uniform
    piece = [_Piece(value, rows.size)]
    return joined(
        [Tracer.apply(function, [_chosen(piece, row)], {}) for row in rows]
    )


def _of_equal(function: str, value: Tracer, count: int) -> Any:
    """A reduction of equal components."""
    if function == "sum":
        return value if count == 1 else count * value
    if function == "prod":
        return value if count == 1 else value**count
    return Tracer.apply(function, [value], {})


def contracted(equation: Any, operands: list[Any]) -> Tracer:
    """An inner product, a matrix times a vector, or products of rows."""
    (left, right), (batch, other_batch) = equation.params["dimension_numbers"]
    shapes = [atom.aval.shape for atom in equation.invars]
    for k, axes in ((0, left), (1, right)):
        matrix, vector = operands[k], operands[1 - k]
        is_matrix = isinstance(matrix, Known) and len(shapes[k]) == 2
        if is_matrix and len(shapes[1 - k]) == 1 and 1 not in shapes[k]:
            turned = matrix if axes[0] == 1 else _transposed(matrix)
            whole = Tracer.parameter(turned.value, turned.name or "p")
            vector = spread(traced(vector), shapes[k][axes[0]])
            product: Tracer = Tracer.apply("matmul", [whole, vector], {})
            return product
    (a, a_rows), (b, b_rows) = (
        _sides(operand, shape, own, axes)
        for operand, shape, own, axes in zip(
            operands, shapes, (batch, other_batch), (left, right), strict=True
        )
    )
    return joined(
        [
            _inner(_chosen([a], row), _chosen([b], column), len(row))
            for rows, columns in zip(a_rows, b_rows, strict=True)
            for row in rows
            for column in columns
        ]
    )


def _sides(
    operand: Any, shape: tuple[int, ...], batch: Any, axes: Any
) -> tuple[_Piece, Any]:
    """A factor, and the numbers of its components by batch, row and column."""
    kept = [d for d in range(len(shape)) if d not in (*batch, *axes)]
    size = math.prod(shape)
    numbers = np.arange(size).reshape(shape).transpose(*batch, *kept, *axes)
    extents = [
        math.prod(shape[d] for d in part) for part in (batch, kept, axes)
    ]
    return _Piece(traced(operand), size), numbers.reshape(extents)


def _inner(a: Tracer, b: Tracer, count: int) -> Any:
    if a.rank and b.rank:
        return Tracer.apply("matmul", [a, b], {})
    product = Tracer.apply("mul", [a, b], {})
    if product.rank:
        return Tracer.apply("sum", [product], {})
    return _of_equal("sum", product, count)


def _transposed(matrix: Known) -> Known:
    return Known(matrix.value.T, "p" if matrix.name else "")
