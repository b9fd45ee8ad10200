# bench/tasks/layouts/tilefold_column_major.py - Fortran's order.
"""tilefold, column-major."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.layouts import laid_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """All first coordinates, then all second ones."""
    return laid_out(problem, np.asfortranarray)
