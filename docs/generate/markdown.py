# docs/generate/markdown.py - tables, code and text of pages in MyST.
"""Small pieces of Markdown that the generators share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def code(text: str) -> str:
    """Text as a literal, whatever backquotes it holds."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def cell(text: str) -> str:
    """Text as it stands in a table, where a bar ends a cell."""
    return text.replace("|", r"\|").replace("\n", " ")


def plain(text: str) -> str:
    """Text whose marks mean nothing: words of a table as prose."""
    return re.sub(r"([\\*_<>\[\]$`])", r"\\\1", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell(text) for text in line) + " |" for line in lines
    )


def block(text: str, language: str = "text") -> str:
    """Text as a block of code."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def sentence(text: str) -> str:
    """A line of a table as a sentence, ready to stand in a page."""
    text = plain(text)
    first = text[:1]
    is_word = re.match(r"[a-z]{2,}([ ,;]|$)", text) is not None
    return (first.upper() if is_word else first) + text[1:] + "."


def anchor(*parts: str) -> str:
    """The name of a place that links name, and the mark that makes it."""
    name = "-".join(parts).lower().replace("_", "-")
    return re.sub(r"[^a-z0-9-]", "", name)
