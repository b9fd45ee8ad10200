# python_bindings/tilefold/compat/pykeops/nodes.py - formulas as interned trees.
"""`Node`: a KeOps formula with its dimensions, made once for each structure.

A node knows nothing of arrays: it has the kinds of its variables, in the order
in which the arrays of a `LazyTensor` or of a call stand beside it. Where two
formulas meet, arrays that are the same object become one variable; which of
them do is part of the new node, so that a formula written again with other
arrays is the same object, and what was compiled for it is found by one lookup.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tilefold.compat.pykeops.operations import (
    COMPLEX,
    TRANSPARENT,
    dimension,
)

__all__ = [
    "NUMBER",
    "PARAMETER",
    "I",
    "J",
    "Leaf",
    "Node",
    "Term",
    "Unread",
    "apply",
    "clear",
    "constant",
    "join",
    "leaf",
    "transposed",
    "unary",
]

# Categories: Vi, Vj, Pm, a Python number.
I, J, PARAMETER, NUMBER = range(4)  # noqa: E741

MOST_NODES = 20_000  # kept for formulas that may come again


class Unread:
    """In the place of an array whose values do not matter."""


class Leaf(NamedTuple):
    """What a variable is: its category, components, and whether complex.

    `dim` counts real numbers, two for each complex one, as KeOps does.
    """

    category: int
    dim: int
    is_complex: bool = False


class Node:
    """An operation of a KeOps formula, interned.

    `children`: its operands; `maps`: of each the numbers that its variables
    have here, None where all numbers stay; `literals`: whole numbers and
    lists; `dim`: components; `leaves`: what its variables are; `plans`: what
    was compiled for it.
    """

    __slots__ = (
        "children",
        "dim",
        "is_complex",
        "leaves",
        "literals",
        "maps",
        "operation",
        "plans",
    )

    def __init__(
        self,
        operation: str,
        children: tuple[Node, ...],
        maps: tuple[tuple[int, ...] | None, ...],
        literals: tuple[Any, ...],
        leaves: tuple[Leaf, ...],
        dim: int,
    ) -> None:
        self.operation = operation
        self.children = children
        self.maps = maps
        self.literals = literals
        self.leaves = leaves
        self.dim = dim
        self.is_complex = _is_complex(operation, children)
        self.plans: dict[Any, Any] = {}


def _is_complex(operation: str, children: tuple[Node, ...]) -> bool:
    """Whether its text is complex by itself.

    A product is where it scales complex numbers by a number.
    """
    if operation in TRANSPARENT:
        return any(child.is_complex for child in children)
    if operation == "Concat":
        return all(child.is_complex for child in children)
    if operation == "Mult":
        left, right = children
        return (left.dim == 1 and right.is_complex) or (
            right.dim == 1 and left.is_complex
        )
    return operation in COMPLEX


_NODES: dict[tuple[Any, ...], Node] = {}


def clear() -> None:
    """Forgets all nodes; those that are in use stay what they are."""
    _NODES.clear()


def _kept(key: tuple[Any, ...], node: Node) -> Node:
    if len(_NODES) >= MOST_NODES:
        _NODES.clear()
    return _NODES.setdefault(key, node)


def leaf(category: int, dim: int, is_complex: bool = False) -> Node:
    """A variable."""
    key = ("Var", category, dim, is_complex)
    found = _NODES.get(key)
    if found is None:
        leaves = (Leaf(category, dim, is_complex),)
        found = Node("Var", (), (), (), leaves, dim)
        found.is_complex = is_complex
        found = _kept(key, found)
    return found


def constant(operation: str, *literals: int) -> Node:
    """IntCst(n), RatCst(p, q) or Zero(d): no variable."""
    key = (operation, literals)
    found = _NODES.get(key)
    if found is None:
        dim = dimension(operation, [], literals)
        found = _kept(key, Node(operation, (), (), literals, (), dim))
    return found


def unary(operation: str, child: Node, literals: tuple[Any, ...] = ()) -> Node:
    """An operation of one operand, of the same variables."""
    key = (operation, child, literals)
    found = _NODES.get(key)
    if found is None:
        dim = dimension(operation, [child.dim], literals)
        made = Node(operation, (child,), (None,), literals, child.leaves, dim)
        found = _kept(key, made)
    return found


def transposed(child: Node) -> Node:
    """The same formula with i and j exchanged."""
    key = ("Transpose", child)
    found = _NODES.get(key)
    if found is None:
        exchanged = (J, I, PARAMETER, NUMBER)
        leaves = tuple(
            Leaf(exchanged[one.category], one.dim, one.is_complex)
            for one in child.leaves
        )
        made = Node("Transpose", (child,), (None,), (), leaves, child.dim)
        found = _kept(key, made)
    return found


Term = tuple[Node, tuple[Any, ...]]


def join(
    operation: str,
    left: Node,
    left_variables: tuple[Any, ...],
    right: Node,
    right_variables: tuple[Any, ...],
    literals: tuple[Any, ...] = (),
) -> Term:
    """An operation of two operands, and the variables of both."""
    numbers: tuple[int, ...] | None
    if not right_variables:
        merged, numbers = left_variables, ()
    elif left_variables is right_variables and left.leaves is right.leaves:
        merged, numbers = left_variables, None
    else:
        merged, numbers = _merged(
            left.leaves, left_variables, right.leaves, right_variables
        )
    key = (operation, left, right, numbers, literals)
    found = _NODES.get(key)
    if found is None:
        found = _joined(operation, (left, right), (None, numbers), literals)
        found = _kept(key, found)
    return found, merged


def apply(
    operation: str, terms: list[Term], literals: tuple[Any, ...] = ()
) -> Term:
    """An operation of any number of operands, and the variables of all."""
    if len(terms) == 1:
        return unary(operation, terms[0][0], literals), terms[0][1]
    if len(terms) == 2:
        return join(operation, *terms[0], *terms[1], literals)
    variables: tuple[Any, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    maps: list[tuple[int, ...]] = []
    for node, own in terms:
        before = len(variables)
        variables, numbers = _merged(leaves, variables, node.leaves, own)
        maps.append(numbers)
        new = {k: one for one, k in zip(node.leaves, numbers, strict=True)}
        leaves += tuple(new[k] for k in range(before, len(variables)))
    children = tuple(node for node, _ in terms)
    key = (operation, children, tuple(maps), literals)
    found = _NODES.get(key)
    if found is None:
        found = _joined(operation, children, tuple(maps), literals)
        found = _kept(key, found)
    return found, variables


def _merged(
    left: tuple[Leaf, ...],
    left_variables: tuple[Any, ...],
    right: tuple[Leaf, ...],
    right_variables: tuple[Any, ...],
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The variables of both, and the numbers that the right ones have."""
    merged = left_variables
    numbers = []
    for k, variable in enumerate(right_variables):
        for known, other in enumerate(left_variables):
            if other is variable and left[known] == right[k]:
                numbers.append(known)
                break
        else:
            numbers.append(len(merged))
            merged = (*merged, variable)
    return merged, tuple(numbers)


def _joined(
    operation: str,
    children: tuple[Node, ...],
    maps: tuple[tuple[int, ...] | None, ...],
    literals: tuple[Any, ...],
) -> Node:
    found: dict[int, Leaf] = {}
    for child, numbers in zip(children, maps, strict=True):
        places = range(len(child.leaves)) if numbers is None else numbers
        found.update(zip(places, child.leaves, strict=True))
    leaves = tuple(found[k] for k in range(len(found)))
    dims = [child.dim for child in children]
    dim = dimension(operation, dims, literals)
    return Node(operation, children, maps, literals, leaves, dim)
