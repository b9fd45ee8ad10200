# python_bindings/tilefold/compat/pykeops/dimensions.py - components of results.
"""Rules: the components of an operation's result, of those of its operands.

Each takes the dimensions of the operands and the literals, and raises
`UnfitError` where an operation of KeOps does not take them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class UnfitError(Exception):
    """Components that an operation does not take."""


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise UnfitError(what)


def same(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """The largest; the others are equal, or 1."""
    largest = max(dims)
    _need(set(dims) <= {1, largest}, "they have to be equal, or 1")
    return largest


def scalar(_dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One."""
    return 1


def dot(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One, of equal ones."""
    _need(len(set(dims)) == 1, "they have to be equal")
    return 1


def distance(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """One, of equal ones or 1."""
    same(dims, literals)
    return 1


def literal(_dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The first literal."""
    _need(literals[0] > 0, "the result has 1 component or more")
    return int(literals[0])


def repeated(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The first literal, of one component."""
    _need(dims[0] == 1, "the first has to be 1")
    return literal(dims, literals)


def scaled(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One; the first operand has one."""
    _need(dims[0] == 1, "the first has to be 1")
    return 1


def diagonal(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One; the first operand is as long as the second."""
    _need(dims[0] == dims[1], "they have to be equal")
    return 1


def matrix_norm(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One; the first operand is a matrix."""
    _need(dims[0] == dims[1] ** 2, "the first has to be the second's square")
    return 1


def weighted(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """One; the weights are 1, D or D²."""
    inner = same(dims[1:], literals)
    _need(
        dims[0] in {1, inner, inner**2},
        "the weights have to be 1, one for each component, or a matrix",
    )
    return 1


def element(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """One, which is there."""
    _need(0 <= literals[0] < dims[0], f"there is no component {literals[0]}")
    return 1


def placed(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The first literal, a component at the second."""
    _need(dims[0] == 1, "the first has to be 1")
    size, place = literals
    _need(0 <= place < size, f"there is no component {place} of {size}")
    return int(size)


def part(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The second literal, from the first on."""
    start, size = literals
    fits = start >= 0 and size > 0 and start + size <= dims[0]
    _need(fits, f"there are no {size} components from {start} on")
    return int(size)


def padded(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The second literal, the operand from the first on."""
    start, size = literals
    _need(start >= 0 and start + dims[0] <= size, "the result is too small")
    return int(size)


def concatenated(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """All of them."""
    return sum(dims)


def columns(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """The rows of a matrix times a vector."""
    _need(dims[0] % dims[1] == 0, "a matrix has whole rows")
    return dims[0] // dims[1]


def rows(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """The columns of a vector times a matrix."""
    _need(dims[1] % dims[0] == 0, "a matrix has whole columns")
    return dims[1] // dims[0]


def product(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """The product of both."""
    return dims[0] * dims[1]


def _shaped(dims: Sequence[int], literals: Sequence[Any]) -> None:
    for dim, shape in zip(dims, literals, strict=False):
        _need(math.prod(shape) == dim, f"{list(shape)} is not the shape")


def kron(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The product of both, which have these shapes."""
    _shaped(dims, literals)
    return dims[0] * dims[1]


def tensordot(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """What is left when axes of these shapes are summed."""
    _shaped(dims, literals)
    left, right, over, along = literals[:4]
    sizes = [left[k] for k in over]
    _need(
        len(over) == len(along) and sizes == [right[k] for k in along],
        "the axes that are summed have to agree",
    )
    rest: int = math.prod(left) * math.prod(right) // math.prod(sizes) ** 2
    if len(literals) > 4 and literals[4]:
        axes = len(left) + len(right) - 2 * len(over)
        _need(
            sorted(literals[4]) == list(range(axes)),
            f"{list(literals[4])} is no permutation of {axes} axes",
        )
    return rest


def spline(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The splines over so many knots."""
    size = dims[0] - literals[0] - 1
    _need(dims[1] == 1 and size > 0, "the knots are too few")
    return int(size)


def series(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One; the last operand is a number."""
    _need(dims[2] == 1, "the last has to be 1")
    return 1


def first(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """Those of the first operand."""
    return dims[0]


def by_variable(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """Those of the variable; the last is like the first."""
    _need(dims[2] == dims[0], "the last has to be that of the first")
    return dims[1]


def along(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """Those of the function; the last is like the second."""
    _need(dims[2] == dims[1], "the last has to be that of the second")
    return dims[0]


def jacobian(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """The product of both."""
    return dims[0] * dims[1]


def trace(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One, of equal ones."""
    _need(dims[0] == dims[1], "they have to be equal")
    return 1


def second(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One; so has the first operand."""
    _need(dims[0] == 1, "the first has to be 1")
    return 1


def complex_numbers(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """Those of complex numbers."""
    _need(dims[0] % 2 == 0, "a complex number has two components")
    return dims[0]


def parts(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """One part of each complex number."""
    return complex_numbers(dims, literals) // 2


def doubled(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """Two parts of each number."""
    return 2 * dims[0]


def pair(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """The largest; the others are equal, or 2."""
    even = all(dim % 2 == 0 for dim in dims)
    _need(even, "a complex number has two components")
    _need(set(dims) <= {2, max(dims)}, "they have to be equal, or 2")
    return max(dims)


def real_scaled(dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """Of real numbers times complex ones."""
    _need(dims[1] % 2 == 0, "a complex number has two components")
    numbers = {dims[0], dims[1] // 2}
    _need(numbers <= {1, max(numbers)}, "they have to be equal, or 1 and 2")
    return 2 * max(numbers)


def complex_sum(_dims: Sequence[int], _literals: Sequence[Any]) -> int:
    """One complex number."""
    return 2


def complex_repeated(dims: Sequence[int], literals: Sequence[Any]) -> int:
    """Complex numbers, as many as the literal says."""
    _need(dims[0] == 2, "the first has to be 2")
    return 2 * literal(dims, literals)
