# tests/python/test_import.py - importing does nothing, and is quick.
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

AUDIT = """
import json, sys, threading
import numpy
import threading as _
seen = []
before = set(sys.modules)
def watch(event, arguments):
    quiet = ("import", "compile", "exec", "object.", "marshal.", "code.",
             "sys.", "os.listdir", "os.scandir", "builtins.", "array.",
             "cpython.", "gc.")
    if event.startswith(quiet):
        return
    if event == "open" and str(arguments[0]).endswith((".py", ".pyc", ".so")):
        return
    seen.append([event, str(arguments)])
sys.addaudithook(watch)
import tilefold
seen = [s for s in seen if ".pyc" not in s[1] and "__pycache__" not in s[1]]
threads = len([t for t in __import__("os").listdir("/proc/self/task")])
new = sorted({m.split(".")[0] for m in set(sys.modules) - before})
print(json.dumps({"seen": seen, "threads": threads, "new": new}))
"""

TIMED = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import tilefold
print((time.perf_counter() - middle) / (middle - start))
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ) | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_import_opens_no_file_and_starts_nothing():
    baseline = run(
        "import numpy, os; print(len(os.listdir('/proc/self/task')))"
    )
    done = run(AUDIT)
    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert found["seen"] == []
    assert found["threads"] == int(baseline.stdout)


def test_import_brings_only_tilefold():
    found = json.loads(run(AUDIT).stdout)
    # importlib: how a package installed in place finds its files.
    allowed = {"tilefold", "__future__", "atexit", "gc", "importlib"}
    assert set(found["new"]) <= allowed


@pytest.mark.timing
def test_import_takes_a_small_part_of_what_numpy_takes(tmp_path):
    """From byte code, as installed packages are, whatever is set here.

    The aim is 10 ms where NumPy takes 70.
    """
    kept = {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(tmp_path),
    }
    run(TIMED, **kept)
    parts = [float(run(TIMED, **kept).stdout) for _ in range(15)]
    assert min(parts) < 1 / 7


def test_the_version_is_told_once():
    import tilefold

    done = subprocess.run(
        [sys.executable, "-m", "tilefold", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"tilefold {tilefold.__version__}\n"


NAMES = """
import re, types
import tilefold
for name in dir(tilefold):
    if name.startswith("_") or name in tilefold.__all__:
        continue
    value = getattr(tilefold, name)
    assert isinstance(value, types.ModuleType), name
    assert value.__name__ == f"tilefold.{name}", name
for dotted in NAMED:
    value = tilefold
    for part in dotted.split("."):
        value = getattr(value, part)
try:
    tilefold.Any
except AttributeError as error:
    print(error)
"""


def named_in_documents() -> set[str]:
    """What documents, docstrings and comments call tilefold.…"""
    root = Path(__file__).parents[2]
    package = root / "python_bindings" / "tilefold"
    files = [
        *package.glob("*.py"),
        *root.glob("*.md"),
        *root.glob("[a-z]*/*.md"),
        *root.glob("python_bindings/*.cpp"),
    ]
    names = {
        name
        for path in files
        for name in re.findall(
            r"`+tilefold\.((?:[a-zA-Z]\w*\.)*[a-zA-Z]\w*)[(`]",
            path.read_text(encoding="utf-8"),
        )
    }
    assert {"trace", "solve.SolveInfo", "torch"} <= names
    return names - {"h", "hpp", "py"}  # which are files


@pytest.mark.checkout
def test_what_is_named_is_there_after_a_plain_import():
    """And nothing else is but the modules of the package."""
    program = NAMES.replace("NAMED", repr(sorted(named_in_documents())))
    # GPyTorch imports pykeops, which speaks first.
    last = run(program).stdout.splitlines()[-1]
    assert last == "module 'tilefold' has no attribute 'Any'"


def test_a_module_that_lacks_its_library_is_no_attribute(tmp_path):
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('no torch')")
    done = run(
        "import tilefold; print(hasattr(tilefold, 'torch'))",
        PYTHONPATH=str(tmp_path),
    )
    assert done.stdout == "False\n"
