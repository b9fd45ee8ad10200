# bench/tasks/few_points/task.py - one point against ten million.
"""The Gaussian sum in three dimensions of one point with 10⁷, float32: all
terms go to one result, or each result has one term. The read-only pass only
finds the largest number of each input: what memory allows, and no result to
compare."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import at_least
from bench.points import GaussianProblem, GaussianSizes

TITLE = "One point on an axis"
TABLE = "times"
MANY, QUICK = 10_000_000, 100_000


SHARE = at_least(
    "share of a read-only pass", "read_only/times_tilefold/median", 0.8
)


def _make(rows: bool, quick: bool) -> GaussianProblem:
    """Many rows and one term, or one row of many terms."""
    many = QUICK if quick else MANY
    n, m = (many, 1) if rows else (1, many)
    return GaussianProblem(GaussianSizes(n, m, 3, "float32"))


def _case(name: str, title: str, rows: bool) -> Case:
    return Case(
        name=name,
        goals=(SHARE,),
        title=f"{title}, D = 3, float32",
        problem=partial(_make, rows),
        rated=True,
        tolerance=1e-5,
    )


CASES = [
    _case("few_points_n1", "N = 1, M = 10⁷", rows=False),
    _case("few_points_m1", "N = 10⁷, M = 1", rows=True),
]
