# python_bindings/tilefold/doctor.py - what `tilefold doctor` looks at.
"""Findings about this machine and this installation."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import tilefold
from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["examine"]

Finding = tuple[str, str, bool]


def examine() -> Iterator[Finding]:
    """Yields (name, finding, whether it is as it should be)."""
    yield "version", _versions(), True
    session = tilefold.Session()
    options = session.options
    yield "cpu", f"{platform.machine()}, kernels for {options.isa}", True
    yield "threads", f"{session.threads} of {os.cpu_count()} cores", True
    yield _llvm()
    driver, compiler = session._describe_gpus()
    yield "gpu", driver, True  # without one, the CPU does all
    yield "nvrtc", compiler, True
    yield _cache(options)
    yield _kernel()


def _versions() -> str:
    return (
        f"tilefold {tilefold.__version__}, language {_core.language_version}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{sys.platform}"
    )


def _llvm() -> Finding:
    library = Path(_core.__file__).with_name("libtilefold_llvm.so")
    if not library.exists():
        return "llvm", f"{library} is missing; cached kernels still run", False
    size = library.stat().st_size / 2**20
    return "llvm", f"{library} ({size:.0f} MiB)", True


def _cache(options: tilefold.Options) -> Finding:
    directory = options.cache_directory
    if not directory:
        return "cache", "none: kernels stay in memory", True
    path = Path(directory)
    there = path.is_dir()
    reason = _why_not_written(path)
    if reason and not there:
        return (
            "cache",
            f"{directory} cannot be made: {reason}; {_ELSEWHERE}",
            False,
        )
    if not there:
        return "cache", f"{directory} (not there yet, but can be made)", True
    entries = _core.list_cache(options, True)
    damaged = sum(entry.fault != "" for entry in entries)
    size = sum(entry.bytes for entry in entries) / 2**20
    text = f"{directory}: {len(entries)} kernels, {size:.1f} MiB"
    if reason:
        text += f", and no more: {reason}; {_ELSEWHERE}"
    if damaged:
        text += f", {damaged} damaged or unsigned (run 'tilefold cache clear')"
    return "cache", text, not damaged and not reason


_ELSEWHERE = "set TILEFOLD_CACHE_DIR to a folder that can be written"


def _why_not_written(folder: Path) -> str:
    """What the system says of a file that a cache would keep; "" if nothing.

    Leaves nothing behind.
    """
    made = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        for part in made:
            with contextlib.suppress(OSError):
                part.rmdir()
    return ""


def _kernel() -> Finding:
    """Compiles a formula, kept in memory only, and compares with NumPy."""
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    x = np.linspace(0, 1, 6).reshape(2, 3)
    try:
        formula = tilefold.compile("sum_j |x_i - x_j|²", session=session)
        result = formula(x=x)
    except tilefold.Error as error:
        return "kernel", str(error).splitlines()[0], False
    expected = ((x[:, None] - x[None]) ** 2).sum((1, 2))
    good = bool(np.allclose(result, expected, rtol=1e-12))
    milliseconds = session.stats().compile_milliseconds
    verdict = "agrees" if good else "DISAGREES"
    return (
        "kernel",
        f"compiled in {milliseconds:.0f} ms, {verdict} with NumPy",
        good,
    )
