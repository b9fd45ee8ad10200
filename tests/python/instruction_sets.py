# tests/python/instruction_sets.py - which instruction sets this machine runs.
"""Tests of each instruction set take `HERE`: what a processor lacks is tested
on one that has it.
"""

from __future__ import annotations

import numpy as np

import tilefold

ALL = [
    "x86-64-v3",
    "x86-64-v4",
    "x86-64-v4-vnni",
    "x86-64-v4-bf16",
    "znver4",
    "znver5",
    "x86-64-v4-amx",
    "aarch64",
]


def runs_here(isa: str) -> bool:
    """Tries it."""
    try:
        tilefold.reduce(
            "sum_j x_j", x=np.ones(3), options=tilefold.Options(isa=isa)
        )
    except tilefold.DeviceError:
        return False
    return True


HERE = [isa for isa in ALL if runs_here(isa)]
PORTABLE = [isa for isa in HERE if isa in ("x86-64-v3", "x86-64-v4", "aarch64")]
