# bench/tasks/batches/roofline.py - the kernel of bench/roofline.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.roofline_library import batches, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.batches.task import BatchProblem


def prepare(problem: BatchProblem) -> Callable[[], Any]:
    """Loads the library."""
    return partial(batches, load(), problem)
