# bench/plan_grid.py - the cost model held against the clock.
"""python -m bench.plan_grid [POINT …] [--isa ISA]

Times every plan that `Formula.plans` lists at 30 points of (formula, N, M, D,
E), on all cores, interleaved with the call that lets the cost model choose.
At a point the choice is good if it takes at most 10% longer than the fastest
plan; 27 of 30 points have to be good. Writes results/plan_grid.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bench.harness import say
from bench.machine import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESULTS = Path(__file__).parent / "results"
ROUNDS = 9
SAMPLE_SECONDS = 0.02
CLOSE = 1.10  # of the fastest plan's time
SHARE = 0.9  # of the points

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
LOGSUMEXP = "logsumexp_j(-|x_i - y_j|²/2l²)"
ATTENTION = "softmax_j(x_i·y_j/l, b_j)"
NEIGHBOURS = "argkmin_j(|x_i - y_j|², 10)"
GRADIENT = "sum_j exp(-|x_i - y_j|²/2l²) b_j*(y_j - x_i)"


@dataclass(frozen=True)
class Point:
    """A formula and the sizes of a call; E = 0: no right-hand side."""

    formula: str
    N: int
    M: int
    D: int
    E: int = 1
    dtype: str = "float32"

    def arrays(self) -> dict[str, Any]:
        """Random points in a cube."""
        random = np.random.default_rng(0)

        def draw(*shape: int) -> np.ndarray:
            return random.random(shape).astype(self.dtype)

        arrays: dict[str, Any] = {
            "x": draw(self.N, self.D),
            "y": draw(self.M, self.D),
        }
        if "b_j" in self.formula:
            arrays["b"] = draw(self.M, self.E) if self.E > 1 else draw(self.M)
        if "l" in self.formula.replace("logsumexp", ""):
            arrays["l"] = np.sqrt(self.D) / 2
        return arrays


POINTS = [
    *(Point(GAUSSIAN, 6000, 6000, D) for D in (1, 2, 3, 4, 5, 8, 16, 32)),
    *(Point(GAUSSIAN, 3000, 3000, D) for D in (64, 128, 500)),
    *(Point(GAUSSIAN, 6000, 6000, D, 1, "float64") for D in (3, 16)),
    *(Point(GAUSSIAN, N, M, 3) for N, M in ((100, 200_000), (200_000, 100))),
    *(Point(GAUSSIAN, N, M, 64) for N, M in ((64, 50_000), (50_000, 64))),
    *(Point(GAUSSIAN, 4000, 4000, 3, E) for E in (2, 5, 16, 64, 200)),
    *(Point(GAUSSIAN, 3000, 3000, D, 64) for D in (16, 64)),
    Point(GRADIENT, 6000, 6000, 3, 1),
    *(Point(LOGSUMEXP, 6000, 6000, D, 0) for D in (3, 64)),
    Point(ATTENTION, 3000, 3000, 64, 64),
    *(Point(NEIGHBOURS, 6000, 6000, D, 0) for D in (3, 16)),
]


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Of one call."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def race(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds by name; rounds begin with another one each time."""
    slowest = max(seconds(call, 1) for call in calls.values())
    repeats = max(1, round(SAMPLE_SECONDS / slowest))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for _ in range(ROUNDS):
        for name in order:
            samples[name].append(seconds(calls[name], repeats))
        order = order[1:] + order[:1]
    return {name: median(taken) for name, taken in samples.items()}


def measure(point: Point, isa: str | None) -> dict[str, Any]:
    """Times of the choice and of every plan."""
    arrays = point.arrays()
    formula = tilefold.compile(point.formula)
    session = tilefold.Session(tilefold.Options(isa=isa))
    own = formula(**arrays, session=session)
    calls = {"chosen": lambda: formula(**arrays, session=session)}
    for plan in formula.plans(**arrays, session=session):
        forced = tilefold.Session(tilefold.Options(isa=isa, plan=plan))
        other = formula(**arrays, session=forced)
        np.testing.assert_allclose(other, own, rtol=1e-4)
        calls[plan] = lambda forced=forced: formula(**arrays, session=forced)
    times = race(calls)
    chosen = times.pop("chosen")
    best = min(times, key=lambda plan: times[plan])
    return {
        "point": asdict(point),
        "chosen": chosen,
        "beside_best": chosen / times[best],
        "best": best,
        "plans": times,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if too few points are good."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.plan_grid", description=__doc__
    )
    parser.add_argument("points", nargs="*", type=int, help="their numbers")
    parser.add_argument("--isa", help="x86-64-v3 or x86-64-v4")
    options = parser.parse_args(arguments)
    rows = []
    for number in options.points or range(len(POINTS)):
        point = POINTS[number]
        row = measure(point, options.isa)
        rows.append(row)
        say(
            f"{number:2} {point.formula[:22]:22} N={point.N:<6} M={point.M:<6} "
            f"D={point.D:<3} E={point.E:<3} {point.dtype} "
            f"{row['beside_best']:.2f} of the best, {short(row['best'])}"
        )
    good = sum(row["beside_best"] <= CLOSE for row in rows)
    say(f"{good} of {len(rows)} within {CLOSE - 1:.0%} of the best plan")
    if not options.points:
        suffix = f"_{options.isa}" if options.isa else ""
        path = RESULTS / f"plan_grid{suffix}.json"
        result = {"machine": describe(), "good": good, "points": rows}
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return 0 if good >= SHARE * len(rows) else 1


def short(plan: str) -> str:
    """4x1 stage 16."""
    field = dict(part.split("=") for part in plan.split())
    cycles = field["min_stage_cycles"]
    stage = f" stage {cycles}" if cycles != "0" else ""
    return f"{field['row_vectors']}x{field['columns']}{stage}"


if __name__ == "__main__":
    sys.exit(main())
