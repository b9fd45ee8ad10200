# bench/tasks/accuracy/task.py - how far float32 results are from float64.
"""Largest relative error of a row of the Gaussian sum against float64, for
float32 inputs taken as exact. Nothing is timed, and no error is too large to
be shown. Two things go wrong in practice: plain sums of many terms, and
coordinates whose differences are small beside them."""

from __future__ import annotations

import math
from functools import partial

from bench.case import Case
from bench.goals import at_most
from bench.points import GaussianProblem, GaussianSizes

TITLE = "Accuracy"
TABLE = "errors"
CONTENDERS_OF = "gaussian"


def _make(terms: int, offset: float, quick: bool) -> GaussianProblem:
    terms = min(terms, 10_000) if quick else terms
    sizes = GaussianSizes(64, terms, 3, "float32", offset, positive=True)
    return GaussianProblem(sizes)


def _case(
    name: str, title: str, terms: int, offset: float, limit: float
) -> Case:
    goal = at_most(f"error, {title}", "tilefold/error", limit)
    return Case(
        name=name,
        title=title,
        problem=partial(_make, terms, offset),
        tolerance=math.inf,
        samples=0,
        goals=(goal,) if limit < math.inf else (),
    )


CASES = [
    _case("accuracy_few", "10³ positive terms", 1_000, 0, math.inf),
    _case("accuracy_many", "10⁶ positive terms", 1_000_000, 0, 2e-7),
    _case(
        "accuracy_offset",
        "10⁶ positive terms, points offset by 1000",
        1_000_000,
        1000.0,
        2e-7,
    ),
]
