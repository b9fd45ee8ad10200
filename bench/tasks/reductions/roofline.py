# bench/tasks/reductions/roofline.py - the kernel of bench/roofline.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.roofline_library import load, reduction

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.reductions.task import ReductionProblem


def prepare(problem: ReductionProblem) -> Callable[[], Any]:
    """Loads the library."""
    return partial(reduction, load(), problem)
