# tests/faults/campaign.py - one campaign in a process of its own: children
# that are forked, a fault in each, and what followed.
"""Run by `run` of conftest.py with the shim preloaded; prints lines of JSON.

A child is forked from a process that has prepared the work of a victim, once
for each trial. It lets a fault happen in the work, does the work again without
one, and says by a pipe what came of both. Whoever says nothing was killed by a
signal, or by its alarm, as it hung.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import victims

KINDS = {"memory": 0, "threads": 1, "files": 2, "maps": 3}
ERRORS = {"ENOSPC": 28, "EIO": 5, "EACCES": 13, "ENOMEM": 12, "EAGAIN": 11,
          "EMFILE": 24, "EROFS": 30, "kills": -1}  # fmt: skip
ALARM = 60  # seconds, then a child has hung

_shim = ctypes.CDLL(None)  # what is preloaded comes first
for _name in ("faults_disarm", "faults_calls"):
    getattr(_shim, _name).restype = ctypes.c_int64


def arm(kind: str, first: int, count: int, error: str) -> None:
    """Of the calls from now on, `count` fail from number `first` on."""
    wide = ctypes.c_int64
    _shim.faults_arm(KINDS[kind], wide(first), wide(count), ERRORS[error])


def disarm(kind: str) -> dict[str, int]:
    """How many calls there were, and how many failed."""
    while True:
        with contextlib.suppress(MemoryError):
            failed = _shim.faults_disarm(KINDS[kind])
            return {"failed": failed, "calls": _shim.faults_calls(KINDS[kind])}


def outcome(work: victims.Work) -> str:
    """`right`, `wrong`, or the name of the exception."""
    try:
        result = work()
    except Exception as error:
        return type(error).__name__
    return "right" if work.is_right(result) else "wrong"


def told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


# ---- faults, each of a child ------------------------------------------------


def failing(work, *, kind: str, first: int, count: int, error: str) -> dict:
    """Calls of the C library that fail."""
    caught, result, text = None, None, ""
    arm(kind, first, count, error)
    try:
        result = work()
    except Exception as error_:
        caught = error_  # told once there is memory again
    numbers = disarm(kind)
    if caught:
        found, text = type(caught).__name__, told(caught)
    else:
        found = "right" if work.is_right(result) else "wrong"
    return {"outcome": found, "text": text} | numbers


@contextlib.contextmanager
def limited(what: int, value: int) -> Iterator[None]:
    """The soft limit is another one meanwhile."""
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


def become_nobody(work: victims.Work, *, owns_cache: bool) -> None:
    """Of the superuser: a user who has no threads, and is let everywhere no
    more."""
    if os.geteuid() != 0:
        return
    user = 50_000 + os.getpid() % 10_000
    if owns_cache:
        work.give_cache_to(user)
    os.setgid(user)
    os.setuid(user)


def few_threads(work: victims.Work, value: int) -> Any:
    become_nobody(work, owns_cache=True)
    return limited(resource.RLIMIT_NPROC, value)


def few_descriptors(_: victims.Work, value: int) -> Any:
    number = os.open("/dev/null", os.O_RDONLY)
    os.close(number)
    return limited(resource.RLIMIT_NOFILE, number + value)


def short_files(_: victims.Work, value: int) -> Any:
    return limited(resource.RLIMIT_FSIZE, value)


def little_memory(_: victims.Work, value: int) -> Any:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    return limited(resource.RLIMIT_AS, used + value)


def small_disk(work: victims.Work, value: int) -> Any:
    victims.mount_small_disk(work.folder, value)
    return contextlib.nullcontext()


def no_rights(work: victims.Work, value: int) -> Any:
    work.folder.mkdir(exist_ok=True)
    work.folder.chmod(value)
    become_nobody(work, owns_cache=False)
    return contextlib.nullcontext()


LIMITS = {
    "threads": few_threads,
    "descriptors": few_descriptors,
    "file size": short_files,
    "memory": little_memory,
    "disk": small_disk,
    "rights": no_rights,
}


def limits(work: victims.Work, *, what: str, value: int) -> dict:
    """A limit of the system's, for this process."""
    caught, result, text = None, None, ""
    with LIMITS[what](work, value):
        try:
            result = work()
        except Exception as error:
            caught = error  # told once there is no limit
    if caught:
        found, text = type(caught).__name__, told(caught)
    else:
        found = "right" if work.is_right(result) else "wrong"
    return {"outcome": found, "text": text, "failed": 1}


class Interrupts:
    """A child's side of SIGINT at a time that the parent chooses."""

    def __init__(self, work: victims.Work) -> None:
        self.work = work
        self.is_working = False
        self.came = threading.Event()
        signal.signal(signal.SIGINT, self.handle)

    def handle(self, *_: Any) -> None:
        self.came.set()
        if self.is_working:
            raise KeyboardInterrupt

    def one(self, ready: Callable[[], float]) -> dict:
        self.came.clear()
        found, result, text = "", None, ""
        try:
            self.is_working = True
            ready()
            result = self.work()
            self.is_working = False
        except KeyboardInterrupt:
            found = "KeyboardInterrupt"
        except Exception as caught:
            found, text = type(caught).__name__, told(caught)
        self.is_working = False
        at = time.monotonic()
        while not self.came.is_set():
            time.sleep(0.001)
        if not found:
            found = "right" if self.work.is_right(result) else "wrong"
        return {"outcome": found, "text": text, "at": at, "failed": 1}


# ---- children ---------------------------------------------------------------


class Child:
    """Does `task(send)` in a fork; `send` tells its parent a dictionary."""

    def __init__(self, task: Callable[[Callable[[dict], None]], None]) -> None:
        reading, writing = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid:
            os.close(writing)
            self.lines = os.fdopen(reading)
            return
        os.close(reading)
        signal.alarm(ALARM)
        lines = os.fdopen(writing, "w")

        def send(line: dict) -> None:
            lines.write(json.dumps(line) + "\n")
            lines.flush()

        try:
            task(send)
        except SystemExit:  # the interpreter ends as ever
            raise
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(70)
        os._exit(0)

    def heard(self) -> list[dict]:
        """All that it said, once it has ended, and how it ended."""
        said = [json.loads(line) for line in self.lines]
        self.lines.close()
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGALRM:
            said.append({"outcome": "hung", "failed": 1})
        elif code:
            kind = f"signal {-code}" if code < 0 else f"exit code {code}"
            said.append({"outcome": kind, "failed": 1})
        return said


def trial(work, fault: Callable[..., dict], settings: dict, **how) -> dict:
    """In a child: a fault, and the work again without. A `cold` child has no
    threads yet."""

    def task(send: Callable[[dict], None]) -> None:
        if not how.get("cold"):
            work.begin()
        line = fault(work, **settings)
        work.again()
        line["after"] = outcome(work)
        send(line)

    said = Child(task).heard()
    return said[-1] if said else {"outcome": "silent", "failed": 0}


def is_same_again(work: victims.Work) -> None:
    """What the campaign rests on."""
    found = outcome(work)
    assert found == "right", f"without a fault: {found}"


def numbers_of(total: int, most: int, randomly: random.Random) -> list[int]:
    """The first, the last and some of the others, of the numbers below."""
    if total <= most:
        return list(range(total))
    ends = most // 4
    chosen = set(range(ends)) | set(range(total - ends, total))
    chosen.update(randomly.sample(range(total), most - 2 * ends))
    return sorted(chosen)


def every_call(
    work, randomly, *, kind, errors, most, counts=(1,), cold=False
) -> Iterator:
    """The work with its first, second, third … call failing."""
    never = {"kind": kind, "first": 1 << 60, "count": 1, "error": errors[0]}
    calls = max(
        trial(work, failing, never, cold=cold)["calls"] for _ in range(2)
    )
    for number in numbers_of(calls, most, randomly):
        count = counts[number % len(counts)]
        if count == "rest":
            count = 1 << 60
        settings = {"kind": kind, "first": number, "count": count,
                    "error": errors[number % len(errors)]}  # fmt: skip
        yield settings, trial(work, failing, settings, cold=cold)


def every_limit(work, randomly, *, what, values, most=1 << 60) -> Iterator:
    for value in (
        values if len(values) <= most else randomly.sample(values, most)
    ):
        settings = {"what": what, "value": value}
        yield settings, trial(work, limits, settings)


def interruptions(work, randomly, *, times, rounds, longest) -> Iterator:
    """A child after the other, each interrupted `times` times."""
    for _ in range(rounds):
        delays = [randomly.random() * longest for _ in range(times)]

        def task(send: Callable[[dict], None], count: int = times) -> None:
            work.begin()
            interrupts = Interrupts(work)
            for _ in range(count):
                line = interrupts.one(lambda: send({"ready": 1}))
                work.again()
                send(line | {"after": outcome(work.light())})

        child = Child(task)
        for delay in delays:
            if not child.lines.readline():
                break
            time.sleep(delay)
            sent = time.monotonic()
            os.kill(child.pid, signal.SIGINT)
            line = child.lines.readline()
            if not line:
                break
            line = json.loads(line)
            line["seconds"] = line.pop("at") - sent
            yield {"delay": delay}, line
        for line in child.heard():
            yield {}, line


def kills(work, randomly, *, most) -> Iterator:
    """A process ends at any of its calls of files; then comes the next."""

    def doomed(send: Callable[[dict], None], number: int = 1 << 60) -> None:
        arm("files", number, 1, "kills")
        work()
        send(disarm("files"))

    work.place = "counted"
    (said,) = Child(doomed).heard()
    for number in numbers_of(said["calls"], most, randomly):
        work.place = f"killed at {number}"
        last = Child(lambda send, at=number: doomed(send, at)).heard()[-1]
        settings = {"first": number, "ended": last.get("outcome", "well")}
        line = trial(work, lambda it: {"outcome": outcome(it)}, {})
        yield settings, line | {"failed": settings["ended"] == "signal 9"}


def exits(work, randomly, *, times, longest) -> Iterator:
    """The interpreter ends while daemon threads are at work."""
    for _ in range(times):
        delay = randomly.random() * longest

        def task(send: Callable[[dict], None], delay: float = delay) -> None:
            def endless() -> None:
                while True:
                    work()

            work.begin()
            for _ in range(3):
                threading.Thread(target=endless, daemon=True).start()
            time.sleep(delay)
            send({"outcome": "ended", "failed": 1})
            sys.exit(0)

        for line in Child(task).heard():
            yield {"delay": delay}, line


def forks(work, randomly, *, times, longest) -> Iterator:
    """Children of a process whose threads are at work."""
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            work.elsewhere()

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(times):
            time.sleep(randomly.random() * longest)

            def task(send: Callable[[dict], None]) -> None:
                stop.set()
                line = {"outcome": outcome(work), "failed": 1}
                work.again()
                send(line | {"after": outcome(work)})

            for line in Child(task).heard():
                yield {}, line
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    is_same_again(work)


WAYS = {
    way.__name__: way
    for way in (every_call, every_limit, interruptions, kills, exits, forks)
}


def main() -> None:
    """Argument: victim, way, its settings, folder, and the word of choices."""
    victim, way, settings, folder, word = json.loads(sys.argv[1])
    randomly = random.Random(f"{word}/{victim}/{way}/{settings}")
    work = victims.prepare(victim, folder)
    for chosen, line in WAYS[way](work, randomly, **settings):
        print(json.dumps({"settings": chosen} | line), flush=True)


if __name__ == "__main__":
    main()
