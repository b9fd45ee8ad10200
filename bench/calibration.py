# bench/calibration.py - whether the machine was quiet around a sample.
"""A fixed piece of CPU work on every core, timed before and after a sample.

The work is SHA-256 of one megabyte in cache, which needs neither memory nor
the interpreter's lock. Anything else that runs on a core, a lower clock or a
busy neighbour under the same hypervisor makes it slower. What runs only in
the middle of a long sample is seen in /proc/stat: time that was used on the
machine and not by this process.
"""

from __future__ import annotations

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MOVED = 1.10  # calibration against the quietest one, at most
FOREIGN = 0.05  # of the sample's time on one core, at most
FOREIGN_SECONDS = 0.02  # /proc/stat counts in ticks of 10 ms

_BLOCK = bytes(1 << 20)
_ROUNDS = 12  # about 10 ms


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


class Calibration:
    """Threads that do the fixed work, one a core."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(cores())
        self.run()  # starts the threads

    def run(self) -> float:
        """Seconds the work takes now."""
        start = time.perf_counter()
        for done in [self._pool.submit(_work) for _ in range(cores())]:
            done.result()
        return time.perf_counter() - start

    def best(self, times: int) -> float:
        """The least of several."""
        return min(self.run() for _ in range(times))


@dataclass(frozen=True)
class Sample:
    """One timing and what happened around it, all in seconds."""

    seconds: float  # of one run
    wall: float  # from the first calibration to the last
    before: float
    after: float
    foreign: float  # CPU time of others

    def is_quiet(self, quietest: float) -> bool:
        """Whether nothing disturbed it."""
        limit = MOVED * quietest
        foreign = FOREIGN * self.wall + FOREIGN_SECONDS
        return max(self.before, self.after) < limit and self.foreign < foreign


class ForeignTime:
    """CPU time that others used since this was made."""

    def __init__(self) -> None:
        self._start = _machine_seconds() - _own_seconds()

    def seconds(self) -> float:
        """CPU seconds, at least 0."""
        return max(0.0, _machine_seconds() - _own_seconds() - self._start)


def _work() -> None:
    for _ in range(_ROUNDS):
        hashlib.sha256(_BLOCK)


def _own_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _machine_seconds() -> float:
    """User, nice, system, interrupts and stolen time of all cores."""
    line = Path("/proc/stat").read_text().split("\n", 1)[0]
    ticks = [int(word) for word in line.split()[1:9]]
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / os.sysconf("SC_CLK_TCK")
