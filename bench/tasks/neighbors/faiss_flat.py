# bench/tasks/neighbors/faiss_flat.py - faiss without an index structure.
"""faiss, IndexFlatL2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import faiss

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.neighbors import NeighborProblem

PACKAGES = ("faiss-cpu",)


def prepare(problem: NeighborProblem) -> Callable[[], Any]:
    """Copies y into the index, which is not timed."""
    index = faiss.IndexFlatL2(problem.y.shape[1])
    index.add(problem.y)
    return lambda: index.search(problem.x, problem.count)[1]
