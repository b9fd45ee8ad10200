# bench/arrays.py - arrays as C functions take them.
"""Pointers for ctypes."""

from __future__ import annotations

import ctypes
from typing import Any


def addresses(arrays: list[Any]) -> Any:
    """A C array of pointers to the first elements."""
    pointers = (array.ctypes.data for array in arrays)
    return (ctypes.c_void_p * len(arrays))(*pointers)
