# tests/python/test_stub.py - the generated stub is the one in the tree, and
# says what the compiled module has.
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nanobind")

HERE = Path(__file__).parent
BINDINGS = HERE.parents[1] / "python_bindings"

# What stubtest says of any module of nanobind's, whatever the stub says:
# functions are of a type of its own, and classes of a metaclass, ...
OF_NANOBIND = re.compile(
    r"is not a function"
    r"|is inconsistent, metaclass differs"
    r"|is a disjoint base at runtime, but isn't marked with @disjoint_base"
    r" in the stub"
)
# ... and of this one.
ELSE = {
    # Nothing constructs them; the slot that refuses takes any arguments.
    f"tilefold._core.{kind}.__init__ is inconsistent, stub does not have *args "
    'parameter "args"'
    for kind in ("Bound", "CacheEntry", "DeviceArray", "Statistics")
} | {
    # Made for inspect; the stub has the constructors.
    f"tilefold._core.{kind}.__signature__ is not present in stub"
    for kind in ("Formula", "Options", "Session")
}


def test_the_stub_is_up_to_date(tmp_path):
    command = [sys.executable, str(HERE / "make_stub.py")]
    fresh, kept = tmp_path / "_core.pyi", BINDINGS / "tilefold" / "_core.pyi"
    subprocess.run([*command, str(fresh)], check=True, capture_output=True)
    told = " ".join([*command, str(kept)])
    assert fresh.read_text() == kept.read_text(), f"run: {told}"


def test_the_stub_says_what_the_module_has():
    """By stubtest: names, kinds, parameters and their defaults."""
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--concise", "tilefold._core"],
        cwd=HERE.parents[1],  # whose pyproject.toml says where the stub is
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    found = set(done.stdout.splitlines())
    other = {
        line
        for line in found
        if not OF_NANOBIND.fullmatch(line.partition(" ")[2])
    }
    assert other == ELSE
