# bench/calls_library.py - tilefold called from C++, through ctypes.
"""The library of bench/calls, which links with the tilefold in use."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bench.arrays import addresses
from bench.case import Absent
from bench.native import build
from bench.places import ROOT

FOLDER = ROOT / "build" / "calls"


class BoundCalls:
    """A formula of x, bound to several arrays."""

    def __init__(self, text: str, arrays: list[Any]) -> None:
        self._library = _load()
        self._arrays = arrays  # they have to live
        sizes = (ctypes.c_int64 * len(arrays))(*map(len, arrays))
        reason = ctypes.create_string_buffer(1000)
        self._handle = ctypes.c_void_p(
            self._library.tilefold_calls_open(
                text.encode(),
                ctypes.c_int64(len(arrays)),
                addresses(arrays),
                sizes,
                ctypes.c_int64(arrays[0].shape[1]),
                reason,
                ctypes.c_int64(len(reason)),
            )
        )
        if not self._handle:
            raise RuntimeError(reason.value.decode())

    @property
    def compiles(self) -> int:
        """Kernels compiled for all arrays together."""
        return int(self._library.tilefold_calls_compiles(self._handle))

    def run(self, rounds: int) -> Any:
        """Calls each in turn, so many times; the last results, float32."""
        out = np.empty(len(self._arrays), np.float32)
        failed = self._library.tilefold_calls_run(
            self._handle,
            ctypes.c_int64(rounds),
            ctypes.c_void_p(out.ctypes.data),
        )
        if failed:
            raise RuntimeError("a bound call failed")
        return out


def _load() -> ctypes.CDLL:
    """Builds the library, or brings it up to date. Raises Absent."""
    import tilefold

    setting = f"-Dtilefold_DIR={tilefold.get_cmake_dir()}"
    if failed := build(ROOT / "bench" / "calls", FOLDER, [setting]):
        raise Absent(failed)
    library = ctypes.CDLL(str(FOLDER / "libtilefold_calls.so"))
    library.tilefold_calls_open.restype = ctypes.c_void_p
    library.tilefold_calls_compiles.restype = ctypes.c_int64
    return library
