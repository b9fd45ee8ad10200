# bench/tasks/gaussian_dimensions/task.py - speed against the dimension.
"""The Gaussian sum of 4,000 × 4,000 points, float32, from one dimension to
512."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.tasks.gaussian.task import TOLERANCE, make

TITLE = "Speed against D"
TABLE = "rates"
CONTENDERS_OF = "gaussian"
POINTS = 4_000
DIMENSIONS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512)

CASES = [
    Case(
        name=f"gaussian_dimensions_{dimension}",
        title=f"D = {dimension}",
        problem=partial(make, POINTS, dimension, "float32"),
        rated=True,
        tolerance=TOLERANCE["float32"],
        samples=7,
        contenders=("tilefold", "roofline", "torch_addmm", "numpy"),
    )
    for dimension in DIMENSIONS
]
