# bench/tasks/high_dimension/task.py - the Gaussian sum of long vectors.
"""The Gaussian sum in 500 and 3,000 dimensions, float32, where nearly all
work is in the distances. The length scale grows with √D, so that exponents
are about -1. tilefold takes exact differences, unless a tolerance allows
inner products; PyTorch a matrix product."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import times_faster, with_tolerance
from bench.tasks.gaussian.task import TOLERANCE, make

TITLE = "High dimension"
TABLE = "rates"
CONTENDERS_OF = "gaussian"


def _case(dimension: int, points: int, faster: float) -> Case:
    return Case(
        name=f"high_dimension_d{dimension}",
        goals=(
            times_faster("torch_addmm", faster),
            with_tolerance(times_faster("torch_addmm", faster)),
        ),
        title=f"D = {dimension:,}, N = M = {points:,}",
        problem=partial(make, points, dimension, "float32"),
        rated=True,
        tolerance=TOLERANCE["float32"],
        contenders=(
            "tilefold",
            "tilefold_tolerance",
            "torch_addmm",
            "numpy",
        ),
    )


CASES = [_case(500, 4_000, 1.15), _case(3_000, 2_000, 0.95)]
