# bench/tasks/peak_memory/task.py - the memory of 10¹² pairs.
"""The whole Gaussian sum of 10⁶ × 10⁶ points in three dimensions, with eight
threads asked for whatever the number of cores. The matrix would take 3.6 TiB.
Memory is the growth of the resident peak during the call, beyond inputs and
result; threads are those that used CPU time during the call."""

from __future__ import annotations

from bench.case import Case
from bench.goals import at_least, at_most
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Peak memory"
TABLE = "times"
THREADS = 8


def make(quick: bool) -> GaussianProblem:
    """10⁶ points on either axis."""
    size = 60_000 if quick else 1_000_000
    return GaussianProblem(GaussianSizes(size, size, 3, "float32"))


CASES = [
    Case(
        name="peak_memory",
        title="N = M = 10⁶, D = 3, float32, 8 threads asked",
        problem=make,
        rated=True,
        tolerance=1e-5,
        samples=0,
        timeout=1800.0,
        goals=(
            at_most(
                "peak memory, N = M = 10⁶, 8 threads",
                "tilefold/peak_bytes",
                64,
                2**-20,
                " MiB",
            ),
            at_least(
                "threads seen of 8 asked",
                "tilefold/notes/threads",
                THREADS,
            ),
        ),
    )
]
