# tests/python/test_stub.py - the generated stub is the one in the tree.
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nanobind")

BINDINGS = Path(__file__).parents[2] / "python_bindings"


def test_the_stub_is_up_to_date(tmp_path):
    command = [
        sys.executable, "-m", "nanobind.stubgen", "-q", "-P",
        "-m", "tilefold._core",
        "-p", str(BINDINGS / "stub_patterns.txt"),
        "-o", str(tmp_path / "_core.pyi"),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    fresh = (tmp_path / "_core.pyi").read_text()
    kept = (BINDINGS / "tilefold" / "_core.pyi").read_text()
    assert fresh == kept, "run: " + " ".join(command)
