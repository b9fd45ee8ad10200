# bench/tasks/layouts/task.py - what strides cost.
"""The Gaussian sum of 10,000 × 10,000 points in three dimensions, float32,
of arrays with the same numbers and other strides. Every other row: of x, y
and b. Transposed: a view of the left half of a (3, 2N) matrix. Images: 16 of
64 × 64 pixels, whose three channels are the coordinates, in batches; stored
channel by channel (NCHW) and read as points, or stored as points."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import Goal, at_most
from bench.tasks.batches.task import BatchProblem
from bench.tasks.gaussian.task import TOLERANCE, make

TITLE = "Layouts"
TABLE = "times"

LAYOUTS = ("column_major", "every_other_row", "transposed")
IMAGES = BatchProblem(batches=16, points=64 * 64)


def _goal(what: str, name: str) -> Goal:
    return at_most(
        f"{what}: time beside the usual order",
        f"{name}/times_tilefold/median",
        1.05,
        unit="×",
    )


GOALS = tuple(
    _goal(layout.replace("_", " "), f"tilefold_{layout}") for layout in LAYOUTS
)

CASES = [
    Case(
        name="layouts_d3_f32",
        goals=GOALS,
        title="N = M = 10,000, D = 3, float32",
        problem=partial(make, 10_000, 3, "float32"),
        rated=True,
        tolerance=TOLERANCE["float32"],
        contenders=("tilefold", *map("tilefold_{}".format, LAYOUTS)),
    ),
    Case(
        name="layouts_images",
        goals=(_goal("NCHW read as NHWC", "tilefold_nchw"),),
        title="16 images of 64 × 64 pixels, float32",
        problem=lambda quick: BatchProblem(2, 400) if quick else IMAGES,
        rated=True,
        tolerance=1e-5,
        contenders=("tilefold", "tilefold_nchw"),
    ),
]
