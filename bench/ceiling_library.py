# bench/ceiling_library.py - loads the library that bench/ceiling builds.
"""The C functions of bench/ceiling/gaussian.h, through ctypes."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.case import Absent
from bench.places import ROOT

if TYPE_CHECKING:
    from bench.points import GaussianProblem

NAME = "libtilefold_ceiling.so"
NO_AVX512 = 2
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


def gaussian(library: ctypes.CDLL, problem: GaussianProblem) -> Any:
    """The Gaussian sum of a problem, on all cores."""
    x, y, b = problem.x, problem.y, problem.b
    out = np.empty(len(x), x.dtype)
    suffix = "f32" if x.dtype == np.float32 else "f64"
    function = getattr(library, f"tilefold_ceiling_gaussian_{suffix}")
    sizes = [ctypes.c_int64(size) for size in (len(x), len(y), x.shape[1])]
    arrays = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, b)]
    code = function(
        *sizes,
        *arrays,
        ctypes.c_double(problem.length),
        ctypes.c_void_p(out.ctypes.data),
        ctypes.c_int(0),
    )
    if code == NO_AVX512:
        raise Absent("this processor has no AVX-512")
    if code:
        raise RuntimeError(f"the hand-written kernel returned {code}")
    return out


def _age(path: Path) -> float:
    return path.stat().st_mtime
