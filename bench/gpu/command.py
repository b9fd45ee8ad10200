# bench/gpu/command.py - python -m bench --gpu: checks, then times, then keeps.
"""Every result is compared with float64 first, which is the warm-up. A sample
is the time between two events around as many calls as take a tenth of a second;
what is told is the median of nine, of fewer where one takes seconds. Results
are kept after each case, so that a run which ends early has what it did."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bench import machine
from bench.card import Card, NoCard
from bench.case import Absent
from bench.gpu.cases import CASES, select
from bench.gpu.contenders import CONTENDERS
from bench.gpu.own import tilefold_formula
from bench.gpu.plot import draw
from bench.harness import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.gpu.cases import GpuCase
    from bench.gpu.contest import Contest

HERE = Path(__file__).parents[1]
MOST_SAMPLES = 9
SAMPLE = 0.1  # seconds of one
TIME = 5.0  # seconds of all, where one call takes long
PACKAGES = ["tilefold", "torch", "pykeops", "gpytorch", "cupy", "numpy"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line; 1 if a contender was wrong or failed, 0 where
    there is no card."""
    options = _parse(arguments)
    try:
        cases = select(options.names)
    except ValueError as error:
        say(str(error))
        return 2
    if options.list:
        say("\n".join(f"{case.name:20} {case.title}" for case in cases))
        return 0
    try:
        card = Card()
    except NoCard as reason:
        say(str(reason))
        return 0
    report: dict[str, Any] = {
        "card": card.name,
        "machine": machine.describe(),
        "versions": machine.versions(PACKAGES),
        "cases": {},
    }
    report["calls"] = _calls(card)
    say(json.dumps(report["calls"]))
    for case in cases:
        say(case.title)
        report["cases"][case.name] = _run_case(case, card, options)
        _keep(report, options)
    _draw(report, options)
    card.close()
    rows = [
        row
        for case in report["cases"].values()
        for row in case["contenders"].values()
    ]
    return 1 if any(r["status"] in {"wrong", "failed"} for r in rows) else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench --gpu")
    parser.add_argument("--gpu", action="store_true", required=True)
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--quick", action="store_true", help="tiny sizes")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument(
        "--contender", action="append", default=[], metavar="NAME"
    )
    return parser.parse_args(arguments)


def _run_case(
    case: GpuCase, card: Card, options: argparse.Namespace
) -> dict[str, Any]:
    problem = case.problem(options.quick)
    rows: dict[str, Any] = {}
    for name, prepare in CONTENDERS.items():
        if options.contender and name not in options.contender:
            continue
        try:
            rows[name] = _examine(case, problem, prepare(problem, card), card)
            limit = case.limit_of(name)
            if limit and "rate" in rows[name]:
                rows[name]["share of the limit"] = rows[name]["rate"] / limit
        except Absent as reason:
            rows[name] = {"status": "absent", "reason": str(reason)}
        except Exception as error:
            rows[name] = {"status": "failed", "reason": repr(error)}
        say(f"  {name:16} {_line(rows[name])}")
    return {"title": case.title, "sizes": problem.sizes, "contenders": rows}


def _examine(
    case: GpuCase, problem: Any, contest: Contest, card: Card
) -> dict[str, Any]:
    """Checks a contender, then times it."""
    error = problem.error(contest.result(contest.run()))
    row: dict[str, Any] = {"status": "right", "error": error}
    if not error <= case.tolerance:
        return row | {"status": "wrong", "reason": f"error {error:.1e}"}
    samples = _samples(contest, card)
    median = statistics.median(samples)
    rate = problem.pairs / median
    times = {"median": median, "samples": samples}
    return row | {"seconds": times, "rate": rate}


def _samples(contest: Contest, card: Card) -> list[float]:
    """Seconds of a call."""
    once = card.seconds(contest.run, 1)
    count = int(np.clip(TIME / max(once, 1e-7), 1, MOST_SAMPLES))
    times = int(np.clip(SAMPLE / max(once, 1e-7), 1, 10_000))
    if count == 1:
        return [once / contest.calls]
    return [
        card.seconds(contest.run, times) / contest.calls for _ in range(count)
    ]


def _calls(card: Card) -> dict[str, float]:
    """Milliseconds of the first call, of one that finds its kernel on disk,
    and the microseconds that a further one keeps Python busy."""
    problem = select(["gaussian_d3"])[0].problem(True)
    found = {}
    arrays = {
        name: card.put(value) if np.ndim(value) else value
        for name, value in problem.arguments.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        settings = tilefold.Options(cache_directory=folder)
        for name in ("first", "from disk"):
            session = tilefold.Session(settings)
            formula = tilefold.compile(problem.text, session=session)
            begin = time.perf_counter()
            formula(arrays)
            found[f"{name}, ms"] = (time.perf_counter() - begin) * 1e3
    contest = tilefold_formula(problem, card)
    contest.run()
    card.wait()
    times = 200
    begin = time.perf_counter()
    for _ in range(times):
        contest.run()
    found["a call, µs"] = (time.perf_counter() - begin) / times * 1e6
    card.wait()
    return found


def _line(row: dict[str, Any]) -> str:
    words = [row["status"]]
    if "seconds" in row:
        words.append(f"{row['seconds']['median'] * 1e3:.4g} ms")
        words.append(f"{row['rate']:.3g} pairs/s")
    if "share of the limit" in row:
        words.append(f"{row['share of the limit']:.2f} of the limit")
    return ", ".join([*words, row.get("reason", "")]).rstrip(", ")


def _path(options: argparse.Namespace) -> Path:
    """Partial runs go where they overwrite nothing."""
    folder = HERE / "results"
    if options.quick or options.contender or options.names:
        folder = HERE.parent / "build" / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "gpu.json"


def _keep(report: dict[str, Any], options: argparse.Namespace) -> None:
    text = json.dumps(report, indent=1) + "\n"
    _path(options).write_text(text, encoding="utf-8")


def _draw(report: dict[str, Any], options: argparse.Namespace) -> None:
    path = _path(options)
    say(str(path))
    limits = {case.name: case.limit for case in CASES if case.limit}
    picture = path.with_suffix(".png")
    if draw(report, limits, picture):
        say(str(picture))
