# bench/tasks/statements/tilefold_bound.py - arrays that stay where they are.
"""tilefold, from Python, bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.tasks.statements.tilefold import PACKAGES, compiled_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.statements import StatementProblem

__all__ = ["PACKAGES", "prepare"]


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """Each array is bound once; a call has no arguments."""
    return compiled_once(problem, lambda formula, x: formula.bind(x=x))
