# docs/generate/pages.py - what stands in the place of a mark in a page.
"""A mark is a line `<!-- site: what arguments -->`, arguments between bars."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from generate import (
    accuracy,
    c_interface,
    commands,
    environment,
    errors,
    history,
    language,
    pairs,
    performance,
)
from generate.included import section
from generate.markdown import anchor, code, table
from generate.tables import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = re.compile(r"^<!-- site: (.*?) -->$", re.MULTILINE)


def filled(page: str, text: str) -> str:
    """The text of a page with its marks replaced."""

    def made(match: re.Match[str]) -> str:
        what, *arguments = (part.strip() for part in match[1].split("|"))
        return MADE[what](page, *arguments)

    return _MARK.sub(made, pairs.filled(text))


def _section(page: str, path: str, heading: str, level: str) -> str:
    return section(page, path, heading, int(level))


def _errors(page: str, title: str) -> str:
    """The messages of one section of the table."""
    examples = errors.examples()
    rows = errors.sections()[title]
    return "\n\n".join(errors.entry(row, examples[row.code]) for row in rows)


def _error_list(page: str) -> str:
    """Every code, with a link, by class."""
    lines = [
        [
            f"[{code(row.code)}](#{anchor('error', row.code)})",
            f"{{py:exc}}`~tilefold.{errors.CLASSES[row.family]}`",
            code(row.found),
        ]
        for row in errors.diagnostics()
    ]
    return table(["code", "class", "message"], lines)


def _machine(page: str, folder: str = "") -> str:
    back = os.path.relpath(ROOT, ROOT / "docs" / page / "..")
    return performance.machine(folder, back)


def _aliases(page: str) -> str:
    lines = [
        [code(name), code(function)] for name, function in language.aliases()
    ]
    return table(["name", "function"], lines)


def _entries(
    entries: Callable[[], list[language.Entry]],
) -> Callable[[str], str]:
    return lambda page: language.page(entries())


MADE: dict[str, Callable[..., str]] = {
    "section": _section,
    "operations": _entries(language.operations),
    "functions": _entries(language.functions),
    "derivatives": _entries(language.derivatives),
    "shape functions": _entries(language.shape_functions),
    "reductions": _entries(language.reductions),
    "named": _entries(language.named),
    "aliases": _aliases,
    "tokens": lambda page: language.tokens(),
    "greek": lambda page: language.greek(),
    "keops": lambda page: language.keops(),
    "grammar": lambda page: language.grammar(),
    "errors": _errors,
    "error list": _error_list,
    "environment": lambda page: environment.page(),
    "options of calls": lambda page: environment.calls(),
    "other variables": lambda page: environment.others(),
    "machine": _machine,
    "card": lambda page: performance.card(),
    "history": lambda page: history.tables(),
    "three numbers": lambda page: performance.three_numbers(),
    "c rules": lambda page: c_interface.rules(),
    "c interface": lambda page: c_interface.page(),
    "command line": lambda page: commands.page(),
    "ulp": lambda page: accuracy.functions(),
    "limits": lambda page: accuracy.limits(),
    "errors of sums": lambda page: accuracy.sums(),
}
