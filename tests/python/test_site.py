# tests/python/test_site.py - what the documentation site is generated from.
from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilefold

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def generate():
    """The generators' modules, by name."""
    paths = [str(DOCS), str(ROOT)]
    sys.path[:0] = paths
    names = (
        "docstrings",
        "environment",
        "errors",
        "history",
        "included",
        "language",
        "moved",
        "pages",
        "performance",
        "tables",
    )
    yield {name: importlib.import_module(f"generate.{name}") for name in names}
    for path in paths:
        sys.path.remove(path)


def pages() -> dict[str, str]:
    """The pages of the site that are kept in the source."""
    paths = [p for p in DOCS.rglob("*.md") if "gallery" not in p.parts]
    return {
        path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(
            encoding="utf-8"
        )
        for path in paths
    }


# ---- tables -----------------------------------------------------------------


def test_rows_of_a_table_are_read_with_their_strings_and_sections(generate):
    rows = generate["tables"].rows("formulas/diagnostics.def", "DIAGNOSTIC")
    text = (ROOT / "formulas/diagnostics.def").read_text(encoding="utf-8")
    assert len(rows) == len(re.findall(r"^DIAGNOSTIC\(", text, re.MULTILINE))
    first = rows[0]
    assert first.fields[:2] == ("InvalidUtf8", "Formula")
    assert first.fields[2] == "byte {0} of the formula is not valid UTF-8"
    assert first.section == "formulas: characters and tokens"


ENTRIES = {
    "operations": "operations",
    "functions made of them": "functions",
    "derivatives": "derivatives",
    "functions of shapes": "shape_functions",
    "reductions, with _i, _j or _ij": "reductions",
    "reductions made of them": "reductions",
    "named formulas, functions of two points": "named",
    "named reductions, each a formula of its own": "named",
}


def test_the_reference_of_the_language_has_every_row(generate):
    written = {
        name: generate["language"].page(getattr(generate["language"], name)())
        for name in set(ENTRIES.values())
    }
    counts = {name: text.count(")=\n## ") for name, text in written.items()}
    listed = dict.fromkeys(counts, 0)
    for title, rows in tilefold._core.language():
        if title in ENTRIES:
            listed[ENTRIES[title]] += len(rows)
    # Parts of complex numbers are in no list of the language's own.
    complex_ = "compiler/language/complex.def"
    found = generate["tables"].rows(complex_, "COMPLEX_FUNCTION")
    listed["functions"] += len(found)
    assert counts == listed


def test_special_values_are_those_of_numpy(generate):
    entries = generate["language"].operations()
    text = next(e.text for e in entries if e.name == "exp(a)")
    values = re.search(r"^\| `exp\(a\)` \| (.*) \|$", text, re.MULTILINE)[1]
    number = generate["language"].number
    with np.errstate(over="ignore"):
        wanted = np.exp(generate["language"].SPECIAL)
    assert values.split(" | ") == [number(value) for value in wanted]
    assert ":Domain: a ≥ 0" in next(
        e.text for e in entries if e.name == "log(a)"
    )


def test_a_row_that_says_nothing_to_users_is_refused(generate):
    with pytest.raises(ValueError, match="says nothing"):
        generate["language"]._require(" ", "exp")


# ---- errors -----------------------------------------------------------------


def test_every_diagnostic_has_an_example_on_a_page(generate):
    errors = generate["errors"]
    examples = errors.examples()
    rows = errors.diagnostics()
    assert list(examples) == [row.code for row in rows]
    marks = " ".join(
        text for name, text in pages().items() if name.startswith("reference/")
    )
    sections = set(re.findall(r"<!-- site: errors \| (.*?) -->", marks))
    assert sections == {row.section for row in rows}
    for row in rows:
        if message := examples[row.code].message:
            assert errors.pattern(row).match(message), row.code


def test_calls_that_are_shown_meet_their_diagnostic(generate):
    errors = generate["errors"]
    met = errors.met()
    codes = {row.code for row in errors.diagnostics()}
    assert met.keys() <= codes
    name, message = errors.run(met["PointSubscript"])
    assert name == "PointSubscript"
    assert message.startswith("'x[…]' is a component of each point of x")
    assert errors.run("x + 1") == ("", "")


# ---- settings ---------------------------------------------------------------


def test_every_option_and_variable_is_on_the_page_of_settings(generate):
    text = generate["environment"].page() + generate["environment"].others()
    options = {
        name for name in dir(tilefold.Options) if not name.startswith("_")
    }
    rows = {setting.name for setting in generate["environment"].settings()}
    assert options - generate["environment"].CALLS.keys() <= rows
    source = (ROOT / "runtime/cpu/environment.cpp").read_text(encoding="utf-8")
    read = set(re.findall(r'"([A-Z][A-Z_]{3,})"', source))
    table = (ROOT / "runtime/core/options.def").read_text(encoding="utf-8")
    read |= set(re.findall(r'"(TILEFOLD_[A-Z_]+)"', table))
    missing = [name for name in sorted(read) if f"`{name}`" not in text]
    assert missing == []


# ---- Python -----------------------------------------------------------------


MODULES = [
    "tilefold",
    "tilefold.torch",
    "tilefold.jax",
    "tilefold.scipy",
    "tilefold.sklearn",
    "tilefold.dask",
    "tilefold.pandas",
    "tilefold.threads",
    "tilefold.compat.pykeops",
]


def exported(name: str) -> list[str]:
    """The members of `__all__` of a module, read without importing it."""
    path = ROOT / "python_bindings" / name.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = getattr(node, "targets", None) or [node.target]
            if getattr(targets[0], "id", "") == "__all__":
                return list(ast.literal_eval(node.value))
    raise AssertionError(f"{name} has no __all__")


@pytest.mark.parametrize("module", [*MODULES, "tilefold.gpytorch"])
def test_every_public_name_is_on_a_page(module):
    documented = set()
    for name, text in pages().items():
        if name.startswith("reference/python/"):
            where = re.search(r"currentmodule:: (\S+)", text)
            if where and where[1] == module:
                documented |= set(re.findall(r"auto\w+:: (\w+)", text))
    assert [n for n in exported(module) if n not in documented] == []


DOCSTRING = """Computes `f` of |x - y|.

    alpha: a number, `l` by default, which
        goes on.
    beta: another.

Parameters
----------
points : array of shape (N, D)
    What `tilefold` `reads
    here`, ``|x|`` and x*y.

See Also
--------
kernel : a matrix."""


def test_docstrings_with_formulas_become_markup(generate):
    names = frozenset({"kernel"})
    lines = generate["docstrings"].qualified(DOCSTRING.split("\n"), names)
    text = "\n".join(generate["docstrings"].as_rst(lines, names))
    assert text.startswith(r"Computes ``f`` of \|x - y\|.")
    assert "``reads here``, ``|x|`` and x\\*y." in text
    assert text.endswith("tilefold.kernel : a matrix.")


# ---- pages ------------------------------------------------------------------


def test_every_mark_of_a_page_has_a_generator(generate):
    known = generate["pages"].MADE
    for name, text in pages().items():
        for mark in re.findall(r"^<!-- site: (.*?) -->$", text, re.MULTILINE):
            assert mark.split(" | ")[0] in known, name


def test_sections_that_pages_take_from_elsewhere_are_there(generate):
    section = generate["included"].section
    for name, text in pages().items():
        for mark in re.findall(
            r"^<!-- site: section \| (.*?) -->$", text, re.MULTILINE
        ):
            path, heading, level = (part.strip() for part in mark.split("|"))
            found = section(name, path, heading, int(level))
            assert len(found.split()) > 5, (name, heading)
            pictures = re.findall(r"!\[[^\]]+\]\((\S+)\)", found)
            where = (DOCS / name).parent
            assert all((where / picture).exists() for picture in pictures)


def test_no_section_has_the_title_of_its_page(generate):
    for name, text in pages().items():
        filled = generate["pages"].filled(name, text)
        filled = re.sub(r"^```.*?^```$", "", filled, flags=re.M | re.S)
        title, *others = re.findall(r"^#+ (.*)$", filled, re.M)
        assert title not in others, name


def test_every_page_is_in_a_table_of_contents():
    texts = pages()
    listed = {"index"}
    for name, text in texts.items():
        folder = Path(name).parent
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            for line in tree.splitlines():
                target = re.sub(r".*<(.*)>", r"\1", line.strip())
                if target and not target.startswith(":"):
                    listed.add((folder / target).as_posix())
    assert sorted(set(texts) - listed) == []


def test_addresses_of_pages_that_have_moved_lead_to_pages(generate):
    moved, known = generate["moved"].MOVED, pages()
    assert moved
    assert [name for name in moved if name in known] == []
    targets = [target.removesuffix(".html") for target in moved.values()]
    assert [target for target in targets if target not in known] == []


def test_numbers_of_the_first_page_are_those_of_the_results(generate):
    text = generate["performance"].three_numbers()
    report = (ROOT / "bench/RESULTS.md").read_text(encoding="utf-8")
    rate = re.search(r"\| ([\d.]+) billion pairs a second", text)[1]
    assert re.search(rf"^\| tilefold \| {rate} ", report, re.MULTILINE)
    assert "KeOps" in text


def results(when: str, seconds: float) -> str:
    """A file of the benchmark, of one case."""
    rows = {
        "tilefold": {"seconds": {"median": seconds}},
        "pykeops": {"seconds": {"median": 3.0}},
    }
    case = {
        "title": "a sum",
        "when": when,
        "machine": {"family": "family 26, model 2"},
        "contenders": rows,
    }
    return json.dumps({"cases": {"sum": case}})


def test_measurements_of_earlier_commits_are_a_curve(generate, tmp_path):
    history = generate["history"]
    curve = history.Curve("sums", "sum", "pykeops", "KeOps", "Sums")
    file = tmp_path / "bench/results/sums.json"
    file.parent.mkdir(parents=True)

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, "-C", str(tmp_path), *words], check=True)

    file.write_text(results("2026-02-01 10:00", 1.5))
    (alone,) = history.points(curve, tmp_path)  # without a history
    assert alone == ("2026-02-01 10:00", "", "Zen 5", 1.5, 2.0)
    git("init", "-q")
    for when, seconds in [("2026-01-01 09:00", 6.0), ("2026-02-01 10:00", 1.5)]:
        file.write_text(results(when, seconds))
        git("add", ".")
        git("commit", "-q", "-m", "measured")
    before, after = history.points(curve, tmp_path)
    assert (before.when[:7], before.seconds, before.ratio) == (
        "2026-01",
        6,
        0.5,
    )
    assert after.commit
    assert after.commit != before.commit
    assert after._replace(commit="") == alone


def test_every_curve_has_the_last_results(generate):
    history = generate["history"]
    text = history.tables()
    titles = [history.title(curve) for curve in history.CURVES]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == titles
    assert all(len(part.splitlines()) > 4 for part in text.split("## ")[1:])


@pytest.mark.usefixtures("generate")
def test_every_function_of_the_header_has_an_entry():
    c_interface = importlib.import_module("generate.c_interface")
    text = c_interface.page()
    header = c_interface.HEADER.read_text(encoding="utf-8")
    body = header.partition("#ifndef")[2]
    functions = set(re.findall(r"\b(tilefold_\w+)\([^;{}]*\) TILEFOLD", body))
    assert len(functions) > 20
    assert [f for f in sorted(functions) if f"### `{f}`" not in text] == []
    assert c_interface.rules().startswith("1. ")
