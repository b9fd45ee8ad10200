# tests/faults/conftest.py - the lane of faults: runs campaigns, and prints
# what was injected and what followed.
from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import interrupts
import sample

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]

interrupts.hear()


def shim() -> Path:
    """The library that lets calls fail, which the build made."""
    found = sorted(_ROOT.glob("build/python*/**/libfaults.so"))
    assert found, "libfaults.so is not built: run scripts/setup --tests"
    return found[0]


class Campaign:
    """Faults in one victim, and what may follow them."""

    def __init__(self, folder: Path, properties: list) -> None:
        self._folder = folder
        self._properties = properties

    def some(self, whole: int) -> int:
        """Of so many trials: all of them, or about a tenth."""
        return whole if sample.is_whole() else max(whole // 12, 2)

    def run(self, victim: str, way: str, **settings: object) -> list[dict]:
        """A line for each trial: what was injected, and what followed."""
        arguments = [victim, way, settings, str(self._folder), sample.SAMPLE]
        environment = os.environ | {
            "LD_PRELOAD": str(shim()),
            "TILEFOLD_CACHE_DIR": str(self._folder / "unused"),
        }
        done = subprocess.run(
            [sys.executable, "-W", "ignore::DeprecationWarning",
             str(_HERE / "campaign.py"), json.dumps(arguments)],
            env=environment, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if any("signal" in line["outcome"] for line in lines):
            print(done.stderr[-4000:])
        return lines

    def expect(self, name: str, lines: list[dict], allowed: set[str]) -> None:
        """Only `allowed` followed, and afterwards all was right."""
        counts = collections.Counter(faults=0)
        for line in lines:
            counts["faults"] += line["failed"] > 0
            counts[line["outcome"]] += 1
        self._properties.append(("faults", (name, dict(counts))))
        bad = [
            line
            for line in lines
            if line["outcome"] not in allowed
            or line.get("after", "right") != "right"
        ]
        assert not bad, json.dumps(bad[:5], indent=1, ensure_ascii=False)
        assert counts["faults"] > 0, "nothing was injected"


@pytest.fixture
def campaign(tmp_path: Path, request: pytest.FixtureRequest) -> Campaign:
    """In a folder of its own."""
    return Campaign(tmp_path, request.node.user_properties)


def pytest_report_header() -> str:
    """How to repeat what was chosen."""
    return f"faults: TILEFOLD_SAMPLE={sample.SAMPLE}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> None:
    """A line for each campaign."""
    counts = sorted(
        one
        for reports in terminalreporter.stats.values()
        for report in reports
        for kind, one in getattr(report, "user_properties", [])
        if kind == "faults" and getattr(report, "when", "") == "call"
    )
    total = sum(one["faults"] for _, one in counts)
    terminalreporter.section(f"{total} faults and what followed")
    for name, one in counts:
        followed = ", ".join(
            f"{number} {what}"
            for what, number in one.items()
            if what != "faults"
        )
        terminalreporter.line(f"{name}: {one['faults']} faults: {followed}")
