# bench/tasks/int8_points/task.py - points in 8 bits against float32.
"""The Gaussian sum and the ten nearest neighbours of 10,000 × 10,000 points
in 64 dimensions, x and y passed as float32, as whole numbers of 8 bits, or as
tilefold.quantize of them, which has a unit and a zero for each coordinate.
Coordinates are multiples of 1/256, which 8 bits hold exactly: both have the
same points, and the same float64 to agree with."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import at_most
from bench.neighbors import TOLERANCE, NeighborProblem
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Points in 8 bits"
TABLE = "times"


def _make(kind: type[GaussianProblem], quick: bool) -> GaussianProblem:
    size = 500 if quick else 10_000
    return kind(GaussianSizes(size, size, 64, "float32", steps=256))


GOALS = (
    at_most(
        "time beside float32",
        "tilefold_uint8/times_tilefold/median",
        1 / 1.5,
        unit="×",
    ),
)


def _case(
    name: str, title: str, kind: type[GaussianProblem], tolerance: float
) -> Case:
    return Case(
        name=f"int8_{name}",
        goals=GOALS,
        title=f"{title}, N = M = 10,000, D = 64",
        problem=partial(_make, kind),
        rated=True,
        tolerance=tolerance,
    )


CASES = [
    _case("gaussian", "Gaussian sum", GaussianProblem, 1e-5),
    _case("neighbors", "10 nearest neighbours", NeighborProblem, TOLERANCE),
]
