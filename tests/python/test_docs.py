# tests/python/test_docs.py - the examples of documents and docstrings run.
from __future__ import annotations

import doctest
import importlib
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tilefold
from features import FEATURES, formulas_of_features, names

ROOT = Path(__file__).parents[2]
FROM = ROOT / "docs" / "from"
CALL = re.compile(r"tilefold\.reduce\(.*?\)$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def documents() -> list[Path]:
    """The README of the project and of each room, and the list of features."""
    return [*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/README.md"), FEATURES]


def blocks(path: Path) -> list[str]:
    """The fenced Python blocks of a document."""
    return FENCE.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "path", documents(), ids=lambda p: f"{p.parent.name}/{p.name}"
)
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


MIGRATIONS = [
    path for path in sorted(FROM.glob("*.md")) if path.stem != "index"
]


@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda path: path.stem)
def test_code_of_another_library_gives_the_same(path):
    """The blocks of a page in order, and both columns of its tables.

    In a process: libraries of threads, of which some pages replace one.
    """
    text = path.read_text(encoding="utf-8")
    for library in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE):
        if library not in ("pykeops", "tilefold"):
            pytest.importorskip(library)
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate/pairs.py", path.stem],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = int(re.search(rf"^{path.stem}: (\d+) rows", done.stdout, re.M)[1])
    assert rows >= 5


def command_lines() -> list[str]:
    """Those in the list of features."""
    text = FEATURES.read_text(encoding="utf-8")
    lines = re.search(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return lines[1].splitlines()


@pytest.mark.parametrize("line", command_lines())
def test_a_command_line_of_the_features_runs(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = names()
    for name in "xyb":
        np.save(f"{name}.npy", scope[name])
    np.savez("d.npz", y=scope["y"], b=scope["b"])
    np.savez("one.npz", scope["b"])
    np.savetxt(
        "table.csv", scope["x"], delimiter=",", header="lon,lat,w", comments=""
    )
    tilefold.files.write(scope["y"], "out.parquet")
    program, *words = shlex.split(line, comments=True)
    assert program == "tilefold"
    assert tilefold.cli.main(words) == 0


def test_the_example_of_the_package_runs():
    example = CALL.search(tilefold.__doc__)[0]
    assert eval(example, names()).shape == (50,)


INDENTED = re.compile(r"(?:^    .+\n?)+", re.MULTILINE)
MODULES = ("files", "lazy_arrays", "expression")


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_modules_run(name):
    """Those of classes and functions: test_docstrings.py."""
    text = importlib.import_module(f"tilefold.{name}").__doc__
    scope = names()
    x, b, c = scope["x"], scope["b"], scope["c"]
    scope |= {
        "K": tilefold.kernel("exp(-|x_i - x_j|²)", x=x),
        "u": c,
        "v": c,
    }
    if name == "lazy_arrays":
        scope["b"] = b
    for block in INDENTED.findall(text):
        exec(compile(textwrap.dedent(block), name, "exec"), scope)


@pytest.mark.parametrize("text", formulas_of_features())
def test_a_formula_of_the_features_runs(text):
    formula, scope = tilefold.compile(text), names()
    scope |= {"u": scope["x"], "v": scope["y"]} if "k(u, v) =" in text else {}
    arguments = {name: scope[name] for name, _ in formula.names}
    try:
        out = formula(arguments)
    except tilefold.FormulaError:  # a pair term, which is a matrix
        out = tilefold.kernel(formula, arguments).dense()
    assert np.isfinite(np.asarray(out)).all()


def is_shown(spelling: str) -> bool:
    """Whether a formula has the operator, the function or the reduction."""
    if spelling == "neg":
        sought = "-x_i"
    elif not spelling.replace("_", "").isalnum():
        sought = re.escape(spelling)
    else:
        sought = rf"\b{spelling}(\(|_ij|_i|_j|\b)"
    return any(re.search(sought, text) for text in formulas_of_features())


TABLES = {
    title: rows
    for title, rows in tilefold._core.language()
    if not title.startswith("named")
}


@pytest.mark.parametrize("title", TABLES)
def test_the_list_of_features_has_the_whole_language(title):
    missing = [name for name, _ in TABLES[title] if not is_shown(name)]
    assert missing == [], f"add a formula with each to {FEATURES.name}"
