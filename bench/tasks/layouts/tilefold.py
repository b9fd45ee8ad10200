# bench/tasks/layouts/tilefold.py - rows one after the other.
"""tilefold, contiguous."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.layouts import laid_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """As NumPy makes them."""
    return laid_out(problem, np.ascontiguousarray)
