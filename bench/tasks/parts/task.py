# bench/tasks/parts/task.py - a reduction whose points come in parts.
"""The Gaussian sum in one call, and in parts that are merged: by
`tilefold.Reduction` in one process, by Dask on threads and on two processes of
one thread, from arrays in memory and chunks of 2¹⁸ points. All of tilefold's
rows have the same bits but the first. dask_ml makes the matrix, block by
block."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import slower_at_most, times_faster
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Points in parts"
TABLE = "times"
CHUNK = 2**18


def _make(n: int, m: int, quick: bool) -> GaussianProblem:
    sizes = (200, 5000) if quick else (n, m)
    return GaussianProblem(GaussianSizes(*sizes, 3, "float32"))


CASES = [
    Case(
        name="parts_long",
        title="N = 4000, M = 4·10⁶, D = 3, float32",
        problem=partial(_make, 4000, 4_000_000),
        tolerance=1e-5,
        contenders=(
            "tilefold",
            "tilefold_segments",
            "tilefold_parts",
            "dask_threads",
            "dask_processes",
        ),
        goals=(
            slower_at_most("tilefold_segments", 1.03),
            slower_at_most("dask_processes", 1.3),
        ),
    ),
    Case(
        name="parts_square",
        title="N = 2000, M = 10⁵, D = 3, float32",
        problem=partial(_make, 2000, 100_000),
        tolerance=1e-5,
        goals=(times_faster("dask_ml", 100),),
    ),
]
