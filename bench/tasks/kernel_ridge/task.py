# bench/tasks/kernel_ridge/task.py - kernel machines of scikit-learn.
"""Fits of estimators with a Gaussian kernel, D = 8, and Nystroem's features
with their points transformed: tilefold.sklearn beside scikit-learn in float64,
and ridge regression on 1,000 centres (FALKON: 20 steps at most) in float32
beside the same algorithm on blocks of torch. Spectral clusters are those of two
circles. Errors are those of the equations on some rows, of products of
features, of predicted values, and the share of misplaced points."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.case import Case
from bench.goals import Goal, number_at, times_faster
from bench.kernel_machines import Clusters, Features, OnCentres, Ridge

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Kernel machines"
TABLE = "sweep"


def _memory(rows: Any) -> float | None:
    """scikit-learn's peak by that of tilefold."""
    theirs = number_at(rows, "scikit_learn/peak_bytes")
    own = number_at(rows, "tilefold/peak_bytes")
    return None if theirs is None or own is None else theirs / max(own, 1)


def _of(make: Callable[..., Any], count: int, quick: bool) -> Any:
    """The problem, or a small one."""
    return make(1_500 if quick else count)


SKLEARN = ("scikit_learn", "tilefold")
CASES = [
    Case(
        name="kernel_ridge_n10000",
        title="KernelRidge, 10,000 points",
        problem=partial(_of, Ridge, 10_000),
        tolerance=1e-5,
        contenders=SKLEARN,
        goals=(
            times_faster("scikit_learn", 5),
            Goal(
                "memory of scikit_learn by that of tilefold",
                _memory,
                50,
                True,
            ),
        ),
    ),
    Case(
        name="kernel_ridge_nystroem",
        title="Nystroem, 50,000 points, 100 features",
        problem=partial(_of, partial(Features, centres=100), 50_000),
        tolerance=1e-6,
        contenders=SKLEARN,
        goals=(times_faster("scikit_learn", 2),),
    ),
    Case(
        name="kernel_ridge_falkon",
        title="NystroemRidge, 50,000 points, 1,000 centres",
        problem=partial(
            _of, partial(OnCentres, centres=1_000, dtype="float32"), 50_000
        ),
        tolerance=5e-3,
        contenders=("torch_blocks", "tilefold"),
        goals=(times_faster("torch_blocks", 15),),
    ),
    Case(
        name="kernel_ridge_spectral",
        title="SpectralClustering, 4,000 points",
        problem=partial(_of, Clusters, 4_000),
        tolerance=0.01,
        contenders=SKLEARN,
        goals=(times_faster("scikit_learn", 3),),
    ),
]
