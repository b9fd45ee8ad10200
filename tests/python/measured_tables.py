# tests/python/measured_tables.py - tables in READMEs that are made of measured
# numbers: between <!-- name --> and <!-- end -->.
from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
END = "<!-- end -->\n"


def check(readme: str, name: str, table: str) -> None:
    """The README shows the table; TILEFOLD_UPDATE_GOLDEN=1 puts it there."""
    path = ROOT / readme
    begin = f"<!-- {name} -->\n"
    before, rest = path.read_text(encoding="utf-8").split(begin)
    shown, after = rest.split(END, 1)
    if os.environ.get("TILEFOLD_UPDATE_GOLDEN") == "1":
        path.write_text(before + begin + table + END + after, "utf-8")
    else:
        assert shown == table
