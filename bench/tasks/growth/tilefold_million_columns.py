# bench/tasks/growth/tilefold_million_columns.py - long sums.
"""tilefold, 30,000 × 10⁶ points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.formula_run import FormulaRun
from bench.points import TEXT
from bench.tasks.growth.task import repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.tasks.growth.task import GrowthProblem

PACKAGES = ("tilefold",)
NAME = "tilefold_million_columns"


def prepare(problem: GrowthProblem) -> Callable[[], Measured]:
    """Compiles on the first 100 points."""
    arguments = problem.part(NAME).arguments
    few = {k: arguments[k][:100] for k in "xyb"} | {"l": arguments["l"]}
    return repeated(problem, NAME, FormulaRun(TEXT, arguments, few))
