# bench/tasks/growth/task.py - time and memory against the number of points.
"""The Gaussian sum in three dimensions, float32, at sizes from 10⁴ × 10⁴ to
10⁶ points on one axis, all in one race. Where an axis has 10⁶ points the
other has 30,000, so that a run takes seconds: 10⁶ × 10⁶ is the task of peak
memory. Wanted is a time in proportion to N·M and a memory in proportion to
N + M."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bench.case import Case, Measured
from bench.formula_run import FormulaRun
from bench.goals import Goal, number_at
from bench.points import TEXT, GaussianProblem, GaussianSizes

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.goals import Rows

TITLE = "Growth"
TABLE = "times"
SAMPLE = 0.2  # seconds that a sample repeats the run, at least
SIZES = {
    "tilefold": (10_000, 10_000),
    "tilefold_100k": (100_000, 100_000),
    "tilefold_million_rows": (1_000_000, 30_000),
    "tilefold_million_columns": (30_000, 1_000_000),
}
QUICK = 20  # sizes are divided by it


@dataclass(frozen=True)
class GrowthProblem:
    """One Gaussian problem for each contender; their N all differ."""

    divisor: int

    @property
    def pairs(self) -> float:
        """Of the smallest."""
        return self.part("tilefold").pairs

    @property
    def sizes(self) -> dict[str, Any]:
        """N and M of each contender."""
        return {name: list(self.shape(name)) for name in SIZES}

    def shape(self, name: str) -> tuple[int, int]:
        """N and M."""
        n, m = SIZES[name]
        return n // self.divisor, m // self.divisor

    @cached_property
    def _parts(self) -> dict[str, GaussianProblem]:
        return {}

    def part(self, name: str) -> GaussianProblem:
        """What the contender computes."""
        if name not in self._parts:
            sizes = GaussianSizes(*self.shape(name), 3, "float32")
            self._parts[name] = GaussianProblem(sizes)
        return self._parts[name]

    def error(self, result: Any) -> float:
        """That of the problem with as many rows."""
        name = next(k for k in SIZES if self.shape(k)[0] == len(result))
        return self.part(name).error(result)


def repeated(problem: GrowthProblem, name: str) -> Callable[[], Measured]:
    """Times enough runs for small sizes, too; notes pairs a second. Compiles
    on the first 100 points."""
    part = problem.part(name)
    pairs, arguments = part.pairs, part.arguments
    few = {k: arguments[k][:100] for k in "xyb"} | {"l": arguments["l"]}
    run = FormulaRun(TEXT, arguments, few)

    def measured() -> Measured:
        count, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < SAMPLE or not count:
            result = run()
            count += 1
        seconds = spent / count
        return Measured(result, seconds, {"G pairs/s": pairs / seconds / 1e9})

    return measured


def _per_pair(rows: Rows, name: str) -> float | None:
    """How far the time of a pair is from that of the smallest, as a share."""
    times = number_at(rows, f"{name}/times_tilefold/median")
    if times is None:
        return None
    n, m = SIZES[name]
    smallest = SIZES["tilefold"]
    return abs(times * smallest[0] * smallest[1] / (n * m) - 1)


def _proportion(name: str) -> Goal:
    n, m = SIZES[name]
    return Goal(
        f"{n:,} × {m:,}: time a pair, away from 10⁴ × 10⁴",
        lambda rows: _per_pair(rows, name),
        0.10,
        at_least=False,
    )


def _memory(name: str) -> Goal:
    n, m = SIZES[name]
    return Goal(
        f"{n:,} × {m:,}: memory beyond inputs and result, a point",
        lambda rows: number_at(rows, f"{name}/peak_bytes", 1 / (n + m)),
        32,
        at_least=False,
        unit=" B",
    )


LARGER = [name for name in SIZES if name != "tilefold"]

CASES = [
    Case(
        name="growth",
        title="Gaussian sum, D = 3, float32",
        problem=lambda quick: GrowthProblem(QUICK if quick else 1),
        tolerance=1e-5,
        samples=7,
        goals=(
            *(_proportion(name) for name in LARGER),
            *(_memory(name) for name in LARGER),
        ),
    )
]
