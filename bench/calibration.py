# bench/calibration.py - whether the machine was quiet around a sample.
"""A fixed piece of CPU work on every core, timed before and after a sample.

The work is SHA-256 of one megabyte in cache, which needs neither memory nor
the interpreter's lock. Anything else that runs on a core, a lower clock or a
busy neighbour under the same hypervisor makes it slower. What runs only in
the middle of a long sample is seen by the kernel's accounts: others used CPU
time, and threads of this process waited for a core meanwhile. (They may wait
for each other, and others may use a core that nobody here wants.)
"""

from __future__ import annotations

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# Calibration against the quietest one, at most. Clocks alone move it by 15%
# on a quiet virtual machine with turbo.
MOVED = 1.20
LOST = 0.10  # of the sample's time, at most
LOST_SECONDS = 0.005  # that is always forgiven

_BLOCK = bytes(1 << 20)
_ROUNDS = 12  # about 10 ms


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


class Calibration:
    """Threads that do the fixed work, one a core."""

    def __init__(self) -> None:
        # Pinned: a thread that wakes on a busy core is not moved at once.
        self._pools = [
            ThreadPoolExecutor(
                1, "calibration", os.sched_setaffinity, (0, {core})
            )
            for core in os.sched_getaffinity(0)
        ]
        self.run()  # starts the threads

    def run(self) -> float:
        """Seconds the work takes now."""
        start = time.perf_counter()
        for done in [pool.submit(_work) for pool in self._pools]:
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
    lost: float  # to others; see LostTime

    def is_quiet(self, quietest: float) -> bool:
        """Whether nothing disturbed it."""
        limit = MOVED * quietest
        lost = LOST * self.wall + LOST_SECONDS
        return max(self.before, self.after) < limit and self.lost < lost


class LostTime:
    """What this process cannot have had since this was made.

    The lesser of the CPU time that others used and of the time that threads
    of this process were ready and waited for a core.
    """

    def __init__(self) -> None:
        self._foreign = _machine_seconds() - _own_seconds()
        self._waited = _waited_seconds()

    def seconds(self) -> float:
        """Seconds, at least 0."""
        foreign = _machine_seconds() - _own_seconds() - self._foreign
        return max(0.0, min(foreign, _waited_seconds() - self._waited))


def _pin(core: int) -> None:
    """Keeps the calling thread on one core."""
    os.sched_setaffinity(0, {core})


def _work() -> None:
    for _ in range(_ROUNDS):
        hashlib.sha256(_BLOCK)


def _own_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _waited_seconds() -> float:
    """Time that threads of this process were ready to run, and did not."""
    waited = 0
    for task in Path("/proc/self/task").iterdir():
        try:
            waited += int((task / "schedstat").read_text().split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has ended
    return waited * 1e-9


def _machine_seconds() -> float:
    """User, nice, system, interrupts and stolen time of all cores."""
    line = Path("/proc/stat").read_text().split("\n", 1)[0]
    ticks = [int(word) for word in line.split()[1:9]]
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / os.sysconf("SC_CLK_TCK")
