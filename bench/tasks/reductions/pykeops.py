# bench/tasks/reductions/pykeops.py - KeOps' reductions of the same names.
"""pykeops, Genred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.keops import over_j

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.reductions.task import ReductionProblem

PACKAGES = ("pykeops",)
FORMULAS = {
    "logsumexp": ("LogSumExp", "-SqDist(x,y)*IntInv(2)"),
    "argmin": ("ArgMin", "SqDist(x,y)"),
    "max": ("Max", "SqDist(x,y)"),
}


def prepare(problem: ReductionProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    x, y = problem.x, problem.y
    formula = over_j(*FORMULAS[problem.operation], x.shape[1])
    formula(x[:8], y, backend="CPU")
    return lambda: formula(x, y, backend="CPU")
