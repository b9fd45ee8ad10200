# tests/python/test_site.py - what the documentation site is generated from.
from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import tilefold

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def generate():
    """The generators' modules, by name."""
    paths = [str(DOCS), str(ROOT)]
    sys.path[:0] = paths
    names = (
        "accuracy",
        "docstrings",
        "environment",
        "errors",
        "examples",
        "history",
        "included",
        "language",
        "met",
        "moved",
        "pages",
        "pairs",
        "performance",
        "tables",
        "used",
        "values",
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
    number = generate["values"].number
    with np.errstate(over="ignore"):
        wanted = np.exp(generate["values"].SPECIAL)
    assert values.split(" | ") == [number(value) for value in wanted]
    assert ":Domain: a ≥ 0" in next(
        e.text for e in entries if e.name == "log(a)"
    )


LISTS = (
    "operations",
    "functions",
    "derivatives",
    "shape_functions",
    "reductions",
    "named",
)


def test_every_name_of_the_language_has_an_example(generate):
    """One of examples.txt, with its result; and each of these is shown."""
    examples = generate["examples"].examples()
    shown = []
    for name in LISTS:
        for entry in getattr(generate["language"], name)():
            shown.append(entry.anchor)
            call = examples[entry.anchor].call
            assert "```pycon\n>>> tilefold." in entry.text
            word = entry.name.split("(")[0] if name != "operations" else ""
            assert word in call, entry.anchor
    assert sorted(shown) == sorted(examples)


def named_examples() -> list[str]:
    text = (DOCS / "generate/examples.txt").read_text(encoding="utf-8")
    return re.findall(r"^=== (\S+)$", text, re.MULTILINE)


@pytest.mark.parametrize("name", named_examples()[1:])
def test_an_example_gives_what_numpy_gives(generate, name):
    out, wanted = generate["examples"].compared(name)
    assert out.shape == wanted.shape
    if out.dtype.kind in "biu":
        np.testing.assert_array_equal(out, wanted)
    else:
        np.testing.assert_allclose(out, wanted, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", named_examples()[1:])
def test_an_example_stands_in_its_page_as_it_is_typed(generate, name):
    text = generate["examples"].of(name)
    block = re.match(r"```pycon\n(.*?)\n```", text, re.DOTALL)[1]
    parsed = doctest.DocTestParser().get_doctest(
        block + "\n", {"np": np, "tilefold": tilefold}, name, None, 0
    )
    assert len(parsed.examples) == 1
    assert max(map(len, block.splitlines())) <= 84
    assert doctest.DocTestRunner().run(parsed).failed == 0


def test_an_entry_without_an_example_is_refused(generate):
    with pytest.raises(ValueError, match="no example of op-none"):
        generate["examples"].of("op-none")


def test_every_operation_has_a_domain_and_an_error(generate):
    for entry in generate["language"].operations():
        domain = re.search(r"^:Domain: (.+)$", entry.text, re.MULTILINE)
        error = re.search(r"^:Error in float32: (.+)$", entry.text, re.M)
        assert domain, entry.name
        assert re.search(r"\d ulp|in ulp|the result is exact", error[1])
    assert set(generate["values"].OF_PAIRS) <= {
        row.fields[0]
        for row in generate["tables"].rows("compiler/ir/ops.def", "OP")
    }


def test_a_domain_that_is_said_wrongly_is_refused(generate, monkeypatch):
    values = generate["values"]
    monkeypatch.delitem(values.OF_PAIRS, "Mod")
    with pytest.raises(ValueError, match="is not defined for all real"):
        values.domain("Mod", "a mod b", 2, is_function=True)


def test_reductions_show_what_they_give_of_special_values(generate):
    of_sets = generate["values"].of_sets
    assert of_sets("max").endswith("| `max_j b_j` | ∞ | 1 | ∞ | NaN | −∞ |")
    for entry in generate["language"].reductions():
        assert "| nothing |" in entry.text or entry.name == "fold"


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


#: Codes that no example meets; met.txt says why.
UNMET = {"InternalError", "NoExecutableMemory"}


def test_every_diagnostic_is_met_but_those_with_a_reason(generate):
    """By a call, or by a formula that its message shows with a caret."""
    errors = generate["errors"]
    examples, entries = errors.examples(), generate["met"].read()
    unmet = {code for code, each in examples.items() if not each.message}
    assert unmet == UNMET
    for code, example in examples.items():
        if code in UNMET:
            assert not example.source
            assert len(entries[code].when.split()) > 7
            continue
        has_caret = re.search(r"^ *\^~*$", example.message, re.MULTILINE)
        assert example.source or has_caret, f"add a call of {code} to met.txt"
        assert not re.search(r"\{\w+\.", example.message), code  # an f-string
    texts = {
        row.code: errors.entry(row, examples[row.code])
        for row in errors.diagnostics()
    }
    assert [
        c for c, text in texts.items() if "Not met here:" in text
    ] == sorted(UNMET, reverse=True)


def test_calls_that_are_shown_meet_their_diagnostic(generate):
    met = generate["met"]
    entries = met.read()
    codes = {row.code for row in generate["errors"].diagnostics()}
    assert entries.keys() <= codes
    name, message = met.run(entries["PointSubscript"].source)
    assert name == "PointSubscript"
    assert message.startswith("'x[…]' is a component of each point of x")
    assert met.run("x + 1") == ("", "")


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


def test_tables_of_pairs_are_read_from_their_page(generate):
    pairs = generate["pairs"]
    text = """<!-- site: pairs | 1e-3 -->
| Theirs | ours |
|---|---|
| `a = 2`<br>`a*x` | `x + x` |
| `abs(x) \\| 1` | `3` |
"""
    (table,) = pairs.read(text)
    assert table.head == ("Theirs", "ours")
    assert table.rows == [("a = 2\na*x", "x + x"), ("abs(x) | 1", "3")]
    assert pairs.compared(table, {"x": -2}) == [0.0, 0.0]
    with pytest.raises(AssertionError, match="apart"):
        pairs.compared(table, {"x": 4})
    with pytest.raises(AssertionError, match="shapes"):
        pairs.difference(np.ones(3), np.ones((3, 1)))
    assert "_pairs.shown(" in pairs.filled(text)


def test_every_migration_page_compares_two_columns(generate):
    for name, text in pages().items():
        if not name.startswith("from/") or name == "from/index":
            continue
        tables = generate["pairs"].read(text)
        assert sum(len(table.rows) for table in tables) >= 5, name
        assert all(table.head[1] == "tilefold" for table in tables)
        assert "Watch for:" in text, name
        for _, ours in (row for table in tables for row in table.rows):
            assert re.search(r"tilefold|product|formula", ours), ours


def test_every_mark_of_a_page_has_a_generator(generate):
    known = {*generate["pages"].MADE, "pairs"}
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


def test_curves_are_written_by_date_and_commit(generate, tmp_path):
    history = generate["history"]
    history.write(tmp_path / "history.json")
    curves = json.loads((tmp_path / "history.json").read_text("utf-8"))
    assert len(curves) == len(history.CURVES)
    for curve, each in zip(curves, history.CURVES, strict=True):
        assert curve["title"] == history.title(each)
        assert len(curve["points"]) == len(history.points(each)) > 1
        assert {"when", "commit", "machine", "ratio"} <= set(curve["points"][0])


# ---- the gallery -------------------------------------------------------------


def test_names_that_a_script_uses_are_found(generate):
    text = """
import tilefold
import tilefold.dask as parts
from tilefold.sklearn import KernelRidge

K = tilefold.kernel("gaussian", x=x, l=1.0)
parts.reduce("sum_j b_j", b=KernelRidge().fit(x, y))
"""
    names = {"kernel", "dask.reduce", "sklearn.KernelRidge", "dask"}
    assert generate["used"].used(text) >= {f"tilefold.{n}" for n in names}
    assert "tilefold.sklearn" not in generate["used"].used("import tilefold")


def test_entries_of_the_reference_show_examples_that_use_them(generate):
    used = generate["used"]
    users = used.users()
    assert len(users["tilefold.compile"]) > used.MOST
    for name in ("reduce", "compile", "kernel", "Clusters", "dask.reduce"):
        lines = used.examples(f"tilefold.{name}")
        paths = [line.strip() for line in lines if line.endswith(".py")]
        assert 1 <= len(paths) <= used.MOST
        last = name.rpartition(".")[2]
        assert all(last in (DOCS / path).read_text("utf-8") for path in paths)
        assert ".. minigallery::" in lines
    assert used.examples("tilefold.cite") == []


def test_a_job_looks_at_the_site_and_measures_the_examples():
    """In a browser, and by examples/gallery/run.py with its limits."""
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    steps = [step.get("run") for step in jobs["jobs"]["docs"]["steps"]]
    assert "scripts/docs --browser" in steps
    assert "scripts/docs --examples" in steps
    script = (ROOT / "scripts/docs").read_text()
    assert "python docs/generate/browse.py $site" in script
    assert "exec $environment/bin/python examples/gallery/run.py" in script
    run = (ROOT / "examples/gallery/run.py").read_text()
    assert "SECONDS, MEGABYTES = 40, 1000" in run


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
