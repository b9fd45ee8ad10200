# bench/tasks/gaussian_sizes/task.py - speed against the number of points.
"""The Gaussian sum in three dimensions, float32, from 1,000 to 300,000 points
on either axis. The largest are left to those that need less than seconds."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.tasks.gaussian.task import TOLERANCE, make

TITLE = "Speed against size"
TABLE = "rates"
CONTENDERS_OF = "gaussian"
FAST = ("roofline", "tilefold")


def _case(points: int, contenders: tuple[str, ...] = ()) -> Case:
    return Case(
        name=f"gaussian_n{points}",
        title=f"N = M = {points:,}",
        problem=partial(make, points, 3, "float32"),
        rated=True,
        tolerance=TOLERANCE["float32"],
        samples=7,
        contenders=contenders,
    )


CASES = [
    _case(1_000),
    _case(3_000),
    _case(10_000),
    _case(30_000),
    _case(100_000, FAST),
    _case(300_000, FAST),
]
