# docs/generate/used.py - which examples of the gallery use a public name.
"""Thumbnails of examples below an entry of the reference, a few at most.

A script uses `tilefold.kernel` where it says so, or calls it by a name that it
has imported. sphinx-gallery draws the thumbnails.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from generate.tables import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GALLERY = ROOT / "examples/gallery"
MOST = 4


@functools.cache
def users() -> dict[str, list[Path]]:
    """The scripts that use a name of tilefold, by the whole name."""
    found: dict[str, list[Path]] = {}
    for path in sorted(GALLERY.glob("*/plot_*.py")):
        for name in sorted(used(path.read_text(encoding="utf-8"))):
            found.setdefault(name, []).append(path)
    return found


def used(text: str) -> set[str]:
    """The names of tilefold that a script uses, as tilefold.dask.reduce."""
    tree = ast.parse(text)
    known = {"tilefold": "tilefold"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                known[alias.asname or alias.name] = whole
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    known[alias.asname] = alias.name
    found = {_whole(node, known) for node in ast.walk(tree)}
    return {name for name in found if name.startswith("tilefold.")}


def _whole(node: ast.AST, known: dict[str, str]) -> str:
    """The name that an expression stands for; "" for others."""
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute):
        before = _whole(node.value, known)
        return f"{before}.{node.attr}" if before else ""
    return ""


def examples(name: str) -> list[str]:
    """Lines of reStructuredText below the entry of a name; none if unused.

    Those scripts first that use what few others do.
    """
    paths = users().get(name, [])
    if not paths:
        return []
    paths = sorted(paths, key=lambda path: (-_rarity(path), path.stem))
    lines = ["", ".. rubric:: In the gallery", "", ".. minigallery::", ""]
    for path in paths[:MOST]:  # as seen from the folder of the pages
        lines.append(f"    ../{path.relative_to(ROOT).as_posix()}")
    if len(paths) > MOST:
        rest = len(paths) - MOST
        word = "one more" if rest == 1 else f"{rest} more"
        lines += ["", f"And {word} in :doc:`the gallery </gallery/index>`."]
    return [*lines, ""]


def _rarity(path: Path) -> float:
    """How seldom others use what a script uses."""
    return sum(1 / len(found) for found in users().values() if path in found)
