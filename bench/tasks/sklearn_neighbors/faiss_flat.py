# bench/tasks/sklearn_neighbors/faiss_flat.py - faiss without an index
# structure.
"""faiss, IndexFlatL2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import faiss
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.sklearn_problems import NearestProblem

PACKAGES = ("faiss-cpu",)


def prepare(problem: NearestProblem) -> Callable[[], Any]:
    """Copies y into the index, which is not timed."""
    index = faiss.IndexFlatL2(problem.y.shape[1])
    index.add(problem.y)

    def run() -> Any:
        squares, places = index.search(problem.x, problem.count)
        return np.sqrt(np.maximum(squares, 0)), places

    return run
