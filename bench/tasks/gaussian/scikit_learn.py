# bench/tasks/gaussian/scikit_learn.py - scikit-learn's chunked distances.
"""scikit-learn, distances in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import pairwise_distances_chunked

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("scikit-learn",)
MEBIBYTES = 16  # of a chunk; more is slower


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Squared distances chunk by chunk, then exponentials and a product."""
    x, y, b = problem.x, problem.y, problem.b
    scale = -problem.scale

    def reduce(chunk: Any, _: int) -> Any:
        np.multiply(chunk, scale, out=chunk)
        return np.exp(chunk, out=chunk) @ b

    def run() -> Any:
        chunks = pairwise_distances_chunked(
            x,
            y,
            reduce_func=reduce,
            metric="euclidean",
            squared=True,
            working_memory=MEBIBYTES,
        )
        return np.concatenate(list(chunks))

    return run
