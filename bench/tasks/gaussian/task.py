# bench/tasks/gaussian/task.py - the Gaussian sum in 3, 16 and 64 dimensions.
"""Σ_j exp(-|x_i - y_j|²/2l²) b_j on all cores, uniform points in a cube, as
many on either axis. The hand-written kernel obeys the same contract of
accuracy as tilefold (bench/roofline/gaussian.h)."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import (
    Goal,
    share_of_roofline,
    times_best_peer,
    times_faster,
    with_tolerance,
)
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Gaussian sum"
TABLE = "rates"
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
GOALS: dict[str, tuple[Goal, ...]] = {
    "gaussian_d3_f32": (
        share_of_roofline(0.95),
        times_faster("pykeops", 27),
        times_faster("torch_compile", 10),
        times_faster("jax_chunked", 10),
    ),
    "gaussian_d3_f64": (share_of_roofline(0.9),),
    "gaussian_d16_f32": (
        share_of_roofline(0.95),
        times_best_peer(12),
        with_tolerance(times_best_peer(12)),
    ),
    "gaussian_d64_f32": (
        share_of_roofline(0.95),
        times_best_peer(6),
        with_tolerance(times_best_peer(6)),
    ),
}


def make(
    points: int, dimension: int, dtype: str, quick: bool
) -> GaussianProblem:
    """As many points on either axis."""
    size = min(points, 500) if quick else points
    return GaussianProblem(GaussianSizes(size, size, dimension, dtype))


def _case(dimension: int, dtype: str) -> Case:
    points = 20_000 if dimension == 3 else 10_000
    name = f"gaussian_d{dimension}_f{dtype[-2:]}"
    return Case(
        name=name,
        title=f"D = {dimension}, {dtype}, {points // 1000}k",
        problem=partial(make, points, dimension, dtype),
        rated=True,
        tolerance=TOLERANCE[dtype],
        goals=GOALS.get(name, ()),
    )


CASES = [
    _case(dimension, dtype)
    for dimension in (3, 16, 64)
    for dtype in ("float32", "float64")
]
