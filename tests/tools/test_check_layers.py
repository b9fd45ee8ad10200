# tests/tools/test_check_layers.py - each rule of the house, kept and broken.
from __future__ import annotations

import re
from pathlib import Path

import pytest

import check_layers
from check_layers import faults_of

ROOT = Path(__file__).parents[2]


def faults(tmp_path, path, text):
    """What is said of one file."""
    target = tmp_path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    (tmp_path / "CMakeLists.txt").write_text("# CMakeLists.txt - the build.\n")
    return [str(fault) for fault in faults_of(tmp_path)]


def test_this_repository_keeps_the_rules():
    assert [str(fault) for fault in faults_of(ROOT)] == []


CASES = "    case A:\n        return 1;\n" * 55
GOOD = [
    (
        "compiler/c.cpp",
        "// compiler/c.cpp - c.\nint c() {\n    switch (d) {\n"
        + CASES
        + "    }\n}\n",
    ),
    ("compiler/a.h", '// compiler/a.h - a.\n#include "formulas/b.h"\n'),
    ("runtime/a.cpp", '// runtime/a.cpp - a.\n#include "compiler/b.h"\n'),
    (
        "runtime/cache/b.cpp",
        "// runtime/cache/b.cpp - b.\n"
        '#include "compiler/backends/llvm/factory.h"\n',
    ),
    (
        "runtime/cpu/x86_64/a.cpp",
        "// runtime/cpu/x86_64/a.cpp - a.\n#include <immintrin.h>\n",
    ),
    ("scripts/c", "#!/bin/sh\n# scripts/c - c.\n"),
    ("tests/a.cpp", '// tests/a.cpp - a.\n#include "runtime/b.h"\n'),
]


@pytest.mark.parametrize(("path", "text"), GOOD)
def test_kept(tmp_path, path, text):
    assert faults(tmp_path, path, text) == []


LONG = "// compiler/a.cpp - a.\n" + "int a;\n" * 600
LARGE = "// compiler/a.cpp - a.\nint a() {\n" + "    b();\n" * 61 + "}\n"
MEMBER = (
    "// compiler/a.cpp - a.\nclass A {\n    int b() {\n"
    + "        c();\n" * 61
    + "    }\n};\n"
)
BROKEN = [
    (
        "formulas/a.h",
        '// formulas/a.h - a.\n#include "compiler/b.h"\n',
        "formulas/a.h:2: includes compiler/b.h; "
        "formulas/ does not see compiler/",
    ),
    (
        "runtime/a.h",
        '// runtime/a.h - a.\n#include "compiler/backends/llvm/pack/pack.h"\n',
        "runtime/a.h:2: includes compiler/backends/llvm/pack/pack.h; "
        "only compiler/backends/llvm/factory.h may be",
    ),
    (
        "python_bindings/a.cpp",
        "// python_bindings/a.cpp - a.\n#include <nanobind/stl/string.h>\n",
        "python_bindings/a.cpp:2: includes <nanobind/stl/string.h>; "
        "python_bindings/text_caster.h stands for it",
    ),
    (
        "compiler/a.h",
        "#pragma once\n",
        "compiler/a.h:1: the first line does not name the file",
    ),
    (
        "compiler/a.cpp",
        LONG,
        "compiler/a.cpp:600: 601 lines; 600 are the limit",
    ),
    ("compiler/a.cpp", LARGE, "compiler/a.cpp:2: a function of 61 lines"),
    (
        "compiler/a.cpp",
        LARGE.replace("() {", "(int x,\n       int y) {"),
        "compiler/a.cpp:3: a function of 61 lines",
    ),
    (
        "compiler/a.cpp",
        MEMBER,
        "compiler/a.cpp:3: a function of 61 lines",
    ),
    (
        "compiler/CMakeLists.txt",
        "# compiler/CMakeLists.txt - x.\nadd_library(x\n  b.cpp\n  a.cpp)\n",
        "compiler/CMakeLists.txt:4: a.cpp after b.cpp",
    ),
    (
        "compiler/a.cpp",
        '// compiler/a.cpp - a.\nauto p = "/' + 'home/me/x";\n',
        "compiler/a.cpp:2: names a folder of one machine",
    ),
    *(
        (
            "runtime/cpu/a.cpp",
            f"// runtime/cpu/a.cpp - a.\n{line}\n",
            f"runtime/cpu/a.cpp:2: {said} is of one architecture: "
            "see runtime/cpu",
        )
        for line, said in (
            ("#include <immintrin.h>", "immintrin.h"),
            ("#ifdef __aarch64__", "__aarch64__"),
            ("    a = _mm_getcsr();", "_mm_getcsr("),
            ("    __builtin_ia32_pause();", "__builtin_ia32_pause"),
            ('__attribute__((target("avx2"))) void a();', 'target("'),
        )
    ),
    *(
        (
            "runtime/core/a.cpp",
            f"// runtime/core/a.cpp - a.\n{line}\n",
            f"runtime/core/a.cpp:2: {said} is of one system: "
            "see runtime/system",
        )
        for line, said in (
            ("#ifdef __linux__", "__linux__"),
            ("    return sched_getcpu();", "sched_getcpu"),
            ('    std::ifstream file("/proc/self/maps");', '"/proc/'),
        )
    ),
    (
        "formulas/diagnostics.def",
        "// formulas/diagnostics.def - x.\nDIAGNOSTIC(Never, Formula,\n",
        "formulas/diagnostics.def:2: Never is never raised",
    ),
]


@pytest.mark.parametrize(("path", "text", "fault"), BROKEN)
def test_broken(tmp_path, path, text, fault):
    assert faults(tmp_path, path, text) == [fault]


def test_a_circle_is_named_from_unit_to_unit(tmp_path, monkeypatch):
    monkeypatch.setattr(check_layers, "WITHOUT_CIRCLES", ["formulas"])
    for path, target in (
        ("formulas/a.cpp", "formulas/b.h"),
        ("formulas/b.cpp", "formulas/c.h"),
        ("formulas/c.h", "formulas/a.h"),
        ("formulas/d.h", "formulas/a.h"),
    ):
        text = f'// {path} - x.\n#include "{target}"\n'
        said = faults(tmp_path, path, text)
    assert said == [
        "formulas/a:1: a circle: formulas/a -> formulas/b -> formulas/c -> "
        "formulas/a"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "#include <boost/container/vector.hpp>",
        '#include "compiler/backends/cpu/plan.h"',
        "# include <llvm/IR/Module.h>",
    ],
)
def test_the_public_header_hides_what_others_include(tmp_path, line):
    path, public = "runtime/core/a.h", "runtime/session/session.h"
    assert faults(tmp_path, path, f"// {path} - a.\n{line}\n") == []
    said = faults(tmp_path, public, f'// {public} - s.\n#include "{path}"\n')
    target = line.split("include ")[1].strip('<">')
    assert said == [f"{path}:2: includes {target}, and {public} includes this"]


def test_a_room_sees_what_the_rooms_it_sees_see(tmp_path, monkeypatch):
    arrows = {
        "formulas": [],
        "runtime": ["formulas"],
        "runtime/bind": ["runtime"],
    }
    monkeypatch.setattr(check_layers, "ARROWS", arrows)
    right = '// runtime/bind/a.h - a.\n#include "formulas/b.h"\n'
    assert faults(tmp_path, "runtime/bind/a.h", right) == []
    wrong = '// runtime/a.h - a.\n#include "runtime/bind/a.h"\n'
    assert faults(tmp_path, "runtime/a.h", wrong) == [
        "runtime/a.h:2: includes runtime/bind/a.h; runtime/ does not see "
        "runtime/bind/"
    ]


WAYS = [("compiler/README.md", "formula"), ("runtime/README.md", "argument")]
HOP = re.compile(r"`([\w/]+\.cpp)`")
NAME = re.compile(r"`((?:\w+::)*\w+)`")


@pytest.mark.parametrize(("readme", "of"), WAYS)
def test_a_way_that_a_readme_tells_is_there(readme, of):
    """Each step names a file, and functions that are in the files it names."""
    text = (ROOT / readme).read_text()
    way = text.split(f"## The way of one {of}\n")[1].split("\n## ")[0]
    steps = re.split(r"\n\d+\. ", way)[1:]
    assert 8 <= len(steps) <= 12
    folders = [ROOT, *sorted(p for p in (ROOT / readme).parent.rglob("*"))]
    folders += [(ROOT / readme).parent, ROOT / "python_bindings"]
    for step in steps:
        sources = [
            (folder / name).read_text()
            for name in HOP.findall(step)
            for folder in folders
            if (folder / name).is_file()
        ]
        assert len(sources) >= len(HOP.findall(step)) > 0, step
        names = [n for n in NAME.findall(step) if not n.endswith("cpp")]
        assert names, step
        for name in names:
            assert any(name in source for source in sources), name


A, B = "python_bindings/tilefold/a.py", "python_bindings/tilefold/b.py"
TO_B = f"# {A} - a.\nfrom tilefold import _core, b\n"


@pytest.mark.parametrize(
    "text",
    [
        "from tilefold.a import thing\n",
        "import tilefold.a\n",
        "from tilefold import a\n",
        "from . import a\n",
        "from .a import thing\n",
        "def late():\n    from tilefold.a import thing\n",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import tilefold.a\n",
    ],
)
def test_a_circle_of_modules_is_found(tmp_path, text):
    faults(tmp_path, A, TO_B)
    said = faults(tmp_path, B, f"# {B} - b.\n{text}")
    assert said == [f"{A}:1: a circle: tilefold.a -> tilefold.b -> tilefold.a"]


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\n",
        "from tilefold import _core\nimport numpy as tilefold\n",
        "if TYPE_CHECKING:\n    from tilefold.a import thing\n",
        "if typing.TYPE_CHECKING:\n    from tilefold.a import thing\n",
    ],
)
def test_what_type_checkers_read_makes_no_circle(tmp_path, text):
    faults(tmp_path, A, TO_B)
    assert faults(tmp_path, B, f"# {B} - b.\n{text}") == []


def test_a_module_that_imports_the_package_is_not_imported_by_it(tmp_path):
    package = "python_bindings/tilefold/__init__.py"
    faults(tmp_path, package, f"# {package} - all.\nfrom tilefold import b\n")
    said = faults(tmp_path, B, f"# {B} - b.\nimport tilefold\n")
    assert said == [
        f"{package}:1: a circle: tilefold.__init__ -> tilefold.b -> "
        "tilefold.__init__"
    ]
