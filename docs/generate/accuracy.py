# docs/generate/accuracy.py - how far off functions and sums are.
"""Tables of ulp.csv and limits.csv in tests/numerics, and of the benchmark.

ulp.csv is measured, of functions of one number and of powers and angles;
limits.csv has what a test holds the other operations to.
"""

from __future__ import annotations

import csv
import json
import re

from generate.markdown import code, table
from generate.tables import ROOT, rows


def _table(name: str) -> list[dict[str, str]]:
    """The rows of a file of tests/numerics."""
    path = ROOT / "tests/numerics" / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_operations() -> dict[str, str]:
    """The error of every operation in words, by its name in ops.def."""
    measured = _measured()
    limits: dict[str, list[str]] = {}
    for row in _table("limits.csv"):
        limits.setdefault(row["operation"], []).append(_limit(row))
    found = {}
    for row in rows("compiler/ir/ops.def", "OP"):
        name, spelling = row.fields[:2]
        known = limits.get(name) or measured.get(spelling)
        if not known:
            raise ValueError(f"{name} is in neither ulp.csv nor limits.csv")
        found[name] = "; ".join(known)
        if any(text.startswith("at most") for text in known):
            found[name] += "; a test holds random arguments to it"
    return found


def _measured() -> dict[str, list[str]]:
    """The errors of ulp.csv in words, by how a function is written."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for row in _table("ulp.csv"):
        where = found.setdefault(row["function"], {})
        values = where.setdefault(_interval(row["from"], row["to"]), {})
        values.setdefault(row["ulp"], []).append(row["isa"])
    return {
        name: [_by_set(values, where) for where, values in intervals.items()]
        for name, intervals in found.items()
    }


def _by_set(values: dict[str, list[str]], where: str) -> str:
    """One error, or those of each instruction set."""
    if list(values) == ["0.00"]:
        return "none: the result is exact"
    if len(values) == 1:
        return f"{next(iter(values))} ulp for {where}"
    each = [f"{ulp} on {' and '.join(isas)}" for ulp, isas in values.items()]
    return f"{', '.join(each)}, in ulp, for {where}"


def _interval(low: str, high: str) -> str:
    """The numbers from `low` to `high` in words."""
    low, high = low.replace("-", "−"), high.replace("-", "−")
    if (low, high) == ("−inf", "inf"):
        return "any a"
    return f"a ≥ {low}" if high == "inf" else f"{low} ≤ a ≤ {high}"


def _limit(row: dict[str, str]) -> str:
    """A row of limits.csv in words."""
    if row["ulp"] == "0":
        return "none: the result is exact"
    if row["ulp"] == "0.5":
        return "0.5 ulp: the exact result is rounded once"
    of = f" of {row['words']}" if row["words"] else ""
    return f"at most {row['ulp']} ulp{of}{_where(row['arguments'])}"


def _where(arguments: str) -> str:
    """For which arguments a limit is tried, in words."""
    if "vectors" in arguments:
        return ", for 16 components"
    parts = []
    for name, kind in re.findall(r"(\w): ([^,]+)", arguments):
        if between := re.fullmatch(r"(\S+) to (\S+?)( log)?", kind):
            low, high = (end.replace("-", "−") for end in between.groups()[:2])
            parts.append(f"{low} ≤ {name} ≤ {high}")
        elif kind != "whole":
            parts.append(f"{name} = {', '.join(kind.split())}")
    return f", for {' and '.join(parts)}" if parts else ""


def functions() -> str:
    """The largest error of each function, by instruction set."""
    lines = [
        [
            code(row["function"]),
            row["isa"],
            f"{row['from']} … {row['to']}",
            row["inputs"],
            row["ulp"],
        ]
        for row in _table("ulp.csv")
    ]
    return table(
        ["function", "instruction set", "arguments", "tried", "largest ulp"],
        lines,
    )


def limits() -> str:
    """What a test holds the operations of limits.csv to."""
    lines = [
        [code(row["formula"]), _limit(row)]
        for row in _table("limits.csv")
        if row["ulp"] != "0"
    ]
    return table(["formula", "error of float32"], lines)


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
