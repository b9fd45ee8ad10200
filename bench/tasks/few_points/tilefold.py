# bench/tasks/few_points/tilefold.py - the formula for any sizes.
"""tilefold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.points import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Compiles in a whole call: shapes of one row may choose the kernel."""
    formula = tilefold.compile(TEXT)
    formula(**problem.arguments)
    return partial(formula, **problem.arguments)
