# tests/tools/long_tests.py - the tests that take long, of what pytest printed.
"""pytest -q -n 2 --durations=0 … | python tests/tools/long_tests.py

writes tests/python/long_tests.csv: of a sample, those that took LEAST seconds
or more, all their cases together; those that did not run stay as they were.
What a sample spends on them is limited.
"""

from __future__ import annotations

import collections
import csv
import re
import sys
from pathlib import Path

TABLE = Path(__file__).parents[1] / "python/long_tests.csv"
LEAST = 0.5
DURATION = re.compile(r"\s*([\d.]+)s (?:call|setup|teardown)\s+(\S+)")


def read() -> dict[str, float]:
    """Seconds of each test, by the end of its name: file.py::function."""
    with TABLE.open(encoding="utf-8") as file:
        return {
            row["test"]: float(row["seconds"]) for row in csv.DictReader(file)
        }


def key_of(name: str) -> str:
    """The name of a test in the table, whatever its case and folder are."""
    return name.partition("[")[0].rpartition("/")[2]


def main() -> None:
    ran: collections.Counter[str] = collections.Counter()
    for line in sys.stdin:
        if found := DURATION.match(line):
            ran[key_of(found[2])] += float(found[1])
    seconds = read() | ran
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["test", "seconds"])
        for name, total in sorted(seconds.items()):
            if total >= LEAST:
                writer.writerow([name, f"{total:.1f}"])


if __name__ == "__main__":
    main()
