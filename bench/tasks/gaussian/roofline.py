# bench/tasks/gaussian/roofline.py - the kernel of bench/roofline.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.roofline_library import gaussian, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Loads the library."""
    return partial(gaussian, load(), problem)
