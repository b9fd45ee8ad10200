# docs/generate/docstrings.py - docstrings as reStructuredText.
"""Docstrings hold formulas, whose bars and stars are marks elsewhere.

What stands in backquotes becomes a literal, or a link where it names an
object; bars, lone stars and a last underscore become themselves; indented
examples become blocks of code. What is marked up as Sphinx has it stays.
"""

from __future__ import annotations

import re

_PIECES = re.compile(
    r"(?P<literal>``.+?``)"
    r"|(?P<role>:[\w:+-]+:`[^`]+`)"
    r"|(?P<link>`[^`]+`_{1,2})"
    r"|`(?P<quoted>[^`]+)`"
    r"|(?P<strong>(?<![\w*])\*{1,2}[^\s*][^*`|]*?(?<=\S)\*{1,2}(?![\w*]))"
    r"|(?P<mark>[|*]|(?<=\w)_(?=[^\w`]|$))"
)
_ITEM = re.compile(r"^(?P<space> *)(?P<name>\w+(?:, \w+)*): (?P<text>\S.*)$")


def as_rst(lines: list[str], names: frozenset[str] = frozenset()) -> list[str]:
    """The lines of a docstring, without what reads formulas as markup."""
    lines = _with_definitions(_unbroken(lines))
    found: list[str] = []
    before, literal = "", -1
    for index, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if not line.strip():
            found.append(line)
            continue
        if literal >= 0 and depth > literal:
            found.append(line)
            continue
        literal = -1
        starts = index > 0 and not lines[index - 1].strip()
        if starts and before and depth >= _depth(before) + 4:
            if not (before.endswith("::") or before.lstrip().startswith("..")):
                found += [" " * _depth(before) + "::", ""]
            literal = _depth(before)
            found.append(line)
            continue
        before = line
        is_example = line.lstrip().startswith((">>>", "..."))
        found.append(line if is_example else inline(line, names))
    return found


def _unbroken(lines: list[str]) -> list[str]:
    """Lines in which what stands in backquotes does not go on in the next."""

    def joined(match: re.Match[str]) -> str:
        is_paragraph = "\n\n" not in match[0]
        return re.sub(r"\n *", " ", match[0]) if is_paragraph else match[0]

    text = re.sub(r"``.+?``|`[^`]+`", joined, "\n".join(lines), flags=re.DOTALL)
    return text.split("\n")


def qualified(lines: list[str], names: frozenset[str]) -> list[str]:
    """Lines whose section See Also names members of tilefold in full."""
    found, inside = [], False
    for index, line in enumerate(lines):
        if line.startswith("---"):
            inside = lines[index - 1] == "See Also"
        if inside and re.match(r"[\w.]+(, [\w.]+)*( :|$)", line):
            listed, colon, text = line.partition(" :")
            whole = [
                f"tilefold.{name}" if name.split(".")[0] in names else name
                for name in listed.split(", ")
            ]
            line = ", ".join(whole) + colon + text
        found.append(line)
    return found


def _with_definitions(lines: list[str]) -> list[str]:
    """Paragraphs of `name: what it is` as lists of definitions."""
    found: list[str] = []
    for index, line in enumerate(lines):
        item = _ITEM.match(line)
        if item and _is_list(lines, index, _depth(line)):
            found += [
                item["space"] + item["name"],
                f"{item['space']}    {item['text']}",
            ]
        else:
            found.append(line)
    return found


def _is_list(lines: list[str], index: int, own: int) -> bool:
    """Whether the paragraph of a line holds items and their lines alone."""
    first = last = index
    while first > 0 and lines[first - 1].strip():
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].strip():
        last += 1
    paragraph = lines[first : last + 1]
    depth = _depth(paragraph[0])
    if own != depth:
        return False
    fits = [
        _depth(line) >= depth + 4
        or (_depth(line) == depth and _ITEM.match(line) is not None)
        for line in paragraph
    ]
    return all(fits) and len(paragraph) > 1


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def inline(text: str, names: frozenset[str] = frozenset()) -> str:
    """One line, with marks that mean themselves."""

    def mended(match: re.Match[str]) -> str:
        if match["quoted"] is not None:
            quoted = match["quoted"]
            name = quoted.removeprefix("tilefold.").removesuffix("()")
            if name in names:
                return f":py:obj:`tilefold.{name}`"
            return f"``{quoted}``"
        return "\\" + match["mark"] if match["mark"] else match[0]

    return _PIECES.sub(mended, text)
