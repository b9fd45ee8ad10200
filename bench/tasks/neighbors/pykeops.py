# bench/tasks/neighbors/pykeops.py - KeOps' ArgKMin.
"""pykeops, Genred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.keops import over_j

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.neighbors import NeighborProblem

PACKAGES = ("pykeops",)


def prepare(problem: NeighborProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    x, y = problem.x, problem.y
    formula = over_j(
        "ArgKMin", "SqDist(x,y)", x.shape[1], opt_arg=problem.count
    )
    formula(x[:8], y, backend="CPU")
    return lambda: formula(x, y, backend="CPU")
