# bench/tasks/gp_training/task.py - a step that fits a Gaussian process.
"""The marginal log likelihood of an exact process of GPyTorch and the gradients
of all its parameters: `ScaleKernel(RBFKernel())`, D = 4, float32, conjugate
gradients to 0.01 with a preconditioner of rank 15 and ten probes
(`max_cholesky_size(0)`). What these leave of the determinant's gradient, beside
a Cholesky decomposition in float64, is the error."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import times_best_peer
from bench.gp_problems import ExactProblem

TITLE = "A step of an exact Gaussian process"
TABLE = "sweep"
COUNTS = (1_000, 3_000, 10_000)
MOST_OF_KEOPS = 3_000  # more take minutes without a preconditioner


def _make(count: int, quick: bool) -> ExactProblem:
    return ExactProblem(300 if quick else count)


CASES = [
    Case(
        name=f"gp_training_n{count}",
        title=f"{count:,} points",
        problem=partial(_make, count),
        tolerance=0.05,
        contenders=() if count <= MOST_OF_KEOPS else ("gpytorch", "tilefold"),
        goals=(times_best_peer(1),),
    )
    for count in COUNTS
]
