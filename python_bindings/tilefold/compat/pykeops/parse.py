# python_bindings/tilefold/compat/pykeops/parse.py - formulas of KeOps, read.
"""`parse_formula`: a formula string and its variables as a node.

A formula is an expression of Python's syntax, whose tree is read; nothing of it
is ever executed.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tilefold.compat.pykeops.nodes import (
    NUMBER,
    Term,
    apply,
    constant,
    leaf,
    unary,
)
from tilefold.compat.pykeops.operations import TABLE, fail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Alias", "Number", "parse_alias", "parse_aliases", "parse_formula"]
__all__ += ["power"]

CATEGORIES = {"Vi": 0, "Vj": 1, "Pm": 2, "Vx": 0, "Vy": 1}
_ALIAS = re.compile(r"\s*(?:(\w+)\s*=)?\s*(Vi|Vj|Pm|Vx|Vy|Var)\s*\((.*)\)\s*")
MOST_DEEP = 200  # levels of a formula


class Alias(NamedTuple):
    """A declared variable: its name, its place in a call, what it is."""

    name: str | None
    position: int
    dim: int
    category: int


class Number(NamedTuple):
    """A number of the formula that is no whole one: given with the call."""

    value: float


def parse_alias(text: str, position: int) -> Alias:
    """Such as "x = Vi(3)", "Vj(1, 3)" or "Var(0, 3, 2)"."""
    found = _ALIAS.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        fail(f'alias {text!r}: expected something like "x = Vi(3)"')
    name, kind, inside = found.groups()
    try:
        numbers = [int(one) for one in inside.split(",")]
    except ValueError:
        fail(f"alias {text!r}: whole numbers are expected")
    if kind == "Var" and len(numbers) == 3:
        position, dim, category = numbers
    elif kind != "Var" and len(numbers) in {1, 2}:
        dim, category = numbers[-1], CATEGORIES[kind]
        position = numbers[0] if len(numbers) == 2 else position
    else:
        fail(
            f"alias {text!r}: Vi(dim), Vi(place, dim) or Var(place, dim, kind)"
        )
    if dim < 1 or position < 0 or category not in {0, 1, 2}:
        fail(f"alias {text!r}: dimension, place or kind out of range")
    return Alias(name, position, dim, category)


def parse_aliases(aliases: Sequence[str]) -> list[Alias]:
    """All of them, in the order of their places."""
    found = [parse_alias(text, k) for k, text in enumerate(aliases)]
    found.sort(key=lambda one: one.position)
    if [one.position for one in found] != list(range(len(found))):
        fail(f"the places of {list(aliases)} are not 0, 1, 2 …")
    return found


def parse_formula(text: str, aliases: list[Alias]) -> tuple[Term, list[Alias]]:
    """The formula's node, with its variables, and all aliases.

    Variables are positions of arguments, or `Number`s. Inline variables such
    as `Var(3,1,1)` add to the aliases.
    """
    if not isinstance(text, str):
        fail(f"a formula is a text, not {text!r}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        fail(f"formula {text!r}: {error}")
    reader = _Reader(text, aliases)
    return reader.term(tree), reader.all_aliases()


class _Reader:
    """Reads a tree of Python's syntax."""

    def __init__(self, text: str, aliases: list[Alias]) -> None:
        self.text = text
        self.named = {one.name: one for one in aliases if one.name}
        self.placed = {one.position: one for one in aliases}
        self.depth = 0

    def all_aliases(self) -> list[Alias]:
        """The declared and the inline ones, in their order."""
        places = sorted(self.placed)
        if places != list(range(len(places))):
            fail(f"formula {self.text!r}: its variables are at {places}")
        return [self.placed[k] for k in places]

    def fail(self, what: str, tree: ast.AST) -> Any:
        part = ast.get_source_segment(self.text.strip(), tree)
        return fail(f"formula {self.text!r}: {what} at {part!r}")

    def term(self, tree: ast.AST) -> Term:
        """A value."""
        read = _READ.get(type(tree))
        if read is None:
            return self.fail("unexpected syntax", tree)  # type: ignore
        self.depth += 1
        if self.depth > MOST_DEEP:
            fail(f"a formula of more than {MOST_DEEP} levels")
        found = read(self, tree)
        self.depth -= 1
        return found

    def name(self, tree: Any) -> Term:
        found = self.named.get(tree.id)
        if found is None:
            return self.fail("no alias has this name", tree)  # type: ignore
        return self.variable(found)

    def variable(self, alias: Alias) -> Term:
        return leaf(alias.category, alias.dim), (alias.position,)

    def number(self, tree: Any) -> Term:
        value = tree.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return self.fail("no number", tree)  # type: ignore
        if isinstance(value, int):
            return constant("IntCst", value), ()
        return leaf(NUMBER, 1), (Number(value),)

    def binary(self, tree: Any) -> Term:
        if isinstance(tree.op, ast.Pow):
            exponent = self.whole(tree.right)
            base = self.term(tree.left)
            if exponent is not None:
                return unary_term("Pow", base, (exponent,))
            right = self.term(tree.right)
            return power(base, right)
        operation = _BINARY.get(type(tree.op))
        if operation is None:
            return self.fail("unknown operator", tree)  # type: ignore
        return apply(operation, [self.term(tree.left), self.term(tree.right)])

    def sign(self, tree: Any) -> Term:
        whole = self.whole(tree)
        if whole is not None:
            return constant("IntCst", whole), ()
        term = self.term(tree.operand)
        if isinstance(tree.op, ast.UAdd):
            return term
        if not isinstance(tree.op, ast.USub):
            return self.fail("unknown operator", tree)  # type: ignore
        return unary_term("Minus", term)

    def comparison(self, tree: Any) -> Term:
        if len(tree.ops) != 1:
            return self.fail("one comparison at a time", tree)  # type: ignore
        operation, exchange = _COMPARE.get(type(tree.ops[0]), ("", False))
        if not operation:
            return self.fail("unknown comparison", tree)  # type: ignore
        terms = [self.term(tree.left), self.term(tree.comparators[0])]
        return apply(operation, terms[::-1] if exchange else terms)

    def group(self, tree: Any) -> Term:
        # A trailing comma, as in "(x + y),", is none of the formula's.
        if len(tree.elts) == 1:
            return self.term(tree.elts[0])
        return self.fail("one formula is expected", tree)  # type: ignore

    def call(self, tree: Any) -> Term:
        if not isinstance(tree.func, ast.Name) or tree.keywords:
            return self.fail("unexpected call", tree)  # type: ignore
        name = tree.func.id
        if name == "Var" or name in CATEGORIES:
            return self.inline(tree)
        if name not in TABLE or name in _INSIDE:
            return self.fail("unknown operation", tree)  # type: ignore
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, tree)
        row = TABLE[name]
        literals = self.literals_of(tree, row.literals, row.operands)
        count = len(tree.args) - len(literals)
        least, most = row.operands
        if not least <= count <= most:
            return self.fail(f"{name} has {least} operands", tree)  # type: ignore
        terms = [self.term(one) for one in tree.args[:count]]
        if not terms:
            return constant(name, *literals), ()
        return apply(name, terms, literals)

    def literals_of(
        self, tree: Any, count: tuple[int, int], operands: tuple[int, int]
    ) -> tuple[Any, ...]:
        """The last arguments, which are whole numbers or lists of them."""
        given = len(tree.args) - operands[0]
        if count == (0, 0):
            return ()
        if not count[0] <= given <= count[1]:
            return self.fail("wrong number of arguments", tree)  # type: ignore
        found = [self.literal(one) for one in tree.args[operands[0] :]]
        return tuple(found)

    def literal(self, tree: Any) -> Any:
        """A whole number, or a list of them."""
        if isinstance(tree, (ast.List, ast.Tuple)):
            return tuple(self.literal(one) for one in tree.elts)
        is_constant = isinstance(tree, ast.Call) and len(tree.args) == 1
        if is_constant and ast.unparse(tree.func) == "IntCst":
            tree = tree.args[0]
        found = self.whole(tree)
        if found is None:
            return self.fail("a whole number is expected", tree)
        return found

    def whole(self, tree: Any) -> int | None:
        """A whole number with its sign, else None."""
        if isinstance(tree, ast.UnaryOp):
            inner = self.whole(tree.operand)
            if inner is None or not isinstance(tree.op, (ast.USub, ast.UAdd)):
                return None
            return -inner if isinstance(tree.op, ast.USub) else inner
        if isinstance(tree, ast.Constant) and type(tree.value) is int:
            return tree.value
        return None

    def inline(self, tree: Any) -> Term:
        """A variable that the formula itself declares."""
        numbers = [self.literal(one) for one in tree.args]
        text = f"{tree.func.id}({', '.join(map(str, numbers))})"
        if tree.func.id != "Var" and len(numbers) != 2:
            return self.fail("a place and a dimension", tree)  # type: ignore
        alias = parse_alias(text, 0)
        known = self.placed.setdefault(alias.position, alias)
        if known[1:] != alias[1:]:
            return self.fail(f"it is declared as {known}", tree)  # type: ignore
        return self.variable(known)


def unary_term(
    operation: str, term: Term, literals: tuple[Any, ...] = ()
) -> Term:
    """An operation of one operand."""
    if operation == "Pow" and literals == (2,):
        operation, literals = "Square", ()
    return unary(operation, term[0], literals), term[1]


def power(base: Term, exponent: Term) -> Term:
    """A power that is no whole number of the text."""
    return apply("Powf", [base, exponent])


def _modulo(reader: _Reader, tree: Any) -> Term:
    terms = [reader.term(one) for one in tree.args]
    if len(terms) == 2:
        terms.append((constant("IntCst", 0), ()))
    if len(terms) != 3:
        return reader.fail("Mod has 2 or 3 operands", tree)  # type: ignore
    return apply("Mod", terms)


def _round(reader: _Reader, tree: Any) -> Term:
    if len(tree.args) not in {1, 2}:
        return reader.fail("Round has 2 arguments", tree)  # type: ignore
    digits = reader.literal(tree.args[1]) if len(tree.args) == 2 else 0
    return unary_term("Round", reader.term(tree.args[0]), (digits,))


def _power(reader: _Reader, tree: Any) -> Term:
    if len(tree.args) != 2:
        return reader.fail("Pow has 2 arguments", tree)  # type: ignore
    whole = reader.literal(tree.args[1])
    return unary_term("Pow", reader.term(tree.args[0]), (whole,))


def _scaled(reader: _Reader, tree: Any) -> Term:
    """ComplexRealScal(f, g): either operand is the real one."""
    if len(tree.args) != 2:
        return reader.fail("it has 2 operands", tree)  # type: ignore
    terms = [reader.term(one) for one in tree.args]
    left, right = terms[0][0], terms[1][0]
    if left.dim % 2 == 0 and (right.dim == 1 or 2 * right.dim == left.dim):
        terms.reverse()
    return apply("ComplexRealScal", terms)


def _trace(reader: _Reader, tree: Any) -> Term:
    """TraceOperator(l, v, w …): weights scale the values of the operator."""
    terms = [reader.term(one) for one in tree.args]
    if len(terms) < 2:
        return reader.fail("it has 2 operands", tree)  # type: ignore
    weighted = terms[0]
    for weight in terms[2:]:
        weighted = apply("Mult", [weighted, weight])
    return apply(tree.func.id, [weighted, terms[1]])


_SPECIAL: dict[str, Callable[[_Reader, Any], Term]] = {
    "Mod": _modulo,
    "Round": _round,
    "Pow": _power,
    "ComplexRealScal": _scaled,
    "TraceOperator": _trace,
    "SumLinOperator": _trace,
}

# Operations that formulas of KeOps have no name for.
_INSIDE = {"Weighted", "Transpose", "ComplexMinus", "Sinc"}

_BINARY = {
    ast.Add: "Add",
    ast.Sub: "Subtract",
    ast.Mult: "Mult",
    ast.Div: "Divide",
    ast.BitOr: "Scalprod",
}

_COMPARE = {
    ast.Lt: ("LessThan", False),
    ast.LtE: ("LessOrEqual", False),
    ast.Gt: ("LessThan", True),
    ast.GtE: ("LessOrEqual", True),
    ast.Eq: ("Equal", False),
    ast.NotEq: ("NotEqual", False),
}

_READ: dict[type, Callable[[_Reader, Any], Term]] = {
    ast.Name: _Reader.name,
    ast.Constant: _Reader.number,
    ast.BinOp: _Reader.binary,
    ast.UnaryOp: _Reader.sign,
    ast.Compare: _Reader.comparison,
    ast.Tuple: _Reader.group,
    ast.List: _Reader.group,
    ast.Call: _Reader.call,
}
