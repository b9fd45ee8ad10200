# bench/worker.py - the process in which one contender runs.
"""One process a contender, so that none meets another's threads, memory,
floating-point modes or crash. It obeys one request after the other.
"""

from __future__ import annotations

import gc
import importlib
import math
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench import catalogue, machine, places
from bench.calibration import Calibration, LostTime, Sample
from bench.case import Absent, Measured, Wrong
from bench.memory import PeakMemory

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from types import ModuleType

    from bench.case import Problem

REST = 0.01  # seconds for the threads of a contender to stop spinning
SETTLE = 3  # calibrations after a sample: OpenMP spins longer still


@dataclass(frozen=True)
class Check:
    """What the first run of a contender gave."""

    error: float | None  # of a limit, none
    seconds: float
    peak: int  # bytes beyond the inputs and the result
    times_itself: bool
    notes: dict[str, Any] = field(default_factory=dict)


def serve(connection: Connection, name: str, module: str, quick: bool) -> None:
    """Answers ("prepare" | "check" | "sample", …) until None comes.

    The end of the harness is the end of the worker.
    """
    places.use_own_caches()
    contender = Contender(name, module, quick)
    while (request := _next_request(connection)) is not None:
        verb, *arguments = request
        try:
            answer = getattr(contender, verb)(*arguments)
        except (Absent, Wrong) as reason:
            connection.send((type(reason).__name__.lower(), str(reason)))
        except ModuleNotFoundError as error:
            connection.send(("absent", f"no module {error.name}"))
        except Exception:
            connection.send(("failed", traceback.format_exc()))
        else:
            connection.send(("done", answer))


def _next_request(connection: Connection) -> Any:
    try:
        return connection.recv()
    except EOFError:
        return None


class Contender:
    """A contender with its problem, inside its own process."""

    def __init__(self, name: str, module: str, quick: bool) -> None:
        self._name = name
        self._module = module
        self._quick = quick

    def prepare(self) -> dict[str, Any]:
        """Makes the problem and the run; says what tables need."""
        case = catalogue.find(self._name)
        module = importlib.import_module(self._module)
        self._problem: Problem = case.problem(self._quick)
        self._run: Callable[[], Any] = module.prepare(self._problem)
        self._compared = getattr(module, "COMPARED", True)
        self._calibration = Calibration()
        expected = getattr(self._run, "nanoseconds_expected", lambda: None)
        cycles = getattr(self._run, "port_cycles", lambda: None)
        return {
            "label": _label(module),
            "expected_nanoseconds": expected(),
            "port_cycles": cycles(),
            "versions": machine.versions(getattr(module, "PACKAGES", ())),
            "samples": getattr(module, "SAMPLES", math.inf),
        }

    def check(self) -> Check:
        """Runs once and compares with float64, unless it is a limit."""
        memory = PeakMemory()
        outcome = _timed(self._run)
        result = outcome.result
        peak = max(0, memory.growth() - getattr(result, "nbytes", 0))
        compared = self._compared
        return Check(
            error=float(self._problem.error(result)) if compared else None,
            seconds=outcome.seconds,
            peak=peak,
            times_itself=outcome.by_itself,
            notes=outcome.notes,
        )

    def pace(self, seconds: float) -> int:
        """How many runs take about that long."""
        repeats = 1
        while True:
            start = time.perf_counter()
            for _ in range(repeats):
                self._run()
            taken = time.perf_counter() - start
            if taken > seconds / 4:
                return max(1, round(repeats * seconds / taken))
            repeats *= 4

    def sample(self, repeats: int) -> tuple[Sample, dict[str, Any]]:
        """Times some runs between two calibrations."""
        gc.collect()
        lost = LostTime()
        start = time.perf_counter()
        before = self._calibration.best(2)
        seconds, notes = _timed_often(self._run, repeats)
        time.sleep(REST)
        after = self._calibration.best(SETTLE)
        wall = time.perf_counter() - start
        sample = Sample(seconds, wall, before, after, lost.seconds())
        return sample, notes


def _label(module: ModuleType) -> str:
    first = (module.__doc__ or "").splitlines()[0].rstrip(".")
    return getattr(module, "LABEL", first)


def _timed(run: Callable[[], Any]) -> Measured:
    start = time.perf_counter()
    outcome = run()
    seconds = time.perf_counter() - start
    if isinstance(outcome, Measured):
        return outcome
    return Measured(outcome, seconds, by_itself=False)


def _timed_often(
    run: Callable[[], Any], repeats: int
) -> tuple[float, dict[str, Any]]:
    if repeats == 1:
        outcome = _timed(run)
        return outcome.seconds, outcome.notes
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats, {}
