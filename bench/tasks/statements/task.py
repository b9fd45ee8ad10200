# bench/tasks/statements/task.py - what a statement costs beside its work.
"""A chain of light statements (x + 0.1, sin, · 1.1, cos, + 0.2, relu, − 0.1,
exp(0.5x), + 0.3, sigmoid, · 1.2, sin, + 0.4, cos, − 0.2, relu, + 0.5,
exp(0.4x), · 1.3, sigmoid, and again), summed to a scalar, float32. Arrays are
(n, 16) with n = 4 … 13 in turn; the time is that of one call. The arithmetic
itself is written by hand, with sines as accurate as tilefold's, and called from
C++; tilefold may compile once."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import beyond
from bench.statements import StatementProblem

TITLE = "Statements"
TABLE = "sweep"
COUNTS = (1, 5, 10, 15, 20, 25, 30)


def _make(count: int, _: bool) -> StatementProblem:
    return StatementProblem(count)


CASES = [
    Case(
        name=f"statements_{count}",
        title=f"{count} statement{'s' * (count > 1)}",
        problem=partial(_make, count),
        tolerance=1e-6,
        goals=(
            beyond("from Python", "tilefold", "roofline", 2.5, 1e6, " µs"),
            beyond("from C++", "tilefold_cpp", "roofline", 0.15, 1e6, " µs"),
        ),
    )
    for count in COUNTS
]
