#!/usr/bin/env python3
# scripts/packaging/third_party.py - the rows of third_party.def, and the bill
# of materials of a wheel.
"""`third_party.py OUT.json VERSION` writes a CycloneDX document of the rows."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Part", "bill_of_materials", "licence_expression", "parts"]

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(
    r'^THIRD_PARTY\((\w+),\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]+)",'
    r'\s*(STATIC|HEADERS|SHARED),\s*"([^"]+)"\)$',
    re.MULTILINE,
)


@dataclass(frozen=True)
class Part:
    """A row."""

    file: str
    name: str
    version: str
    licence: str
    linked: str
    source: str


def parts(root: Path = ROOT) -> list[Part]:
    """The rows of the table."""
    return [Part(*row) for row in ROW.findall(_table(root))]


def _table(root: Path) -> str:
    return (root / "third_party.def").read_text()


def licence_expression(rows: list[Part]) -> str:
    """MIT, ours, and what the rows add to it, in order."""
    licences = {word for row in rows for word in row.licence.split(" AND ")}
    return " AND ".join(["MIT", *sorted(licences - {"MIT"})])


def bill_of_materials(rows: list[Part], version: str) -> dict[str, object]:
    """A document of CycloneDX 1.6, the same for the same rows."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "name": "tilefold",
                "version": version,
                "purl": f"pkg:pypi/tilefold@{version}",
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [
            {
                "type": "library",
                "name": row.name,
                "version": row.version,
                "licenses": [{"expression": row.licence}],
                "properties": [
                    {"name": "tilefold:linked", "value": row.linked.lower()},
                    {"name": "tilefold:source", "value": row.source},
                ],
            }
            for row in rows
        ],
    }


if __name__ == "__main__":
    text = json.dumps(bill_of_materials(parts(), sys.argv[2]), indent=2)
    Path(sys.argv[1]).write_text(text + "\n")
