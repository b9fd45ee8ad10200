# bench/tasks/neighbors/task.py - the ten nearest points, by brute force.
"""Places of the ten nearest of 10,000 points for each of 10,000, uniform in
a cube, float32; every pair is looked at. The error is that of the squared
distances, beside the tenth: a tool whose squares are rounded more may put
near-ties in another order."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import times_best_peer, times_faster
from bench.neighbors import TOLERANCE, NeighborProblem
from bench.points import GaussianSizes

TITLE = "Nearest neighbours"
TABLE = "rates"


def make(dimension: int, quick: bool) -> NeighborProblem:
    """As many points on either axis."""
    size = 500 if quick else 10_000
    return NeighborProblem(GaussianSizes(size, size, dimension, "float32"))


GOALS = {
    3: times_faster("pykeops", 8),
    16: times_best_peer(4),
    64: times_best_peer(2.5),
}

CASES = [
    Case(
        name=f"neighbors_d{dimension}",
        goals=(GOALS[dimension],),
        title=f"D = {dimension}",
        problem=partial(make, dimension),
        rated=True,
        tolerance=TOLERANCE,
    )
    for dimension in (3, 16, 64)
]
