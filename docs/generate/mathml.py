# docs/generate/mathml.py - mathematics of pages as MathML.
"""Browsers read MathML; what Sphinx has by itself fetches a script."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def inline(translator: Any, node: nodes.math) -> None:
    """A formula within a line."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """A formula of its own, and the place that links name."""
    for name in node.get("ids", []):
        translator.body.append(f'<span id="{escape(name)}"></span>')
    text = convert(node.astext(), display="block")
    translator.body.append(f'<div class="math">{text}</div>')
    raise nodes.SkipNode
