# docs/generate/pairs.py - tables of another library's code beside tilefold's.
"""A mark `<!-- site: pairs -->` stands before a table of two columns of code.

When the site is made, both cells of each row are run after the page's code so
far, and compared; the page then has a third column, how far they are apart.
`python docs/generate/pairs.py PAGE` does the same without the site.

A cell is one line of code, or several with `<br>` between them, of which the
last is the result. A number in the mark, as in `pairs | 1e-4`, is the largest
relative difference in the place of what rounding explains.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DOCS = Path(__file__).resolve().parents[1]
_TABLE = re.compile(
    r"^<!-- site: pairs(?: \| (?P<most>\S+))? -->\n(?P<rows>(?:\|.*\n?)+)",
    re.MULTILINE,
)
_CELL = re.compile(
    r"^```\{code-cell\} ipython3\n(?:---\n.*?\n---\n|(?::.*\n)*)"
    r"(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)


class Pairs(NamedTuple):
    """A table: its head, its rows of code, and how much they may differ."""

    head: tuple[str, str]
    rows: list[tuple[str, str]]
    most: float | None


def read(text: str) -> list[Pairs]:
    """The tables of a page, in its order."""
    found = []
    for match in _TABLE.finditer(text):
        head, _, *lines = match["rows"].rstrip().splitlines()
        rows = [tuple(map(_code, _cells(line))) for line in lines]
        most = float(match["most"]) if match["most"] else None
        found.append(Pairs(tuple(_cells(head)), rows, most))  # type: ignore[arg-type]
    return found


def _cells(line: str) -> list[str]:
    """The two cells of a line, whose own bars stand behind a backslash."""
    cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
    if len(cells) != 2:
        raise ValueError(f"not two columns: {line}")
    return [cell.strip().replace(r"\|", "|") for cell in cells]


def _code(cell: str) -> str:
    """The code of a cell, its lines from `<br>` to `<br>`."""
    lines = cell.split("<br>")
    if not all(re.fullmatch("`[^`]+`", line) for line in lines):
        raise ValueError(f"not code alone: {cell}")
    return "\n".join(line[1:-1] for line in lines)


def filled(text: str) -> str:
    """A page whose tables are drawn by code that runs and compares them."""
    count = 0

    def drawn(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return (
            "```{code-cell} ipython3\n:tags: [remove-input]\n"
            "import sys\n"
            "sys.path.insert(0, '..')\n"
            "from generate import pairs as _pairs\n"
            f"_pairs.shown({match[0]!r}, globals())\n```\n"
        )

    return _TABLE.sub(drawn, text)


def shown(text: str, scope: dict[str, Any]) -> Any:
    """A table with how far both sides are apart, as a notebook shows it."""
    from IPython.display import Markdown

    (table,) = read(text)
    head, line, *rows = text.splitlines()[1:]
    lines = [f"{head} differ by |", f"{line}---|"]
    for row, apart in zip(rows, compared(table, scope), strict=True):
        lines.append(f"{row} {apart:.0e} |" if apart else f"{row} 0 |")
    return Markdown("\n".join(lines))


def compared(table: Pairs, scope: dict[str, Any]) -> list[float]:
    """How far both sides of each row are apart; raises where that is much."""
    found = []
    for theirs, ours in table.rows:
        wanted, got = value(theirs, scope), value(ours, scope)
        apart, most = difference(wanted, got)
        most = table.most or most
        if not apart <= most:
            raise AssertionError(f"{theirs} and {ours}: {apart} apart")
        found.append(apart)
    return found


def value(source: str, scope: dict[str, Any]) -> Any:
    """What the last line of a cell gives; its names are its own."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        raise TypeError(f"no value: {source}")
    inner = dict(scope)
    exec(compile(ast.Module(before, []), "cell", "exec"), inner)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), inner)


def difference(wanted: Any, got: Any) -> tuple[float, float]:
    """The largest difference, relative to the largest size; what it may be."""
    if isinstance(wanted, tuple | list) and isinstance(got, tuple | list):
        both = [difference(*pair) for pair in zip(wanted, got, strict=True)]
        return max(both, default=(0.0, 0.0))
    a, b = array(wanted), array(got)
    if a.shape != b.shape:
        raise AssertionError(f"shapes {a.shape} and {b.shape}")
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return float((a != b).mean() if a.size else 0), 0.0
    types = [x.dtype for x in (a, b) if x.dtype.kind in "fc"]
    unit = max(float(np.finfo(kind).eps) for kind in types)
    size = float(abs(a).max()) or 1.0
    return float(abs(a - b).max()) / size, 2000 * unit


def array(values: Any) -> np.ndarray[Any, Any]:
    """Arrays of any library, tensors and sparse matrices as NumPy's."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    if hasattr(values, "toarray"):
        values = values.toarray()
    return np.asarray(values)


def run(page: Path) -> list[float]:
    """Runs the code of a page in order, and compares its tables."""
    text = page.read_text(encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "__main__"}
    found: list[float] = []
    parts = [(match.start(), match) for match in _CELL.finditer(text)]
    parts += [(match.start(), match) for match in _TABLE.finditer(text)]
    for _, match in sorted(parts, key=lambda part: part[0]):
        if match.re is _CELL:
            exec(compile(match["code"], page.name, "exec"), scope)
        else:
            (table,) = read(match[0])
            found += compared(table, scope)
    return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        apart = run(DOCS / "from" / f"{name}.md")
        print(
            f"{name}: {len(apart)} rows, at most {max(apart, default=0)} apart"
        )
