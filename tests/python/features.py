# tests/python/features.py - the list of features, and what its examples use.
"""Formulas of `python_bindings/FEATURES.md`, with arrays for their names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import tilefold

__all__ = ["FEATURES", "formulas_of_features", "names"]

FEATURES = Path(__file__).parents[2] / "python_bindings" / "FEATURES.md"
ROW = re.compile(r"^\| (`.*?`) \| ", re.MULTILINE)


def names() -> dict[str, Any]:
    """What every example may use."""
    random = np.random.default_rng(0)
    return {
        "np": np,
        "numpy": np,
        "tilefold": tilefold,
        "x": random.random((50, 3)),
        "y": random.random((60, 3)),
        "b": random.random(60),
        "c": random.random(50),
        "l": 0.5,
        "A": random.random((2, 3)),
        "S": random.random((3, 3)),
        "n": random.integers(0, 9, 50),
        "m": random.integers(0, 9, 60),
    }


def formulas_of_features() -> list[str]:
    """Those in the first column of the tables."""
    text = FEATURES.read_text(encoding="utf-8").replace(r"\|", "¦")
    cells = [row.split("`")[1::2] for row in ROW.findall(text)]
    return [formula.replace("¦", "|") for cell in cells for formula in cell]
