#!/usr/bin/env python3
# scripts/packaging/check_tests.py - whether enough tests of a wheel passed.
"""`check_tests.py LOG LEAST`: reads the last line of pytest's output."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def counts(log: str) -> dict[str, int]:
    """Passed, failed, skipped and others, by their names."""
    last = log.strip().splitlines()[-1]
    found = re.findall(r"(\d+) ([a-z]+)", last)
    return {name: int(number) for number, name in found}


if __name__ == "__main__":
    found = counts(Path(sys.argv[1]).read_text())
    passed, least = found.get("passed", 0), int(sys.argv[2])
    if passed < least or found.get("failed") or found.get("error"):
        sys.exit(f"{sys.argv[1]}: {passed} passed, of at least {least}")
