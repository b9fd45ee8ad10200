# tests/python/test_sdk.py - a program in C that builds with the Python package.
"""What get_include(), get_library() and get_cmake_dir() point at."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tilefold

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "c"
OUTPUT = (EXAMPLES / "output.txt").read_text(encoding="utf-8")


def run(*command, **variables):
    return subprocess.run(
        [str(word) for word in command],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.checkout  # a wheel is tested without a compiler
@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")
def test_a_program_in_c_builds_with_the_package(tmp_path):
    library = Path(tilefold.get_library())
    run(
        *("gcc", EXAMPLES / "gaussian.c", f"-I{tilefold.get_include()}"),
        *(library, f"-Wl,-rpath,{library.parent}", "-o", tmp_path / "program"),
    )
    cache = {"TILEFOLD_CACHE_DIR": str(tmp_path / "cache")}
    assert run(tmp_path / "program", **cache) == OUTPUT


def test_the_library_is_named_as_the_system_names_it(monkeypatch):
    for platform, name in (
        ("linux", "libtilefold.so.1"),
        ("darwin", "libtilefold.1.dylib"),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        assert Path(tilefold.get_library()).name == name


def test_ctypes_loads_the_library(tmp_path):
    cache = {"TILEFOLD_CACHE_DIR": str(tmp_path)}
    program, library = EXAMPLES / "gaussian.py", tilefold.get_library()
    assert run(sys.executable, program, library, **cache) == OUTPUT


# In a process of its own: threadpoolctl would see the library in this one.
VERSION = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.tilefold_version.restype = ctypes.c_char_p
print(library.tilefold_version().decode(), end="")
"""


def test_the_cmake_package_is_of_this_version():
    folder = Path(tilefold.get_cmake_dir())
    package = (folder / "tilefoldConfigVersion.cmake").read_text()
    version = run(sys.executable, "-c", VERSION, tilefold.get_library())
    assert f'"{version}"' in package
    assert tilefold.__version__.startswith(version)
    assert (folder / "tilefoldTargets.cmake").exists()
