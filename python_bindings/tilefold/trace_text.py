# python_bindings/tilefold/trace_text.py - the graph of a traced value as text.
"""How a `tilefold.trace.Tracer` is written down: its nodes, each once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["Source", "free_name", "nodes_of", "number_text", "written"]

# What is used again is a definition of the formula, unless it is short; so is
# what is nested deep, since parsers have an end.
_SHORTEST_DEFINITION = 40
_DEEPEST_EXPRESSION = 64


class Source:
    """An array or number that is to be an argument of a formula.

    Parameters
    ----------
    value : array or float
        What the argument is: shapes and dtypes as in ``tilefold.Formula``.
    name : str
        The name wished for, or the one it has if it is given.
    axis : {"i", "j", ""}, default ""
        The axis that its points are on; "" of a parameter.
    given : bool, default False
        Whether the name is its own.

    See Also
    --------
    Tracer : what is made of it.

    Examples
    --------
    >>> source = tilefold.trace.Source(np.zeros(3), "x", "i")
    >>> x = tilefold.trace.Tracer.from_source(source, 0)
    >>> (x + 1).to_formula()[0]
    '(x_i + 1)'
    """

    __slots__ = {
        "axis": "The axis it is on: ``i``, ``j``, or nothing of a parameter.",
        "given": "Whether the name is its own, and not only wished for.",
        "name": "The name in the formula.",
        "value": "The array or number.",
    }

    def __init__(
        self, value: Any, name: str, axis: str = "", given: bool = False
    ) -> None:
        self.value: Any = value
        self.name: str = name
        self.axis: str = axis
        self.given: bool = given

    def identity(self) -> object:
        """Tells which sources are one argument: those of equal identity.

        Returns
        -------
        object
            The name of one that is given; else what the array is known by.

        Examples
        --------
        >>> x = np.zeros(3)
        >>> one, other = (tilefold.trace.Source(x, name, "i") for name in "xy")
        >>> one.identity() == other.identity()
        True
        """
        if self.given:
            return self.name
        if np.ndim(self.value):
            return (id(self.value), bool(self.axis))
        return id(self)


def number_text(value: Any) -> str:
    """A number as a formula spells it, with all of its digits."""
    number = float(value)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "(-inf)"
    text = repr(int(number)) if number == int(number) else repr(number)
    return f"({text})" if number < 0 else text


def nodes_of(root: Any) -> list[Any]:
    """Those that a value is made of, each once, operands first."""
    nodes: list[Any] = []
    seen: set[int] = set()
    path = [(root, iter(root.operands))]
    while path:
        node, rest = path[-1]
        operand = next((o for o in rest if id(o) not in seen), None)
        if operand is not None:
            seen.add(id(operand))
            path.append((operand, iter(operand.operands)))
        else:
            nodes.append(node)
            path.pop()
    return nodes


def written(root: Any) -> tuple[str, list[str]]:
    """The text of a value, and the definitions that it is written with."""
    nodes = nodes_of(root)
    uses: dict[int, int] = {}
    for node in nodes:
        for place, operand in enumerate(node.operands):
            count = node.form.count(f"{{{place}}}")
            uses[id(operand)] = uses.get(id(operand), 0) + count
    definitions: list[str] = []
    texts: dict[int, str] = {}
    depths: dict[int, int] = {}
    for node in nodes:
        text = node.form
        depth = 1 + max((depths[id(o)] for o in node.operands), default=0)
        if node.operands:
            text = text.format(*(texts[id(o)] for o in node.operands))
        elif not text:
            (key,) = node.sources
            text = f"‹{key}›"
        is_shared = (
            uses.get(id(node), 0) > 1 and len(text) > _SHORTEST_DEFINITION
        )
        if is_shared or depth > _DEEPEST_EXPRESSION:
            definitions.append(text)
            text, depth = f"«{len(definitions) - 1}»", 0
        texts[id(node)], depths[id(node)] = text, depth
    return texts[id(root)], definitions


def free_name(wished: str, taken: Container[str]) -> str:
    """The name, or the first of name1, name2 … that is not taken."""
    free, number = wished, 0
    while free in taken:
        number += 1
        free = f"{wished}{number}"
    return free
