# bench/tasks/gaussian/pykeops.py - KeOps through its NumPy front end.
"""pykeops, Genred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.keops import gaussian

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("pykeops",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    x, y = problem.x, problem.y
    scale = np.array([problem.scale], x.dtype)
    b = problem.b.reshape(len(y), -1)
    formula = gaussian(x.shape[1], b.shape[1])
    formula(x[:8], y, b, scale, backend="CPU")
    return lambda: formula(x, y, b, scale, backend="CPU")
