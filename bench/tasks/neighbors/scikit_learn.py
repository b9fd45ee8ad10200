# bench/tasks/neighbors/scikit_learn.py - scikit-learn without a tree.
"""scikit-learn, brute force."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.neighbors import NearestNeighbors

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.neighbors import NeighborProblem

PACKAGES = ("scikit-learn",)


def prepare(problem: NeighborProblem) -> Callable[[], Any]:
    """Keeps y, which is not timed."""
    search = NearestNeighbors(n_neighbors=problem.count, algorithm="brute")
    search.fit(problem.y)
    return partial(search.kneighbors, problem.x, return_distance=False)
