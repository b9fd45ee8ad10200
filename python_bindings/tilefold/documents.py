# python_bindings/tilefold/documents.py - what the commands print, as JSON.
"""Documents of the command line, by the schema documents.schema.json.

Each has a name and a version, which grows where a field goes or means something
else. That of explain is the compiler's own, and has a schema of its own.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["as_text", "of_cache", "of_findings", "of_language", "of_plans",
           "of_result"]  # fmt: skip

VERSION = 1


def as_text(name: str, **fields: Any) -> str:
    """One document, of `tilefold name`."""
    document = {"document": f"tilefold {name}", "version": VERSION, **fields}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def of_result(
    result: np.ndarray[Any, Any], output: str | None
) -> dict[str, Any]:
    """An array: its dtype, its shape, and its file or its numbers in lists."""
    told = {"dtype": str(result.dtype), "shape": list(result.shape)}
    if output:
        return {**told, "output": output}
    return {**told, "values": _numbers(result.tolist())}


def of_cache(
    directory: str, entries: Sequence[_core.CacheEntry]
) -> dict[str, Any]:
    """The kernels of a folder; `fault` is null of a good one, or unverified."""
    return {
        "directory": directory,
        "bytes": sum(entry.bytes for entry in entries),
        "kernels": [
            {
                "key": entry.key,
                "bytes": entry.bytes,
                "isa": entry.isa,
                "compiler": entry.compiler,
                "summary": entry.summary,
                "fault": entry.fault or None,
            }
            for entry in entries
        ],
    }


def of_language() -> dict[str, Any]:
    """What formulas may hold, as `tilefold formulas` lists it."""
    return {
        "sections": [
            {
                "title": title,
                "rows": [
                    {"spelling": spelling, "meaning": meaning}
                    for spelling, meaning in rows
                ],
            }
            for title, rows in _core.language()
        ]
    }


def of_findings(found: Iterable[tuple[str, str, bool]]) -> dict[str, Any]:
    """What `tilefold doctor` found, and whether all is as it should be."""
    findings = [
        {"name": name, "finding": finding, "good": good}
        for name, finding, good in found
    ]
    return {
        "good": all(finding["good"] for finding in findings),
        "findings": findings,
    }


def of_plans(explained: str) -> dict[str, Any]:
    """The plans of each pass over the pairs, of what explain gave as JSON."""
    document = json.loads(explained)
    return {
        "formula": document["formula"],
        "passes": [
            stage["value"]
            for stage in document["stages"]
            if stage["stage"] == "plan"
        ],
    }


def _numbers(values: Any) -> Any:
    """Lists of numbers as JSON has them: those it lacks are texts."""
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    if isinstance(values, complex):
        return {
            "real": _numbers(values.real),
            "imaginary": _numbers(values.imag),
        }
    if isinstance(values, float) and not math.isfinite(values):
        return "nan" if math.isnan(values) else "inf" if values > 0 else "-inf"
    return values
