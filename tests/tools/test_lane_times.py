# tests/tools/test_lane_times.py - the limits of the lanes of scripts/test.
"""What is late is told, and only where nobody else was at work."""

from __future__ import annotations

import csv
import re

import pytest

import lanes


@pytest.mark.parametrize(
    ("seconds", "others", "slower", "said"),
    [
        (12.4, 0.0, 1.0, None),
        (12.6, 0.0, 1.0, "mypy took 13 s; its limit is 10 s"),
        (12.6, 0.5, 1.0, ""),
        (18.6, 0.0, 1.5, None),
        (18.9, 0.0, 1.5, "15 s here"),
    ],
)
def test_a_lane_is_late(seconds, others, slower, said):
    wrong = lanes.verdict(lanes.Time("mypy", seconds, 1, others), 10, slower)
    assert wrong == said if not said else said in wrong


def test_a_lane_is_measured(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(lanes, "LOGS", tmp_path)
    monkeypatch.setattr(lanes, "TIMES", tmp_path / "lanes.csv")
    assert lanes.run("good", ["echo", "3 passed in 1 s"]) == 0
    assert lanes.run("bad", ["sh", "-c", "echo FAILED a test; exit 3"]) == 3
    out = capfd.readouterr().out
    assert re.match(r"ok +good +0 s +0 s of processor  3 passed in 1 s\n", out)
    assert "FAIL  bad" in out
    assert out.count("FAILED a test") == 2  # among the tests, and the log
    with lanes.TIMES.open(newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows] == ["good", "bad"]
    assert all(float(number) >= 0 for row in rows for number in row[1:])


def test_every_lane_has_a_limit():
    """Each that scripts/test runs, but for the lane that judges them."""
    text = (lanes.ROOT / "scripts/test").read_text(encoding="utf-8")
    names = re.findall(r"^check(?:_python)? ([a-z-]+) ", text, re.MULTILINE)
    with lanes.LIMITS.open(encoding="utf-8") as file:
        limits = {row["lane"] for row in csv.DictReader(file)}
    assert set(names) - limits == {"limits"}
