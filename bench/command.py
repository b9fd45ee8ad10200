# bench/command.py - the command line of the benchmark.
"""python -m bench [TASK or CASE …] [--quick] [--report] [--gpu], or tilefold
bench

With no name, every task is run; with --report and no name, none is: the
tables and plots are made of the results there are.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import catalogue, native
from bench.harness import Settings, run_case, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.catalogue import Entry

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PARTIAL_RESULTS = HERE.parent / "build" / "bench" / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line; 1 if a contender was wrong or failed."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "--gpu" in words:
        from bench.gpu.command import main as on_a_gpu

        return on_a_gpu(words)
    parser = _parser()
    options = parser.parse_args(words)
    names = [name for name in options.names if name != "all"]
    try:
        chosen = catalogue.select(names)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        say("\n".join(f"{e.case.name:24} {e.case.title}" for e in chosen))
        return 0
    if options.report and not options.names:
        chosen = []
    if chosen and (unbuilt := native.build_roofline()):
        say(unbuilt)
    results = [_run(entry, options) for entry in chosen]
    for sentence in absences(results):
        say(sentence)
    if options.report:
        from bench.report import write_report

        if folder := options.results:
            write_report(folder / "README.md", folder)
        else:
            write_report(HERE / "RESULTS.md", RESULTS)
    return 1 if any(map(_is_faulty, results)) else 0


def absences(results: Sequence[dict[str, Any]]) -> list[str]:
    """What was not there, once for each reason, and how to get it."""
    reasons: dict[str, set[str]] = {}
    for result in results:
        for name, row in result["contenders"].items():
            if row["status"] == "absent":
                reasons.setdefault(row["reason"], set()).add(name)
    said = [
        f"without {', '.join(sorted(names))}: {reason}"
        for reason, names in reasons.items()
    ]
    if any(reason.startswith("no module") for reason in reasons):
        said.append(
            f"{sys.executable} -m pip install '.[bench]' brings all packages"
        )
    return said


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Times tilefold beside others, after checking all.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="TASK", help="a task, a case or 'all'"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="tiny sizes, 3 samples; results go to build/bench/results",
    )
    parser.add_argument(
        "--report", action="store_true", help="write RESULTS.md and the plots"
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="keep results and report (README.md) there, as of another machine",
    )
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument(
        "--gpu",
        action="store_true",
        help="the cases of a GPU instead: python -m bench --gpu --help",
    )
    parser.add_argument(
        "--contender",
        action="append",
        default=[],
        metavar="NAME",
        help="only this one; results go to build/bench/results",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="how long a case waits for a quiet machine (300)",
    )
    return parser


def _is_faulty(result: dict[str, Any]) -> bool:
    """Whether a contender was wrong or failed."""
    rows = result["contenders"].values()
    return any(row["status"] in {"failed", "wrong"} for row in rows)


def _run(entry: Entry, options: argparse.Namespace) -> dict[str, Any]:
    """Runs a case and keeps its result."""
    patience = min(options.patience, 5.0) if options.quick else options.patience
    settings = Settings(options.quick, patience, tuple(options.contender))
    result = run_case(entry, settings)
    partial = options.quick or options.contender
    folder = options.results or (PARTIAL_RESULTS if partial else RESULTS)
    _keep(folder / f"{entry.task}.json", entry, result)
    for name, row in result["contenders"].items():
        say(f"  {name:20} {_line(row)}")
    return result


def _keep(path: Path, entry: Entry, result: dict[str, Any]) -> None:
    """Puts a result in its task's file, in the order of the task."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cases = json.loads(path.read_text())["cases"] if path.exists() else {}
    cases[entry.case.name] = result
    order = [e.case.name for e in catalogue.select([entry.task])]
    kept = {name: cases[name] for name in order if name in cases}
    text = json.dumps({"task": entry.task, "cases": kept}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _line(row: dict[str, Any]) -> str:
    words = [row["status"]]
    if "seconds" in row:
        words.append(f"{row['seconds']['median'] * 1e3:.4g} ms")
    if "pairs_per_second" in row:
        words.append(f"{row['pairs_per_second']['median'] / 1e9:.4g} G pairs/s")
    if "taken" in row:
        words.append(f"{row['kept']} of {row['taken']} samples kept")
    return ", ".join(words)
