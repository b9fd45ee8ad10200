# tests/python/test_docs.py - the examples of documents and docstrings run.
from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import tilefold

ROOT = Path(__file__).parents[2]
CALL = re.compile(r"tilefold\.reduce\(.*?\)$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def documents() -> list[Path]:
    """The README of the project and of each room."""
    return [*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/README.md")]


def names() -> dict:
    """What every example may use."""
    random = np.random.default_rng(0)
    return {
        "np": np,
        "numpy": np,
        "tilefold": tilefold,
        "x": random.random((50, 3)),
        "y": random.random((60, 3)),
        "b": random.random(60),
        "c": random.random(50),
        "l": 0.5,
    }


def blocks(path: Path) -> list[str]:
    """The fenced Python blocks of a document."""
    return FENCE.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", documents(), ids=lambda p: p.parent.name)
def test_blocks_of_a_document_run_in_order(path):
    scope = names()
    for block in blocks(path):
        if ">>>" in block:
            parsed = doctest.DocTestParser().get_doctest(
                block, scope, path.name, str(path), 0
            )
            assert doctest.DocTestRunner().run(parsed).failed == 0
        else:
            exec(compile(block, str(path), "exec"), scope)


@pytest.mark.parametrize(
    "documented", [tilefold, tilefold.reduce], ids=["package", "reduce"]
)
def test_the_example_of_a_docstring_runs(documented):
    example = CALL.search(documented.__doc__)[0]
    assert eval(example, names()).shape == (50,)
