# bench/tasks/gaussian/tilefold_tolerance.py - the formula, with distances that
# may be as inexact as those of a matrix product.
"""tilefold, tolerance 1e-5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.case import Absent
from bench.formula_run import FormulaRun

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)
LEAST_DIMENSION = 8


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    if problem.x.shape[1] < LEAST_DIMENSION or problem.x.dtype != "float32":
        why = "without effect on short vectors and on float64"
        raise Absent(why)
    few = {**problem.arguments, "x": problem.x[:8]}
    options = tilefold.Options(tolerance=1e-5)
    return FormulaRun(problem.text, problem.arguments, few, options)
