# tests/tools/test_project.py - what a published project says of itself.
from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import long_tests
import tilefold
from tilefold import _core

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts/packaging"))

import third_party  # noqa: E402
import tilefold_version  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))
LIBRARIES = sorted(Path(_core.__file__).parent.glob("*.so*"))


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_one_version():
    stated = tilefold_version.stated_version()
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert re.findall(r"^## \[([0-9.]+)\]", changelog, re.M)[0] == stated
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == stated
    assert tilefold.__version__.startswith(stated)


def test_scripts_are_clean():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "*.sh", ".ci", "scripts"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    scripts = [
        name
        for name in listed
        if re.search(
            r"\A#!.*bash|^# shellcheck shell=bash",
            (ROOT / name).read_text(),
            re.M,
        )
    ]
    assert len(scripts) > 10
    done = subprocess.run(
        ["shellcheck", "--external-sources", *scripts],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""


@pytest.fixture
def git(tmp_path):
    """Runs git in a new repository."""

    def run(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, "-C", str(tmp_path), *words], check=True)

    return run


def test_the_version_between_tags_names_the_commit(tmp_path, git):
    (tmp_path / "CMakeLists.txt").write_text(
        "project(tilefold VERSION 1.2.3 LANGUAGES C CXX)\n"
    )
    assert tilefold_version.full_version(tmp_path) == "1.2.3"
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    between = tilefold_version.full_version(tmp_path)
    assert re.fullmatch(r"1\.2\.3\.dev1\+g[0-9a-f]{9,}", between)
    git("tag", "v1.2.3")
    assert tilefold_version.full_version(tmp_path) == "1.2.3"
    (tmp_path / "PKG-INFO").write_text("Name: tilefold\nVersion: 7.0\n")
    assert tilefold_version.full_version(tmp_path) == "7.0"


def test_what_a_user_sees_is_in_the_changelog(tmp_path, git):
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts/release"
    script.write_bytes((ROOT / "scripts/release").read_bytes())
    script.chmod(0o755)
    seen = tmp_path / "python_bindings/tilefold/new.py"
    seen.parent.mkdir(parents=True)
    (tmp_path / "CMakeLists.txt").touch()

    def outcome() -> int:
        git("add", ".")
        git("commit", "-q", "-m", "a change")
        words = [str(script), "changed", "v1"]
        return subprocess.run(words, capture_output=True).returncode

    (tmp_path / "README.md").touch()
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    git("tag", "v1")
    (tmp_path / "README.md").write_text("more")
    assert outcome() == 0
    seen.touch()
    assert outcome() == 1
    (tmp_path / "CHANGELOG.md").write_text("- new")
    assert outcome() == 0


def test_every_part_of_others_has_its_licence():
    rows = third_party.parts()
    table = (ROOT / "third_party.def").read_text()
    assert len(rows) == len(re.findall(r"^THIRD_PARTY\(", table, re.M)) >= 13
    texts = {path.stem for path in (ROOT / "licenses").iterdir()}
    assert texts == {row.file for row in rows}
    for row in rows:
        assert len((ROOT / f"licenses/{row.file}.txt").read_text()) > 500
    assert project()["project"]["license"] == third_party.licence_expression(
        rows
    )
    bill = third_party.bill_of_materials(rows, "1.0")
    assert [part["name"] for part in bill["components"]] == [
        row.name for row in rows
    ]


def test_tests_that_take_long_are_there():
    """Each name of the table is that of a function of that file."""
    names = long_tests.read()
    assert names
    for name in names:
        file, _, function = name.partition("::")
        (path,) = ROOT.glob(f"tests/*/{file}")
        text = path.read_text(encoding="utf-8")
        assert f"def {function}(" in text, name


def test_extras_name_no_single_version():
    extras = project()["project"]["optional-dependencies"]
    assert {"all", "gpu-cu12", "gpu-cu13", "jax", "torch"} <= extras.keys()
    pinned = [one for many in extras.values() for one in many if "==" in one]
    assert not pinned


def test_the_page_of_an_index_has_no_link_into_the_checkout():
    hook = project()["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (ROOT / "README.md").read_text()
    for rule in hook["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert "tilefold" in text
    assert not re.search(r"\]\((?!https?:)", text)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_scripts_alone(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert "concurrency" in workflow
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 150
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            run = step.get("run", "scripts/test")
            assert re.fullmatch(r"scripts/[a-z0-9-]+( [a-z-]+)*", run), run
            assert (ROOT / run.split()[0]).exists(), run
    for used in re.findall(r"uses: (.+)", path.read_text()):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[0-9.]+", used), used


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_of_issues_ask_for_something(path):
    form = yaml.safe_load(path.read_text())
    assert form["name"]
    assert form["description"]
    fields = [field["id"] for field in form["body"]]
    assert len(fields) == len(set(fields)) >= 2
    assert any(
        field.get("validations", {}).get("required") for field in form["body"]
    )


def test_without_llvm_the_build_says_what_to_install(tmp_path):
    done = subprocess.run(
        [
            *("cmake", "-S", str(ROOT), "-B", str(tmp_path), "-G", "Ninja"),
            "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON",
            *("-DTILEFOLD_TESTS=OFF", "-DTILEFOLD_LLVM_VERSION=22"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    words = " ".join(done.stderr.split())
    assert (
        "LLVM 22.1 is missing in /usr/lib/llvm-22, LLVM_DIR and "
        "CMAKE_PREFIX_PATH: install llvm-22-dev, or set LLVM_DIR to the folder "
        "of LLVMConfig.cmake; a wheel of tilefold needs none"
    ) in words


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name)
def test_libraries_are_bound_and_then_read_only(library):
    shown = subprocess.run(
        ["readelf", "--wide", "--dynamic", "--segments", str(library)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.search(r"FLAGS.* (BIND_)?NOW\b", shown)
    assert "TEXTREL" not in shown
    assert "GNU_RELRO" in shown
    assert re.search(r"GNU_STACK .* RW ", shown)


def exported(library: Path) -> set[str]:
    shown = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--format=just-symbols", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(shown.split())


def test_the_module_and_the_compiler_export_one_function_each():
    (module,) = (path for path in LIBRARIES if path.name.startswith("_core"))
    compiler = Path(_core.__file__).with_name("libtilefold_llvm.so")
    assert exported(compiler) == {"tilefold_llvm_get_backend"}
    threads = {"tilefold_get_num_threads", "tilefold_set_num_threads"}
    assert exported(module) - threads == {"PyInit__core"}
