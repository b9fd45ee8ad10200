# python_bindings/tilefold/graph_text.py - graphs of the compiler as formulas.
"""`written`: the text of a formula whose graph is one that is given.

A formula of several passes is cut by the compiler into graphs, one a pass
(`Formula._program`). As formulas of their own they are compiled, cut and
merged like any other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Spell = Callable[[str, int], str]

__all__ = ["AXES", "Node", "meets_chosen", "nodes_of", "refuse", "written"]

AXES = {0: "", 1: "i", 2: "j", 3: "ij"}  # by the bits of the axes


class Node(NamedTuple):
    """A value of a graph; see compiler/ir/ir.h."""

    op: str
    operands: tuple[int, ...]
    attributes: tuple[int, int, int]
    value: float
    type: tuple[str, int, int, int, int]
    more: Any

    @property
    def rank(self) -> int:
        """0 of a number, 1 of a vector, 2 of a matrix."""
        return self.type[1]

    @property
    def axes(self) -> int:
        """The bits of the axes that it is on."""
        return self.type[2]


class _Value(NamedTuple):
    """A node, and how it is written."""

    node: Node
    text: str


def nodes_of(data: Mapping[str, Any]) -> list[Node]:
    """The nodes of a graph, operands before what they are operands of."""
    return [Node(*node) for node in data["nodes"]]


def meets_chosen(data: Mapping[str, Any]) -> bool:
    """Whether the reductions of a graph meet chosen pairs, and not all.

    Its text does not say so: the call of it has ranges.
    """
    pairs = {node.more[1] for node in nodes_of(data) if node.op == "reduce"}
    if pairs - {"all", "chosen"} or len(pairs) > 1:
        refuse("reductions of chosen pairs beside others")
    return pairs == {"chosen"}


def refuse(what: str) -> Any:
    """Refuses a formula of several passes."""
    return _core.fail(
        "BadOption",
        "formula",
        f"one of several passes over the pairs with {what}",
        "compute what it needs of all points by reductions of their own, "
        "and pass their results as arguments",
    )


def written(data: Mapping[str, Any], spell: Spell, zero: str = "") -> str:
    """The text of a graph.

    `spell` gives the text of an argument that is read on an axis (1: i, 2: j,
    0: none), by its name in the graph, and of an index symbol, by "@i" and
    "@j". A value that is used more than once is a definition. `zero` is added
    to what is reduced, for the axes that it is on.
    """
    nodes = nodes_of(data)
    uses = [0] * len(nodes)
    for node in nodes:
        for operand in node.operands:
            uses[operand] += 1
    values: list[_Value] = []
    definitions: list[str] = []
    for number, node in enumerate(nodes):
        operands = [values[operand] for operand in node.operands]
        text = _leaf(node, data, spell) or _inner(node, operands, zero)
        if uses[number] > 1 and node.operands:
            definitions.append(f"v{number} = {text}")
            text = f"v{number}"
        values.append(_Value(node, text))
    found = values[int(data["result"])].text
    if definitions:
        found += " with " + ", ".join(definitions)
    return found


def _leaf(node: Node, data: Mapping[str, Any], spell: Spell) -> str:
    """A value that is made of no other; else nothing."""
    first, second, _ = node.attributes
    if node.op == "argument":
        name: str = data["arguments"][first][0]
        return spell(name, node.axes)
    if node.op == "literal":
        number = data["literals"][first]
        return _number(-number if second < 0 else number, second == 1)
    if node.op == "constant":
        return _number(node.value, second != 0)
    if node.op == "index":
        return spell(f"@{AXES[node.axes]}", node.axes)
    return f"arange({first})" if node.op == "iota" else ""


def _number(number: float, whole: bool) -> str:
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "(-inf)"
    text = str(int(number)) if whole else repr(float(number))
    return f"({text})" if number < 0 else text


def _inner(node: Node, operands: list[_Value], zero: str) -> str:
    """A value that is made of others."""
    texts = [value.text for value in operands]
    if node.op == "reduce":
        texts[0] += f" + {zero}" if zero else ""
        return _reduced(node, texts)
    first, second, third = node.attributes
    if node.op == "intpow":
        return f"pow({texts[0]}, {first})"
    if min(node.attributes) < 0:
        refuse("vectors whose length is not known")
    if node.op == "broadcast":
        return f"repeat({texts[0]}, {first})"
    if node.op == "concat":
        return f"[{texts[0]}, {texts[1]}]"
    if node.op == "slice" and operands[0].node.rank == 0:
        return texts[0] if third else f"repeat({texts[0]}, 1)"
    if node.op == "slice":
        return f"({texts[0]})[{first if third else f'{first}:{second}'}]"
    if node.op == "div" and operands[0].node.rank < operands[1].node.rank == 1:
        # A number over a vector is refused where a person writes it.
        texts[0] = f"repeat({texts[0]}, {operands[1].node.type[3]})"
    if node.op == "pow" and operands[0].node.rank == 1:
        # So is a power of a vector, which might be meant of its length.
        return f"pow({texts[0]}, {texts[1]})"
    if node.op in ("matvec", "vecmat"):
        # Beside @ a vector of shape (1, D) would be a matrix of one row.
        vector = operands[node.op == "matvec"].node
        if vector.op == "argument" and not vector.axes:
            return f"{node.op}({texts[0]}, {texts[1]})"
    return _operation(node, texts)


def _reduced(node: Node, operands: list[str]) -> str:
    spelling: str = node.more[0]
    if node.more[2] is not None:
        refuse("a fold")
    given = ", ".join(operands)
    if spelling.endswith("kmin"):
        given += f", {node.attributes[2]}"
    return f"({spelling}_{AXES[node.attributes[1]]}({given}))"


_OPERATIONS: dict[str, str] = {
    row["name"].lower(): row["spelling"]
    for row in _core._tables()["operations"]
}
_BETWEEN = ("and", "or", "mod")  # of the words, those between their operands


def _operation(node: Node, operands: list[str]) -> str:
    """An operation of ops.def."""
    if node.op not in _OPERATIONS:
        refuse(f"a value of the kind '{node.op}'")
    spelling = _OPERATIONS[node.op]
    if spelling == "not":
        return f"(not {operands[0]})"
    if spelling == "neg":
        return f"(-{operands[0]})"
    if spelling.isidentifier() and spelling not in _BETWEEN:
        return f"{spelling}({', '.join(operands)})"
    return f"({operands[0]} {spelling} {operands[1]})"
