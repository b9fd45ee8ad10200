# tests/python/test_environments.py - where little of a machine is there: no
# compilers, no LLVM library, no home, no account.
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilefold
from tilefold import _core

SUM = """
import numpy as np, tilefold
out = tilefold.reduce("sum_j exp(-|x_i - x_j|²)", x=np.zeros((5, 3)))
assert np.array_equal(out, np.full(5, 5.0)), out
"""


def run(program: str, environment: dict[str, str], *flags: str) -> str:
    """What a new process prints on standard error."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_no_tool_is_needed_and_no_process_started(tmp_path):
    """No compiler, linker or shell is found, and none was asked for."""
    program = SUM + (
        "import resource\n"
        "assert tilefold.stats().compiles == 1\n"
        "children = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "assert children.ru_maxrss == 0, 'a process was started'\n"
    )
    run(program, {"PATH": "", "TILEFOLD_CACHE_DIR": str(tmp_path)})


@pytest.fixture
def without_llvm(tmp_path):
    """The package in a folder of its own, its LLVM library emptied."""
    package = tmp_path / "tilefold"
    shutil.copytree(Path(tilefold.__file__).parent, package)
    for library in Path(_core.__file__).parent.iterdir():
        if library.suffix == ".so" and library.parent != package:
            shutil.copy(library, package)
    grafted = Path(tilefold.__file__).parent.with_name("tilefold.libs")
    if grafted.exists():  # of a wheel
        shutil.copytree(grafted, tmp_path / "tilefold.libs")
    (package / "libtilefold_llvm.so").write_bytes(b"")
    numpy = Path(np.__file__).parent.parent
    # -S: nothing of site-packages but what the path names
    return {"PYTHONPATH": f"{tmp_path}:{numpy}"}


def test_a_kernel_on_disk_needs_no_llvm(tmp_path, without_llvm):
    cache = {"TILEFOLD_CACHE_DIR": str(tmp_path / "cache")}
    run(SUM, dict(os.environ) | cache)
    program = SUM + (
        f"assert tilefold.__file__.startswith({str(tmp_path)!r})\n"
        "assert tilefold.stats().disk_hits == 1\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert '/_core.' in maps\n"
        "assert 'tilefold_llvm' not in maps\n"
    )
    run(program, without_llvm | cache, "-S")


def test_without_llvm_a_new_formula_is_an_error(tmp_path, without_llvm):
    program = (
        "import numpy as np, tilefold\n"
        "try:\n"
        "    tilefold.reduce('sum_j x_j', x=np.ones(3))\n"
        "except tilefold.DeviceError as error:\n"
        "    assert 'libtilefold_llvm.so' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('no error')\n"
    )
    run(program, without_llvm | {"TILEFOLD_CACHE_DIR": str(tmp_path)}, "-S")


def test_no_library_is_looked_for_where_a_program_runs(tmp_path):
    """Files of the libraries' names, which no loader would take in silence."""
    for name in (
        "libcuda.so.1",
        "libnvrtc.so",
        "libnvrtc.so.13",
        "libsleef.so.3",
    ):
        (tmp_path / name).write_bytes(b"no library")
    shutil.copy(tmp_path / "libcuda.so.1", tmp_path / "libtilefold_llvm.so")
    program = (
        "import os\n"
        f"os.chdir({str(tmp_path)!r})\n" + SUM + "import tilefold\n"
        "session = tilefold.Session(tilefold.Options(devices='cuda:0'))\n"
        "try:\n"
        "    tilefold.reduce('sum_j x_j', x=np.ones(3), session=session)\n"
        "except tilefold.DeviceError as error:\n"
        "    assert 'invalid ELF' not in str(error), error\n"
        "    assert 'too short' not in str(error), error\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert os.getcwd() not in maps\n"
    )
    environment = {
        k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"
    }
    cache = {"TILEFOLD_CACHE_DIR": str(tmp_path / "cache")}
    assert run(program, environment | cache) == ""


@pytest.mark.parametrize("home", [None, "/nonexistent", "/proc"])
def test_a_home_that_is_missing_or_read_only(home):
    environment = {"PATH": os.defpath}
    if home:
        environment["HOME"] = home
    assert run(SUM, environment) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its user")
def test_a_user_without_an_account():
    program = "import os, numpy, tilefold\nos.setuid(54321)\n" + SUM
    # The folder of the package may be closed to others.
    program = program.replace(
        "os.setuid", "tilefold.reduce('sum_j x_j', x=numpy.ones(3))\nos.setuid"
    )
    run(program, {"PATH": os.defpath})


def test_a_read_only_cache_serves(tmp_path):
    environment = dict(os.environ) | {"TILEFOLD_CACHE_DIR": str(tmp_path)}
    run(SUM, environment)
    tmp_path.chmod(0o500)
    program = SUM + "assert tilefold.stats().disk_hits == 1\n"
    assert run(program, environment) == ""
    tmp_path.chmod(0o700)
