# bench/tasks/scipy_operators/tilefold.py - tilefold.scipy.operator.
"""tilefold.scipy.operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.spectra import COUNT, TEXT, TOLERANCE, Spectrum
from scipy.sparse.linalg import eigsh

import tilefold
from tilefold.scipy import operator

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.spectra import Points

PACKAGES = ("scipy", "tilefold")


def prepare(problem: Points) -> Callable[[], Any]:
    """Compiles on the first 100 points."""
    few = operator(tilefold.kernel(TEXT, x=problem.x[:100]))
    few.matmat(problem.columns[:100])
    few.matvec(problem.columns[:100, 0])
    whole = operator(tilefold.kernel(TEXT, x=problem.x))
    if not isinstance(problem, Spectrum):
        return lambda: whole.matmat(problem.columns)
    start = np.ones(problem.n, np.float32)
    return lambda: eigsh(whole, COUNT, tol=TOLERANCE, v0=start)
