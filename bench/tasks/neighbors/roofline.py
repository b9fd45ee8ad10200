# bench/tasks/neighbors/roofline.py - the kernel of bench/roofline.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.roofline_library import load, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.neighbors import NeighborProblem


def prepare(problem: NeighborProblem) -> Callable[[], Any]:
    """Loads the library."""
    return partial(nearest, load(), problem)
