# bench/tasks/gaussian/tilefold.py - the formula, compiled by tilefold.
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
    """Compiles on the first 8 rows."""
    formula = tilefold.compile(TEXT)
    formula({**problem.arguments, "x": problem.x[:8]})
    return partial(formula, **problem.arguments)
