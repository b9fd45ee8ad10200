# bench/native.py - builds the C++ that the benchmark loads.
"""The hand-written kernels, made by CMake as far as this machine can."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from bench.places import ROOT

ROOFLINE = ROOT / "build" / "roofline"
COMPILERS = ("c++", "g++", "clang++")


def build_roofline() -> str:
    """Builds bench/roofline or brings it up to date; why not, else ""."""
    return build(ROOT / "bench" / "roofline", ROOFLINE, [])


def build(source: Path, folder: Path, settings: list[str]) -> str:
    """Configures and builds one CMake project; why not, else ""."""
    if missing := _missing():
        return f"{missing}: {source.relative_to(ROOT)} is not built"
    folder.mkdir(parents=True, exist_ok=True)
    configure = ["cmake", "-S", str(source), "-B", str(folder)]
    if not (folder / "CMakeCache.txt").exists():  # else it keeps its own
        configure += ["-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=Release", *settings]
    log = folder / "build.log"
    for command in (configure, ["cmake", "--build", str(folder)]):
        if failed := _run(command, log):
            return failed
    return ""


def _missing() -> str:
    """What has to be installed first."""
    if not shutil.which("cmake"):
        return "no CMake here (install cmake)"
    if not shutil.which("ninja"):
        return "no Ninja here (install ninja-build)"
    if not any(map(shutil.which, [os.environ.get("CXX", ""), *COMPILERS])):
        return "no C++ compiler here (install g++, or set CXX)"
    return ""


def _run(command: list[str], log: Path) -> str:
    """Runs one step, whose output goes to the log; its failure, else ""."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    log.write_text(done.stdout, encoding="utf-8")
    if done.returncode:
        return f"'{' '.join(command[:2])}' failed; see {log}"
    return ""
