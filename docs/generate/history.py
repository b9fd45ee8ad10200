# docs/generate/history.py - what the benchmark measured at earlier commits.
"""Results by date, from the history of `bench/results` in the repository.

Times of two machines are no curve; how many times faster tilefold was than
another library in the same run comes near to one. A copy of the source without
a history, as a source distribution, has the last results alone.
"""

from __future__ import annotations

import json
import subprocess
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from generate.markdown import table
from generate.tables import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RESULTS = "bench/results"


class Curve(NamedTuple):
    """A case of a task, and the contender that it is divided by."""

    task: str
    case: str
    contender: str
    label: str  # of the contender
    what: str  # is computed, as the title of the case does not say


CURVES = (
    Curve("gaussian", "gaussian_d3_f32", "pykeops", "KeOps", "Gaussian sum"),
    Curve("gaussian", "gaussian_d64_f32", "pykeops", "KeOps", "Gaussian sum"),
    Curve("neighbors", "neighbors_d16", "pykeops", "KeOps", "Ten nearest"),
    Curve(
        "reductions", "reductions_logsumexp", "pykeops", "KeOps", "Reduction"
    ),
    Curve("attention", "attention_d64", "torch_sdpa", "PyTorch", "Attention"),
)
# As `bench/machine.py` reads /proc/cpuinfo.
MACHINES = {
    "family 6, model 207": "Emerald Rapids",
    "family 25, model 1": "Zen 3",
    "family 25, model 17": "Zen 4",
    "family 26, model 2": "Zen 5",
}


class Point(NamedTuple):
    """A measurement."""

    when: str  # 2026-11-24 18:39
    commit: str
    machine: str
    seconds: float  # of tilefold
    ratio: float  # the contender's, in tilefold's


def git(root: Path, *words: str) -> str:
    """What git says; nothing where there is no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def versions(root: Path, task: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(commit, results) of a task, of all machines, the last ones first."""
    for path in sorted((root / RESULTS).glob(f"**/{task}.json")):
        name = path.relative_to(root).as_posix()
        yield "", json.loads(path.read_text(encoding="utf-8"))
        for commit in git(root, "log", "--format=%h", "--", name).split():
            # A commit may have removed it, or kept it in another form.
            text = git(root, "show", f"{commit}:{name}")
            if text:
                yield commit, json.loads(text)


def points(curve: Curve, root: Path = ROOT) -> list[Point]:
    """All measurements of a case by date, each once."""
    found: dict[tuple[str, str], Point] = {}
    for commit, results in versions(root, curve.task):
        case = results.get("cases", {}).get(curve.case, {})
        rows = case.get("contenders", {})
        times = [
            (rows.get(name, {}).get("seconds") or {}).get("median")
            for name in ("tilefold", curve.contender)
        ]
        if not all(times):
            continue
        family = case["machine"].get("family", "")
        machine = MACHINES.get(family, family or case["machine"]["cpu"])
        own, other = map(float, times)
        point = Point(case["when"], commit, machine, own, other / own)
        # Of the commits that have it the first one.
        found[point.when, machine] = point
    return sorted(found.values())


def title(curve: Curve, root: Path = ROOT) -> str:
    """What is computed, and the title of the case as it is now."""
    path = root / RESULTS / f"{curve.task}.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return f"{curve.what}: {cases[curve.case]['title']}"


def tables() -> str:
    """A table for each curve, the last measurements first."""
    parts = []
    for curve in CURVES:
        lines = [
            [
                point.when,
                point.commit or "–",
                point.machine,
                f"{1000 * point.seconds:.3g}",
                f"{point.ratio:.3g}",
            ]
            for point in reversed(points(curve))
        ]
        head = ["when", "commit", "machine", "ms", f"times {curve.label}"]
        parts.append(f"## {title(curve)}\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def write(path: Path) -> None:
    """All curves as JSON: of each the measurements by date and commit."""
    curves = [
        {
            "title": title(curve),
            "divided_by": curve.label,
            "points": [point._asdict() for point in points(curve)],
        }
        for curve in CURVES
    ]
    text = json.dumps(curves, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def draw() -> Any:
    """A figure of all curves, a colour for each machine."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(CURVES),
        sharex=True,
        figsize=(8, 2 * len(CURVES)),
        layout="constrained",
    )
    colours = {name: f"C{k}" for k, name in enumerate(MACHINES.values())}
    for axis, curve in zip(axes, CURVES, strict=True):
        found = points(curve)
        for machine in dict.fromkeys(point.machine for point in found):
            own = [p for p in found if p.machine == machine]
            axis.plot(
                [datetime.fromisoformat(point.when) for point in own],
                [point.ratio for point in own],
                "o-",
                color=colours.get(machine, "0.5"),
                label=machine,
            )
        axis.margins(y=0.15)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
        axis.set_ylabel(f"times {curve.label}")
        axis.set_title(title(curve), fontsize="medium")
        axis.legend(fontsize="small", loc="lower right")
    figure.autofmt_xdate()
    return figure
