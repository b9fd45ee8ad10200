# docs/generate/tables.py - the .def tables of the source, read as rows.
"""Reads the tables that the library is compiled from.

A table holds calls of macros, a row each: `OP(Add, "+", …)`. Their arguments
are identifiers, numbers and C++ strings, of which adjacent ones are joined.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<mark>[(),])|(?P<word>[^\s(),"]+)|(?P<space>\s+)"""
)
_START = re.compile(
    r"^(?P<macro>[A-Z_]+)\((?!\.\.\.)|^// ---- (?P<section>[^-\n]+?) -+$",
    re.MULTILINE,
)
_STRINGS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class Row(NamedTuple):
    """A call of a macro: its name, its arguments, the section it is in."""

    macro: str
    fields: tuple[str, ...]
    section: str


def rows(path: str, *macros: str) -> list[Row]:
    """The rows of a table, in its order; of all macros if none is named."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found, section = [], ""
    for match in _START.finditer(text):
        if match["section"]:
            section = match["section"]
        elif not macros or match["macro"] in macros:
            fields = _fields(text, match.end())
            found.append(Row(match["macro"], fields, section))
    return found


def _fields(text: str, start: int) -> tuple[str, ...]:
    """The arguments of a call whose parenthesis ends at `start`."""
    fields, depth, position = [""], 0, start
    while True:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"no token: {text[position : position + 40]!r}")
        position = match.end()
        kind, word = match.lastgroup, match[0]
        if kind == "string":
            fields[-1] += unquoted(word)
        elif kind == "mark" and word == "," and depth == 0:
            fields.append("")
        elif kind == "mark" and word == ")" and depth == 0:
            return tuple(fields)
        elif kind in ("mark", "word"):
            depth += {"(": 1, ")": -1}.get(word, 0)
            fields[-1] += word


def unquoted(literal: str) -> str:
    """What a C++ string literal holds."""
    return str(ast.literal_eval(literal))


def strings(path: Path) -> list[str]:
    """The string literals of a C++ source, adjacent ones joined."""
    found = []
    for match in _STRINGS.finditer(path.read_text(encoding="utf-8")):
        parts = _STRING.findall(match[0])
        try:
            found.append("".join(unquoted(part) for part in parts))
        except SyntaxError:  # a raw string, or an escape that Python lacks
            continue
    return found
