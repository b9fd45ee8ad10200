# tests/python/test_needed.py - libraries that are missing, or too old.
"""Each face of tilefold names them, and the command that installs them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tilefold.needed import NEEDED

CASES = [(face, needed) for face in NEEDED for needed in NEEDED[face]]
IDS = [f"{face}-{needed.module}" for face, needed in CASES]

IMPORTED = """
{before}
import tilefold
assert tilefold.reduce("sum_j y_j", y=[1.0, 2.0]) == 3
assert (tilefold.kernel("x_i y_j", x=[1.0], y=[3.0]) @ [2.0]).tolist() == [6]
try:
    import tilefold.{face}
    print("imported")
except ImportError as error:
    print(type(error).__name__, error)
"""


def imported(face, before):
    """What comes of an import, after some lines."""
    code = IMPORTED.format(before=before, face=face)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout.strip().rpartition("\n")[2]  # KeOps says something, too


@pytest.mark.parametrize(("face", "needed"), CASES, ids=IDS)
def test_a_missing_library_is_named(face, needed):
    before = f"import sys; sys.modules[{needed.module!r}] = None"
    assert imported(face, before) == (
        f"ModuleNotFoundError tilefold.{face} needs {needed.package}: "
        f"pip install 'tilefold[{face}]'"
    )


@pytest.mark.parametrize(("face", "needed"), CASES, ids=IDS)
def test_an_old_library_is_named(face, needed):
    """And others that it imports are asked for before it is."""
    if importlib.util.find_spec(needed.module) is None:
        pytest.skip(f"{needed.module} is not here")
    first, second = needed.least
    old = f"{first}.{second - 1}rc1"
    before = f"import {needed.module} as m; m.__version__ = {old!r}"
    assert imported(face, before) == (
        f"ImportError tilefold.{face} needs {needed.package} {first}.{second} "
        f"or later, but found {old}: pip install -U 'tilefold[{face}]'"
    )


@pytest.mark.parametrize(
    "version", ["1.16rc1", "1.16.dev2+g1", "2rc1", "1.15", "Unknown"]
)
def test_versions_of_pre_releases_and_checkouts_are_read(version):
    pytest.importorskip("gpytorch")
    before = f"import gpytorch as m; m.__version__ = {version!r}"
    assert imported("gpytorch", before) == "imported"


@pytest.mark.checkout
@pytest.mark.parametrize("face", NEEDED)
def test_the_oldest_versions_are_those_of_the_package(face):
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    extra = {}
    for line in project["project"]["optional-dependencies"][face]:
        name, _, version = line.partition(">=")
        extra[name.partition("[")[0]] = version
    for _, package, least in NEEDED[face]:
        if package != "jaxlib":  # which comes with jax
            oldest = extra.pop(package)
            assert tuple(map(int, oldest.split(".")[:2])) == least
    assert not extra
