# python_bindings/tilefold/compat/pykeops/emit.py - a node as tilefold's text.
"""`Emitter`: the text of a node in tilefold's language.

Variable k is `vk_i`, `vk_j` or `vk`; one of one component is read as
`vk_i[0]`, a scalar, since KeOps broadcasts one component with several.
Complex values are complex in the text: an argument that KeOps has as pairs of
real numbers is handed over once more, as `zk`, a complex view of it. A part
that occurs several times becomes a definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilefold.compat.pykeops.nodes import I, J, Leaf, Node
from tilefold.compat.pykeops.operations import (
    COMPLEX,
    COMPLEX_OPERANDS,
    DERIVATIVES,
    TABLE,
    TRANSPARENT,
    Text,
    fail,
    fill,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Emitter"]

SUFFIX = {I: "_i", J: "_j"}
MOST_PAIRS = 512  # complex numbers that are written out one by one
SHORT = 40  # characters that are no longer than what stands for them

Numbers = tuple[int, ...]
Written = tuple[str, frozenset[int]]  # a text, and the axes it is on


class Emitter:
    """Writes nodes; `reads` and `axes` say what the texts need.

    `reads`: the variables that are read, (number, whether as complex), and
    their names; `axes`: I and J, where a variable on them is read for sure,
    `definitions`: what the texts call by name; `has_trace`: whether there is
    a trace by a variable, which may be `Unread`.
    """

    def __init__(self, root: Node) -> None:
        self.leaves = root.leaves
        self.reads: dict[tuple[int, bool], str] = {}
        self.axes: set[int] = set()
        self.definitions: list[str] = []
        self.has_trace = False
        self._uses: dict[tuple[Node, Numbers], int] = {}
        self._texts: dict[tuple[Node, Numbers, bool], Written] = {}
        self._count(root, tuple(range(len(root.leaves))))

    def _count(self, root: Node, numbers: Numbers) -> None:
        """Counts how often each part is used."""
        waiting = [(root, numbers)]
        while waiting:
            part = waiting.pop()
            self._uses[part] = self._uses.get(part, 0) + 1
            if self._uses[part] == 1:
                waiting += children(*part)

    def real(self, node: Node, numbers: Numbers) -> str:
        """Its text as a scalar, or a vector of its components."""
        return self._written(node, numbers, False)

    def complex(self, node: Node, numbers: Numbers) -> str:
        """Its text as a complex scalar or vector, of half as many."""
        return self._written(node, numbers, True)

    def _written(self, node: Node, numbers: Numbers, as_complex: bool) -> str:
        key = (node, numbers, as_complex)
        if key not in self._texts:
            before, self.axes = self.axes, set()
            write = self._complex if as_complex else self._real
            made = self._shared(write(node, numbers), node, numbers)
            self._texts[key] = made, frozenset(self.axes)
            self.axes = before
        text, axes = self._texts[key]
        self.axes |= axes
        return text

    def _shared(self, text: str, node: Node, numbers: Numbers) -> str:
        """The text, or the name of a definition where it comes again."""
        if self._uses.get((node, numbers), 0) < 2 or len(text) <= SHORT:
            return text
        name = f"t{len(self.definitions)}"
        self.definitions.append(f"{name} = {text}")
        return name

    def _read(self, number: int, is_complex: bool) -> str:
        """A variable."""
        leaf = self.leaves[number]
        name = self._name(number, is_complex)
        if leaf.category in SUFFIX:
            self.axes.add(leaf.category)
            size = leaf.dim // 2 if is_complex else leaf.dim
            if size == 1:
                return f"{name}[0]"
        return name

    def _name(self, number: int, is_complex: bool) -> str:
        leaf = self.leaves[number]
        name = ("z" if is_complex else "v") + str(number)
        self.reads[number, is_complex] = name
        return name + SUFFIX.get(leaf.category, "")

    def _real(self, node: Node, numbers: Numbers) -> str:
        if node.is_complex:
            return self._pairs(self.complex(node, numbers), node.dim)
        if node.operation == "Var":
            return self._read(numbers[0], False)
        if node.operation in DERIVATIVES:
            return _derivative(self, node, numbers)
        return self._filled(node, numbers)

    def _filled(self, node: Node, numbers: Numbers) -> str:
        row = TABLE[node.operation]
        wanted = COMPLEX_OPERANDS.get(node.operation)
        operands, axes = [], []
        for k, (child, own) in enumerate(children(node, numbers)):
            self.axes = set()
            write = self.complex if wanted and wanted[k] else self.real
            operands.append(Text(write(child, own), child.dim))
            axes.append(self.axes)
        if isinstance(row.text, str):
            made = fill(row.text, operands, node.literals)
        else:
            made = row.text(operands, node.literals)
        # Some operations do not read all of their operands.
        read = [
            found
            for one, found in zip(operands, axes, strict=True)
            if one.text in made
        ]
        self.axes = set().union(*read)
        return made

    def _complex(self, node: Node, numbers: Numbers) -> str:
        operation = node.operation
        if operation == "Var":
            return self._read(numbers[0], True)
        if operation in COMPLEX:
            return self._filled(node, numbers)
        if operation == "Concat" and node.is_complex:
            parts = [self.complex(*one) for one in children(node, numbers)]
            return f"[{', '.join(parts)}]"
        scales = operation == "Mult" and node.is_complex
        if scales or operation in TRANSPARENT:
            return self._through(node, numbers)
        if node.dim % 2:
            fail(f"{operation} of dimension {node.dim} as complex numbers")
        return self._zipped(self.real(node, numbers), node.dim)

    def _through(self, node: Node, numbers: Numbers) -> str:
        """An operation on both parts."""
        operands = []
        for child, own in children(node, numbers):
            if child.dim > 1:
                text = self.complex(child, own)
            elif node.operation == "Mult":
                text = self.real(child, own)
            else:  # a number for each part
                text = f"({self.real(child, own)}*(1 + im))"
            operands.append(Text(text, child.dim))
        return fill(str(TABLE[node.operation].text), operands, ())

    def _pairs(self, text: str, dim: int) -> str:
        """The parts of complex numbers, side by side."""
        if dim == 2:
            return f"[real({text}), imag({text})]"
        _need_few(dim)
        name = self._named(text)
        parts = [
            f"real({name}[{k}]), imag({name}[{k}])" for k in range(dim // 2)
        ]
        return f"[{', '.join(parts)}]"

    def _zipped(self, text: str, dim: int) -> str:
        """Complex numbers, of their parts side by side."""
        _need_few(dim)
        name = self._named(text)
        made = [f"({name}[{k}] + im*{name}[{k + 1}])" for k in range(0, dim, 2)]
        return made[0] if dim == 2 else f"[{', '.join(made)}]"

    def _named(self, text: str) -> str:
        name = f"t{len(self.definitions)}"
        self.definitions.append(f"{name} = {text}")
        return name

    def variable(self, node: Node, numbers: Numbers) -> tuple[str, Leaf]:
        """The variable by which a derivative is taken."""
        if node.operation != "Var":
            fail("a derivative is taken by a variable, not by a formula")
        number = numbers[0]
        if (number, True) in self.reads:
            fail("the derivative by an argument that is read as complex")
        return self._name(number, False), self.leaves[number]

    @property
    def ending(self) -> str:
        """The definitions, as they follow a formula."""
        if not self.definitions:
            return ""
        return " with " + ", ".join(self.definitions)


def _need_few(dim: int) -> None:
    if dim > 2 * MOST_PAIRS:
        fail(f"operations on the parts of {dim // 2} complex numbers")


def children(node: Node, numbers: Numbers) -> list[tuple[Node, Numbers]]:
    """The operands, with the numbers of their variables."""
    return [
        (child, numbers if own is None else tuple(numbers[k] for k in own))
        for child, own in zip(node.children, node.maps, strict=True)
    ]


def _derivative(emitter: Emitter, node: Node, numbers: Numbers) -> str:
    """The text of a derivative.

    What it reads counts for no axis: it may not depend on it any more.
    """
    parts = children(node, numbers)
    (function, own), (point, place) = parts[:2]
    text = emitter.real(function, own)
    emitter.axes = set()
    name, leaf = emitter.variable(point, place)
    other = ""
    if len(parts) > 2:
        other = emitter.real(*parts[2])
    emitter.axes = set()
    if place[0] not in own:  # it does not depend on the variable
        return "0" if node.dim == 1 else f"repeat(0, {node.dim})"
    emitter.has_trace |= node.operation == "TraceOperator"
    write = _DERIVATIVES[node.operation]
    # A variable of one component on an axis is a vector of one for tilefold.
    is_vector = leaf.category in SUFFIX
    return write(
        Text(text, function.dim), Text(name, leaf.dim), other, is_vector
    )


def _gradient(f: Text, v: Text, other: str, is_vector: bool) -> str:
    made = f"vjp({f.text}, {v.text}, {other})"
    return f"{made}[0]" if v.dim == 1 and is_vector else made


def _tangent(f: Text, v: Text, other: str, is_vector: bool) -> str:
    if v.dim == 1 and is_vector:
        other = f"[{other}]"
    return f"jvp({f.text}, {v.text}, {other})"


def _matrix(f: Text, v: Text, _other: str, is_vector: bool) -> str:
    if f.dim == 1:
        return _gradient(f, v, "1", is_vector)
    if v.dim == 1:
        return _tangent(f, v, "1", is_vector)
    return f"jacobian({f.text}, {v.text})"


def _divergence(f: Text, v: Text, _other: str, is_vector: bool) -> str:
    if f.dim == 1:
        return _gradient(f, v, "1", is_vector)
    return f"divergence({f.text}, {v.text})"


def _laplacian(f: Text, v: Text, _other: str, _is_vector: bool) -> str:
    return f"laplacian({f.text}, {v.text})"


def _operator_sum(f: Text, v: Text, _other: str, is_vector: bool) -> str:
    ones = "1" if v.dim == 1 else f"repeat(1, {v.dim})"
    made = _tangent(f, v, ones, is_vector)
    return made if f.dim == 1 else f"sum({made})"


_DERIVATIVES = {
    "Grad": _gradient,
    "Grad_WithSavedForward": _gradient,
    "AdjointOperator": _gradient,
    "Diff": _tangent,
    "GradMatrix": _matrix,
    "Divergence": _divergence,
    "TraceOperator": _divergence,
    "Laplacian": _laplacian,
    "SumLinOperator": _operator_sum,
}


def keops_text(node: Node, numbers: Sequence[int]) -> str:
    """The formula in KeOps's spelling."""
    if node.operation == "Var":
        leaf = node.leaves[0]
        category = min(leaf.category, 2)
        return f"Var({numbers[0]},{leaf.dim},{category})"
    parts = [keops_text(*one) for one in children(node, tuple(numbers))]
    parts += [
        str(list(x)) if isinstance(x, tuple) else str(x) for x in node.literals
    ]
    return f"{node.operation}({','.join(parts)})"
