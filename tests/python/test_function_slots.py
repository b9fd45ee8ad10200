# tests/python/test_function_slots.py - the table of functions in
# compiler/backends/cuda/README.md is that of tests/cuda/function_slots.csv.
from __future__ import annotations

import csv

import measured_tables
from measured_tables import ROOT


def cells(row: dict[str, str]) -> list[str]:
    """The columns of a dtype."""
    ends = sorted({int(row["least"]), int(row["most"])})
    units = row["special"] if row["dtype"] == "float32" else row["wide"]
    return [
        " to ".join(map(str, ends)),
        units,
        f"{float(row['pairs']) / 1e9:.0f}",
    ]


def table() -> str:
    """A row for each function."""
    with (ROOT / "tests/cuda/function_slots.csv").open(
        encoding="utf-8"
    ) as file:
        rows = list(csv.DictReader(file))
    lines = [
        "",
        "| function | float32 | special | G pairs/s"
        " | float64 | double | G pairs/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for single, double in zip(rows[::2], rows[1::2], strict=True):
        assert single["function"] == double["function"]
        name = single["function"]
        lines.append(
            f"| {' | '.join([name, *cells(single), *cells(double)])} |"
        )
    return "\n".join([*lines, "", ""])


def test_the_table_is_the_one_counted():
    measured_tables.check(
        "compiler/backends/cuda/README.md", "function_slots.csv", table()
    )
