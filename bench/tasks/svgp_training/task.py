# bench/tasks/svgp_training/task.py - a step that fits a sparse process.
"""The evidence lower bound of a minibatch and the gradients of all parameters:
GPyTorch's whitened strategy, `ScaleKernel(RBFKernel())`, D = 4, float32. The
matrices have to be there for Cholesky decompositions, whose time it is
mostly."""

from __future__ import annotations

from bench.case import Case
from bench.gp_problems import SparseProblem

TITLE = "A step of a sparse Gaussian process (SVGP)"
TABLE = "times"


def _make(quick: bool) -> SparseProblem:
    return SparseProblem(64, 128) if quick else SparseProblem(1024, 2048)


CASES = [
    Case(
        name="svgp_training",
        title="1,024 points, 2,048 inducing points, D = 4, float32",
        problem=_make,
        tolerance=1e-2,
    )
]
