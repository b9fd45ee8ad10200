# bench/tasks/batches/ceiling.py - the hand-written kernel of bench/ceiling.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.ceiling_library import batches, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.batches.task import BatchProblem


def prepare(problem: BatchProblem) -> Callable[[], Any]:
    """Loads the library."""
    return partial(batches, load(), problem)
