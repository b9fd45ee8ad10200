# bench/harness.py - runs one case with all its contenders.
"""Equality first, then time.

1. Each contender prepares in its own process; one whose package is missing
   is absent.
2. Each runs once, and the result is compared with float64. One that is off
   by more than the tolerance is timed, but not ranked.
3. All are timed in turn (bench/rounds.py).
"""

from __future__ import annotations

import math
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench import catalogue, machine, summary
from bench.calibration import cores
from bench.contender_process import ContenderProcess, Stopped
from bench.rounds import Quiet, Track, race

if TYPE_CHECKING:
    from bench.case import Case
    from bench.catalogue import Entry
    from bench.worker import Check

REFERENCE = "tilefold"
QUICK_SAMPLES = 3


@dataclass(frozen=True)
class Settings:
    """How much effort a run of the benchmark takes."""

    quick: bool = False
    patience: float = 300.0  # seconds a case waits for a quiet machine
    contenders: tuple[str, ...] = ()  # empty: all
    most_samples: int = 99


def say(text: str) -> None:
    """Progress, for whoever watches."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def run_case(entry: Entry, settings: Settings) -> dict[str, Any]:
    """Measures a case; the dictionary that is written to results."""
    case = entry.case
    say(f"{case.name}: {case.title}")
    start = time.perf_counter()
    problem = case.problem(settings.quick)
    quiet = Quiet(settings.patience)
    rows: dict[str, dict[str, Any]] = {}
    tracks: dict[str, Track] = {}
    with ExitStack() as open_processes:
        for name, module in _contenders(entry, settings).items():
            process = ContenderProcess(
                case.name, module, settings.quick, case.timeout
            )
            open_processes.callback(process.close)
            rows[name], track = _enter(case, process, settings)
            if track:
                tracks[name] = track
            say(f"  {name:20} {_verdict(rows[name])}")
        most = QUICK_SAMPLES if settings.quick else settings.most_samples
        samples = min(case.samples, most)
        race(tracks, samples, quiet)
    for name, track in tracks.items():
        _finish(rows[name], track, tracks.get(REFERENCE), samples)
    for row in rows.values():
        _expect(row, problem.pairs)
    if case.rated:
        _add_rates(rows, problem.pairs)
    return {
        "title": case.title,
        "when": time.strftime("%Y-%m-%d %H:%M"),
        "machine": machine.describe() | {"versions": _versions(rows)},
        "quick": settings.quick,
        "sizes": problem.sizes,
        "pairs": problem.pairs,
        "tolerance": _finite(case.tolerance),
        "calibration_ms": round(quiet.quietest * 1e3, 3),
        "waited_seconds": round(quiet.waited, 1),
        "took_seconds": round(time.perf_counter() - start, 1),
        "contenders": rows,
    }


def _contenders(entry: Entry, settings: Settings) -> dict[str, str]:
    found = catalogue.contender_modules(entry)
    wanted = settings.contenders or tuple(found)
    return {name: found[name] for name in found if name in wanted}


def _enter(
    case: Case, process: ContenderProcess, settings: Settings
) -> tuple[dict[str, Any], Track | None]:
    """Prepares and checks a contender: its row, and its track if timed."""
    row: dict[str, Any] = {}
    try:
        row.update(process.ask("prepare"))
        at_most = row.pop("samples")
        check = process.ask("check")
        error = check.error
        good = error is None or error <= case.tolerance
        row.update(
            status="ok" if good else "wrong",
            error=error,
            peak_bytes=check.peak,
            notes=check.notes,
        )
        if not case.samples:
            row["seconds"] = summary.spread([check.seconds])
            return row, None
        repeats = _repeats(case, process, check, settings.quick)
    except Stopped as stopped:
        row.update(status=stopped.status, reason=stopped.reason)
        return row, None
    return row, Track(process, repeats, at_most)


def _expect(row: dict[str, Any], pairs: float) -> None:
    """The time that a cost model gives all cores, and the cycles of ports,
    where there are some."""
    if row.get("port_cycles") is None:
        row.pop("port_cycles", None)
    expected = row.pop("expected_nanoseconds", None)
    if expected is not None:
        row["expected_seconds"] = expected * 1e-9 * pairs / cores()


def _repeats(
    case: Case, process: ContenderProcess, check: Check, quick: bool
) -> int:
    """Runs in a sample: one if a run is slow or times itself."""
    seconds = case.seconds / 5 if quick else case.seconds
    if check.times_itself or check.seconds > 10 * seconds:
        return 1
    return int(process.ask("pace", seconds))


def _finish(
    row: dict[str, Any], track: Track, reference: Track | None, samples: int
) -> None:
    """Adds what the race gave to a row."""
    enough = int(min(summary.ENOUGH, samples, track.at_most))
    status = row["status"]
    row.update(summary.timings(track, enough))
    if status == "wrong":
        row["status"] = status
    if track.stopped:
        row.update(status=track.stopped.status, reason=track.stopped.reason)
    if track.notes:
        row["notes"] = summary.notes(track.notes)
    if reference and (ratio := summary.ratio(track, reference)):
        row["times_tilefold"] = ratio


def _add_rates(rows: dict[str, dict[str, Any]], pairs: float) -> None:
    """Pairs of points per second."""
    for row in rows.values():
        if "seconds" in row:
            times = row["seconds"]
            row["pairs_per_second"] = {
                "median": pairs / times["median"],
                "low": pairs / times["high"],
                "high": pairs / times["low"],
            }


def _versions(rows: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What the contenders said of their packages."""
    found: dict[str, str] = machine.versions(["numpy"])
    for row in rows.values():
        found.update(row.pop("versions", {}))
    return dict(sorted(found.items()))


def _verdict(row: dict[str, Any]) -> str:
    if row.get("error") is not None:
        return f"{row['status']}, error {row['error']:.1e}"
    if "error" in row:
        return f"{row['status']}, a limit"
    return f"{row['status']}: {row['reason'].strip().splitlines()[-1]}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
