# tests/tools/sample.py - which of many alike cases run today.
"""TILEFOLD_SAMPLE, as tests/sample.h has it, for what is written in Python.

It is a word, of which scripts/test makes another one each day: it seeds the
choice, and the same word chooses the same cases. Where it is `all`, or not
set, all run.
"""

from __future__ import annotations

import hashlib
import os

SAMPLE = os.environ.get("TILEFOLD_SAMPLE", "all")


def is_whole() -> bool:
    """Whether all cases run."""
    return SAMPLE == "all"


def number_of(name: str) -> float:
    """From 0 to 1, by the sample's word: cases of the least numbers run."""
    digest = hashlib.blake2b(f"{SAMPLE}/{name}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") / 2**64
