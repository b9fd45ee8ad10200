# docs/generate/accuracy.py - how far off functions and sums are.
"""Tables of tests/numerics/ulp.csv and of the benchmark of accuracy."""

from __future__ import annotations

import csv
import json

from generate.markdown import code, table
from generate.tables import ROOT


def functions() -> str:
    """The largest error of each function, by instruction set."""
    path = ROOT / "tests/numerics/ulp.csv"
    with path.open(encoding="utf-8", newline="") as file:
        lines = [
            [
                code(row["function"]),
                row["isa"],
                f"{row['from']} … {row['to']}",
                row["inputs"],
                row["ulp"],
            ]
            for row in csv.DictReader(file)
        ]
    return table(
        ["function", "instruction set", "arguments", "tried", "largest ulp"],
        lines,
    )


def sums() -> str:
    """The largest error of sums, for every tool of the benchmark."""
    path = ROOT / "bench/results/accuracy.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    labels = {
        name: row.get("label", name)
        for case in cases.values()
        for name, row in case["contenders"].items()
    }
    lines = []
    for name, label in labels.items():
        errors = [
            case["contenders"].get(name, {}).get("error")
            for case in cases.values()
        ]
        if any(error is not None for error in errors):
            cells = ["–" if e is None else f"{e:.1e}" for e in errors]
            lines.append([label, *cells])
    return table(["", *(case["title"] for case in cases.values())], lines)
