# bench/tasks/sklearn_neighbors/task.py - scikit-learn's estimators.
"""Estimators of neighbours, densities and clusters as scikit-learn calls them,
in eight dimensions; its own search is by brute force, its density exact
(rtol = atol = 0), its metric a Python function. Distances are compared with
float64, densities by their logarithm, means by labels, steps and inertia."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.case import Case
from bench.goals import times_faster
from bench.points import GaussianSizes
from bench.sklearn_problems import (
    DensityProblem,
    MeansProblem,
    NearestProblem,
    OwnMetricProblem,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Estimators of scikit-learn"
TABLE = "times"


def _made(kind: Any, n: int, m: int, dtype: str) -> Callable[[bool], Any]:
    def make(quick: bool) -> Any:
        few, less = (n // 20, max(m // 20, 16)) if quick else (n, m)
        return kind(GaussianSizes(few, less, 8, dtype))

    return make


BOTH = ("scikit_learn", "tilefold")
CASES = [
    Case(
        name="sklearn_nearest",
        title="10 nearest of 5,000 for 20,000, float32",
        problem=_made(NearestProblem, 20_000, 5_000, "float32"),
        tolerance=1e-3,
        goals=(
            times_faster("scikit_learn", 10),
            times_faster("faiss_flat", 10),
        ),
        rated=True,
    ),
    Case(
        name="sklearn_own_metric",
        title="10 nearest of 500 for 500 by a function, float64",
        problem=_made(OwnMetricProblem, 500, 500, "float64"),
        tolerance=1e-12,
        contenders=BOTH,
        goals=(times_faster("scikit_learn", 1000),),
        rated=True,
    ),
    Case(
        name="sklearn_density",
        title="density of 5,000 at 5,000 points, float32",
        problem=_made(DensityProblem, 5_000, 5_000, "float32"),
        tolerance=1e-5,
        contenders=BOTH,
        goals=(times_faster("scikit_learn", 200),),
        rated=True,
    ),
    Case(
        name="sklearn_means",
        title="64 means of 20,000 points, float64",
        problem=_made(MeansProblem, 20_000, 64, "float64"),
        tolerance=1e-9,
        contenders=BOTH,
        goals=(times_faster("scikit_learn", 15),),
    ),
]
