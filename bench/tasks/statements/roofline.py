# bench/tasks/statements/roofline.py - the arithmetic itself.
"""hand-written AVX-512, the arithmetic alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench.roofline_library import load, statements
from bench.statements import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.statements import StatementProblem


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """Calls are made in C++."""
    return in_turn(partial(statements, load(), problem))
