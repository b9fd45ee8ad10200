# tests/tools/test_check_layers.py - each rule of the house, kept and broken.
from __future__ import annotations

from pathlib import Path

import pytest

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


CASES = "    case A:\n        return 1;\n" * 60
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
        "runtime/b.cpp",
        '// runtime/b.cpp - b.\n#include "compiler/backends/llvm/factory.h"\n',
    ),
    ("scripts/c", "#!/bin/sh\n# scripts/c - c.\n"),
    ("tests/a.cpp", '// tests/a.cpp - a.\n#include "runtime/b.h"\n'),
]


@pytest.mark.parametrize(("path", "text"), GOOD)
def test_kept(tmp_path, path, text):
    assert faults(tmp_path, path, text) == []


LONG = "// compiler/a.cpp - a.\n" + "int a;\n" * 600
LARGE = "// compiler/a.cpp - a.\nint a() {\n" + "    b();\n" * 71 + "}\n"
BROKEN = [
    (
        "formulas/a.h",
        '// formulas/a.h - a.\n#include "compiler/b.h"\n',
        "formulas/a.h:2: includes compiler/b.h, to the right of formulas/",
    ),
    (
        "runtime/a.h",
        '// runtime/a.h - a.\n#include "compiler/backends/llvm/pack.h"\n',
        "runtime/a.h:2: includes compiler/backends/llvm/pack.h; "
        "only compiler/backends/llvm/factory.h may be",
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
    ("compiler/a.cpp", LARGE, "compiler/a.cpp:2: a function of 71 lines"),
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
    (
        "formulas/diagnostics.def",
        "// formulas/diagnostics.def - x.\nDIAGNOSTIC(Never, Formula,\n",
        "formulas/diagnostics.def:2: Never is never raised",
    ),
]


@pytest.mark.parametrize(("path", "text", "fault"), BROKEN)
def test_broken(tmp_path, path, text, fault):
    assert faults(tmp_path, path, text) == [fault]
