# bench/tasks/layouts/task.py - what strides cost.
"""The Gaussian sum of 10,000 × 10,000 points in three dimensions, float32,
of arrays with the same numbers and other strides. Every other row: of x, y
and b. Transposed: a view of the left half of a (3, 2N) matrix."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import at_most
from bench.tasks.gaussian.task import TOLERANCE, make

TITLE = "Layouts"
TABLE = "times"

GOALS = tuple(
    at_most(
        f"{layout.replace('_', ' ')}: time beside the usual order",
        f"tilefold_{layout}/times_tilefold/median",
        1.05,
        unit="×",
    )
    for layout in ("column_major", "every_other_row", "transposed")
)

CASES = [
    Case(
        name="layouts_d3_f32",
        goals=GOALS,
        title="N = M = 10,000, D = 3, float32",
        problem=partial(make, 10_000, 3, "float32"),
        rated=True,
        tolerance=TOLERANCE["float32"],
    )
]
