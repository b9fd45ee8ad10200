# bench/places.py - where the benchmark keeps what it makes.
"""Folders below build/bench: nothing of a user's is read or filled."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench"


def folder(name: str) -> Path:
    """build/bench/<name>, made if it is not there."""
    path = BUILD / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def use_own_caches() -> None:
    """Sends the kernels of this process and its children to build/bench."""
    os.environ["TILEFOLD_CACHE_DIR"] = str(folder("tilefold"))
    os.environ["KEOPS_CACHE_FOLDER"] = str(folder("pykeops"))
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder("inductor"))
