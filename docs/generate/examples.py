# docs/generate/examples.py - a call of every name of the language, run.
"""Reads examples.txt, and runs its calls.

A call is shown with its result, and beside it what NumPy or SciPy computes of
the same arrays; `compared` is how a test sees that both are alike.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tilefold
from generate.markdown import block, code

TABLE = Path(__file__).parent / "examples.txt"


class Example(NamedTuple):
    """A call, and the same by another library or a condition after "# "."""

    call: str
    same: str

    @property
    def is_condition(self) -> bool:
        """Whether no other library computes the result."""
        return self.same.startswith("# ")


@functools.cache
def examples() -> dict[str, Example]:
    """All rows of the table, by the anchor of their entry."""
    text = TABLE.read_text(encoding="utf-8").partition("\n=== ")[2]
    found: dict[str, Example] = {}
    for part in text.rstrip().split("\n=== "):
        name, call, same = part.splitlines()
        if name in found:
            raise ValueError(f"examples.txt has {name} twice")
        found[name] = Example(call, same)
    return found


def of(anchor: str) -> str:
    """The example of an entry as it stands in a page."""
    if anchor not in examples():
        raise ValueError(f"no example of {anchor}: add one to examples.txt")
    example = examples()[anchor]
    text = block(f">>> {wrapped(example.call)}\n{shown(example.call)}", "pycon")
    if not example.is_condition:
        text += f"\n\nThe same: {code(example.same)}"
    return text


def wrapped(call: str, width: int = 70) -> str:
    """A call on a line, or with an argument on each where that is too long."""
    if len(call) <= width:
        return call
    node = ast.parse(call, mode="eval").body
    tail = ""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        assert isinstance(node.func, ast.Attribute)
        node, tail = node.func.value, f".{node.func.attr}()"
    assert isinstance(node, ast.Call)
    parts = [source(call, part) for part in node.args]
    parts += [f"{k.arg}={source(call, k.value)}" for k in node.keywords]
    lines = [f"...     {part}," for part in parts]
    return "\n".join([f"{source(call, node.func)}(", *lines, f"... ){tail}"])


def source(text: str, node: ast.AST) -> str:
    """The part of a text that a node was read from."""
    found = ast.get_source_segment(text, node)
    assert found is not None
    return found


@functools.cache
def result(call: str) -> Any:
    """What a call returns."""
    return eval(call, {"np": np, "tilefold": tilefold})


def shown(call: str) -> str:
    """The result as Python shows it."""
    with np.printoptions(precision=8, linewidth=76):
        return repr(result(call))


def arguments(call: str) -> dict[str, Any]:
    """The arrays and numbers that a call is given, by name."""
    nodes = [
        node
        for node in ast.walk(ast.parse(call, mode="eval"))
        if isinstance(node, ast.keyword) and node.arg
    ]
    values = {
        str(node.arg): eval(source(call, node.value), {"np": np})
        for node in nodes
    }
    return {
        name: np.asarray(value) if isinstance(value, list) else value
        for name, value in values.items()
    }


def compared(anchor: str) -> tuple[np.ndarray, np.ndarray]:
    """The result of a call, and what it should be."""
    import scipy.special
    import sklearn.gaussian_process
    import sklearn.metrics
    from scipy.spatial.distance import cdist

    example = examples()[anchor]
    out = np.asarray(result(example.call))
    scope = {"np": np, "scipy": scipy, "sklearn": sklearn, "cdist": cdist}
    scope |= arguments(example.call) | {"out": out}
    wanted = np.asarray(eval(example.same.removeprefix("# "), scope))
    return (wanted, np.True_) if example.is_condition else (out, wanted)
