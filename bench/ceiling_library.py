# bench/ceiling_library.py - loads the library that bench/ceiling builds.
"""The C functions of the headers of bench/ceiling, through ctypes."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.arrays import addresses
from bench.case import Absent
from bench.places import ROOT

if TYPE_CHECKING:
    from bench.points import GaussianProblem
    from bench.statements import StatementProblem

NAME = "libtilefold_ceiling.so"
NO_AVX512 = 2
ALL_CORES = ctypes.c_int(0)
CURE = "install CMake and a C++ compiler; tilefold bench then builds it"


def load() -> ctypes.CDLL:
    """The library of $TILEFOLD_CEILING, else of build/. Raises Absent."""
    if given := os.environ.get("TILEFOLD_CEILING"):
        return ctypes.CDLL(given)
    found = sorted((ROOT / "build").glob(f"*/{NAME}"))
    found += sorted((ROOT / "build").glob(f"*/bin/{NAME}"))
    if not found:
        raise Absent(f"no {NAME} below build/; {CURE}")
    return ctypes.CDLL(str(max(found, key=_age)))


def call(library: ctypes.CDLL, name: str, *arguments: Any) -> None:
    """tilefold_ceiling_<name>: integers as int64, floats as double, arrays as
    pointers. Raises Absent without AVX-512."""
    function = getattr(library, f"tilefold_ceiling_{name}")
    code = function(*map(_as_c, arguments))
    if code == NO_AVX512:
        raise Absent("this processor has no AVX-512")
    if code:
        raise RuntimeError(f"the hand-written kernel returned {code}")


def _as_c(value: Any) -> Any:
    if isinstance(value, int):
        return ctypes.c_int64(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return value


def gaussian(library: ctypes.CDLL, problem: GaussianProblem) -> Any:
    """The Gaussian sum of a problem, on all cores."""
    x, y, b = problem.x, problem.y, problem.b
    out = np.empty(len(x), x.dtype)
    name = "gaussian_f32" if x.dtype == np.float32 else "gaussian_f64"
    sizes = (len(x), len(y), x.shape[1])
    call(library, name, *sizes, x, y, b, problem.length, out, ALL_CORES)
    return out


def statements(
    library: ctypes.CDLL, problem: StatementProblem, rounds: int
) -> Any:
    """The sums of all arrays after the statements, so many times."""
    arrays = problem.arrays
    rows = np.array([len(x) for x in arrays], np.int64)
    out = np.empty(len(arrays), np.float32)
    sizes = (problem.count, rounds, len(arrays))
    call(library, "statements_f32", *sizes, addresses(arrays), rows, out)
    return out


def _age(path: Path) -> float:
    return path.stat().st_mtime
