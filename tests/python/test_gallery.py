# tests/python/test_gallery.py - the gallery's scripts are what the site takes.
"""They are read here, not run: `examples/gallery/run.py` runs them all."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("**/plot_*.py"))
# What these libraries have beyond what they ship is fetched when asked for.
SHIPPED = {
    "skimage": {
        "astronaut", "brick", "camera", "chelsea", "coffee", "coins", "grass",
        "gravel", "horse", "hubble_deep_field", "lfw_subset", "moon", "retina",
        "rocket", "stereo_motorcycle",
    },
    "vega_datasets": {"airports", "cars", "seattle_weather"},
}  # fmt: skip
# Modules as they are imported, and the names that PyPI has of them.
DISTRIBUTIONS = {
    "dask": "dask[array]",
    "palmerpenguins": "palmerpenguins",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "vega_datasets": "vega_datasets",
}


def read(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree):
    """(module, name or None) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


def test_there_are_examples_of_all_sections():
    assert len(SCRIPTS) >= 24
    assert len({path.stem for path in SCRIPTS}) == len(SCRIPTS)
    folders = {path.parent for path in GALLERY.glob("*/*.*")}
    for folder in folders:
        title, line, *_ = (folder / "README.rst").read_text().splitlines()
        assert line == "-" * len(title)
        assert list(folder.glob("plot_*.py"))
    assert {path.parent for path in SCRIPTS} <= folders


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_says_what_it_computes(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    name = path.relative_to(GALLERY.parents[1]).as_posix()
    assert lines[0].startswith(f"# {name} - ")
    assert len(lines) <= 140
    title, line, empty, *rest = ast.get_docstring(read(path)).splitlines()
    assert line == "=" * len(title)
    assert not empty
    text = "\n".join(rest)
    assert ".. math::\n" in text, "the formula"
    assert re.search(r"\d [MGT]i?B", text), "what the dense way would take"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_checks_a_number_and_ends_with_a_picture(path):
    tree = read(path)
    calls = {
        ast.unparse(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)) or any(
        "assert" in call for call in calls
    )
    assert ast.unparse(tree.body[-1]) == "plt.show()"
    assert calls & {"plt.subplots", "plt.figure"}
    assert any("set_title" in c or "suptitle" in c for c in calls)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_needs_nothing_but_what_packages_ship(path):
    project = (GALLERY.parents[1] / "pyproject.toml").read_text()
    extra = re.search(r"^docs = \[\n(.*?)^\]", project, re.M | re.S).group(1)
    names = {re.split("[=<>]", each)[0] for each in re.findall('"(.+)"', extra)}
    tree = read(path)
    for module, name in imported(tree):
        top = module.split(".")[0]
        if top in {*sys.stdlib_module_names, "numpy", "tilefold"}:
            continue
        assert DISTRIBUTIONS.get(top, top) in names
        assert not (name or "").startswith("fetch_")
    for library, shipped in SHIPPED.items():
        if (library, "data") not in set(imported(tree)):
            continue
        used = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and ast.unparse(node.value) == "data"
        }
        assert used
        assert used <= shipped
