# bench/tasks/neighbors/tilefold.py - argkmin over j.
"""tilefold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.neighbors import NeighborProblem

PACKAGES = ("tilefold",)


def prepare(problem: NeighborProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    formula = tilefold.compile(problem.text)
    formula({**problem.arguments, "x": problem.x[:8]})
    return partial(formula, **problem.arguments)
