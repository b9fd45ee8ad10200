# tests/tools/lanes.py - runs the lanes of scripts/test, and judges their time.
"""How long each lane of scripts/test takes, and may take.

    python tests/tools/lanes.py run NAME COMMAND…   one lane, to build/logs
    python tests/tools/lanes.py judge               all that have run

Limits are rows of lanes.csv: seconds of two cores, of a sample and of all
cases. A lane that passes its limit by a quarter fails `judge`, if the machine
was quiet: if others took little of its processors meanwhile. Slower processors
have more time, by what a fixed source takes to compile.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import sample

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Path(__file__).with_name("lanes.csv")
LOGS = ROOT / "build/logs"
TIMES = LOGS / "lanes.csv"
LATE = 1.25  # of a limit
OTHERS = 0.1  # of the processors' time, at most, of a machine that is quiet
CORES = 2  # that limits are of
# Seconds that REFERENCE takes to compile where limits were measured.
REFERENCE_SECONDS = 2.2
REFERENCE = """#include <regex>
int main() { return std::regex("a|b").flags(); }
"""


class Time(NamedTuple):
    """Of one lane: on the clock, of its processes, of what else ran."""

    lane: str
    seconds: float
    processor_seconds: float
    others: float  # of the time of all processors


def busy_seconds() -> float:
    """Of all processors since the start, those that a hypervisor took too."""
    line = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = map(int, line)
    ticks = user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """Of the processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(name: str, command: list[str]) -> int:
    """Prints one line; of a lane that fails, the end of its log, too."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"test-{name}.log"
    before = time.monotonic(), busy_seconds(), children_seconds()
    with log.open("wb") as file:
        code = subprocess.run(command, stdout=file, stderr=file).returncode
    seconds = time.monotonic() - before[0]
    own = children_seconds() - before[2]
    all_of_it = seconds * (os.cpu_count() or 1)
    others = max(busy_seconds() - before[1] - own, 0) / max(all_of_it, 0.1)
    text = log.read_text(encoding="utf-8", errors="replace")
    told = re.findall(r"^.*(?:tests )?passed.*$", text, re.MULTILINE)
    print(
        f"{'FAIL' if code else 'ok':5} {name:14} {seconds:4.0f} s "
        f"{own:5.0f} s of processor  {told[-1].strip('= ') if told else ''}",
        flush=True,
    )
    if code:
        lines = text.splitlines()
        bad = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        for line in [*bad[:40], *lines[-60:]]:
            print(line[:300])
    with TIMES.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(
            [name, f"{seconds:.1f}", f"{own:.1f}", f"{others:.2f}"]
        )
    return code


def slowness() -> float:
    """Of this processor beside the one that limits are of; 1 or more."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "reference.cpp")
        source.write_text(REFERENCE)
        command = ["g++", "-std=c++20", "-O2", "-c", source, "-o", os.devnull]
        seconds = []
        for _ in range(2):
            start = time.monotonic()
            subprocess.run(command, check=True)
            seconds.append(time.monotonic() - start)
    return max(min(seconds) / REFERENCE_SECONDS, 1)


def verdict(took: Time, limit: float, slower: float) -> str | None:
    """What is wrong; None where nothing is, "" where nobody can tell."""
    if took.seconds <= limit * slower * LATE:
        return None
    if took.others > OTHERS:
        return ""
    return (
        f"{took.lane} took {took.seconds:.0f} s; its limit is {limit:.0f} s, "
        f"{limit * slower:.0f} s here, and a quarter: make it faster, or its "
        f"row of {LIMITS.relative_to(ROOT)} larger, with the reason"
    )


def judge() -> int:
    """Prints what is late, and the sum; 1 if something is."""
    with LIMITS.open(encoding="utf-8") as file:
        column = "all" if sample.is_whole() else "sample"
        limits = {row["lane"]: row[column] for row in csv.DictReader(file)}
    with TIMES.open(encoding="utf-8", newline="") as file:
        times = [Time(row[0], *map(float, row[1:])) for row in csv.reader(file)]
    slower = slowness()
    total = sum(took.seconds for took in times)
    minutes = sum(took.processor_seconds for took in times) / 60
    print(
        f"{total:.0f} s, {minutes:.1f} minutes of processor, on a processor "
        f"{slower:.2f} times as slow"
    )
    if len(os.sched_getaffinity(0)) != CORES:
        print(f"limits are of {CORES} cores: not judged, 0 passed")
        return 0
    late = 0
    for took in times:
        if not (limit := limits.get(took.lane)):
            continue
        if (wrong := verdict(took, float(limit), slower)) is None:
            continue
        late += bool(wrong)
        print(wrong or f"{took.lane} is late, but others were at work, too")
    print(f"{len(times) - late} passed, {late} late")
    return 1 if late else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    one = commands.add_parser("run", help="one lane")
    one.add_argument("name")
    one.add_argument("command", nargs=argparse.REMAINDER)
    commands.add_parser("judge", help="all lanes that have run")
    options = parser.parse_args()
    if options.what == "run":
        return run(options.name, options.command)
    return judge()


if __name__ == "__main__":
    sys.exit(main())
