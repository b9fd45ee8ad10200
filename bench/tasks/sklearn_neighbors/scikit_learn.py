# bench/tasks/sklearn_neighbors/scikit_learn.py - scikit-learn's own.
"""scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.sklearn_problems import DensityProblem, MeansProblem
from sklearn import cluster, neighbors

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ("scikit-learn",)


def prepare(problem: Any) -> Callable[[], Any]:
    """Fits, which is not timed."""
    if isinstance(problem, MeansProblem):
        return problem.prepared(cluster)
    if isinstance(problem, DensityProblem):
        return problem.prepared(neighbors, rtol=0, atol=0)
    return problem.prepared(neighbors, algorithm="brute")
