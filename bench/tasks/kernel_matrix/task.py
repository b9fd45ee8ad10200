# bench/tasks/kernel_matrix/task.py - all elements of a Gaussian kernel.
"""The matrix exp(-|x_i - x_j|²/2l²) in memory, of uniform points, float32.
The error is that of elements, of which none is above 1."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import times_faster
from bench.matrices import MatrixProblem

TITLE = "Kernel matrix"
TABLE = "times"


def make(points: int, d: int, product: bool, quick: bool) -> MatrixProblem:
    """Few points for a quick run."""
    return MatrixProblem(300 if quick else points, d, product)


def cases(task: str, product: bool) -> list[Case]:
    """Of both sizes and dimensions."""
    return [
        Case(
            name=f"{task}_n{points}_d{dimension}",
            goals=(times_faster("torch_broadcast", 30 if product else 10),),
            title=f"N = {points:,}, D = {dimension}, float32",
            problem=partial(make, points, dimension, product),
            rated=True,
            tolerance=1e-5,
        )
        for points in (2_000, 5_000)
        for dimension in (2, 10)
    ]


CASES = cases("kernel_matrix", product=False)
