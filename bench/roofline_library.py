# bench/roofline_library.py - loads the library that bench/roofline builds.
"""The C functions of the headers of bench/roofline, through ctypes."""

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
    from bench.attention import AttentionProblem
    from bench.neighbors import NeighborProblem
    from bench.points import GaussianProblem
    from bench.statements import StatementProblem
    from bench.tasks.batches.task import BatchProblem
    from bench.tasks.reductions.task import ReductionProblem

NAME = "libtilefold_roofline.so"
NO_AVX512 = 2
SCORES_AS_FAST, SCORES_OF_FLOAT, SCORES_OF_PAIRS = range(3)
ALL_CORES = ctypes.c_int(0)
CURE = "install CMake and a C++ compiler; tilefold bench then builds it"


def load() -> ctypes.CDLL:
    """The library of $TILEFOLD_ROOFLINE, else of build/. Raises Absent."""
    if given := os.environ.get("TILEFOLD_ROOFLINE"):
        return ctypes.CDLL(given)
    found = sorted((ROOT / "build").glob(f"*/{NAME}"))
    found += sorted((ROOT / "build").glob(f"*/bin/{NAME}"))
    if not found:
        raise Absent(f"no {NAME} below build/; {CURE}")
    return ctypes.CDLL(str(max(found, key=_age)))


def call(library: ctypes.CDLL, name: str, *arguments: Any) -> None:
    """tilefold_roofline_<name>: integers as int64, floats as double, arrays as
    pointers. Raises Absent without AVX-512."""
    function = getattr(library, f"tilefold_roofline_{name}")
    code = function(*map(_as_c, arguments))
    if code == NO_AVX512:
        raise Absent(f"this processor has no AVX-512 for {name}")
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


def wide(library: ctypes.CDLL, problem: GaussianProblem) -> Any:
    """The Gaussian sums of many columns in three dimensions."""
    x, y, b = problem.x, problem.y, problem.b
    out = np.empty((len(x), b.shape[1]), np.float32)
    sizes = (len(x), len(y), b.shape[1])
    call(library, "wide_f32", *sizes, x, y, b, problem.length, out, ALL_CORES)
    return out


def attention(library: ctypes.CDLL, problem: AttentionProblem) -> Any:
    """softmax(q kᵀ/√D) v of one head."""
    q, k, v = problem.arrays.values()
    out = np.empty_like(q)
    sizes = (len(q), len(k), q.shape[1], v.shape[1])
    if problem.dtype == "bfloat16":
        halves = map(bits_of_bfloat16, (q, k, v))
        last = (*halves, out, SCORES_AS_FAST, ALL_CORES)
        call(library, "attention_bf16", *sizes, *last)
    else:
        call(library, "attention_f32", *sizes, q, k, v, out, ALL_CORES)
    return out


def bits_of_bfloat16(array: Any) -> Any:
    """The upper halves of float32 numbers that bfloat16 has."""
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def nearest(library: ctypes.CDLL, problem: NeighborProblem) -> Any:
    """The places of the nearest points."""
    x, y, count = problem.x, problem.y, problem.count
    out = np.empty((len(x), count), np.int64)
    sizes = (len(x), len(y), x.shape[1], count)
    call(library, "nearest_f32", *sizes, x, y, out, ALL_CORES)
    return out


def reduction(library: ctypes.CDLL, problem: ReductionProblem) -> Any:
    """One of the reductions of that task."""
    x, y = problem.x, problem.y
    place = problem.operation == "argmin"
    out = np.empty(len(x), np.int64 if place else np.float32)
    sizes: tuple[int, ...] = (len(x), len(y), x.shape[1])
    if problem.operation == "logsumexp":
        sizes = sizes[:2]  # in three dimensions only
    name = f"{problem.operation}_f32"
    call(library, name, *sizes, x, y, out, ALL_CORES)
    return out


def batches(library: ctypes.CDLL, problem: BatchProblem) -> Any:
    """The Gaussian sums of all batches."""
    x, y, b = problem.arrays.values()
    out = np.empty_like(b)
    sizes = (problem.batches, problem.points, problem.points)
    call(
        library, "batches_f32", *sizes, x, y, b, problem.length, out, ALL_CORES
    )
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
