# bench/tasks/scipy_operators/one_by_one.py - SciPy's own wrapper of a kernel.
"""SciPy, aslinearoperator(K)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.spectra import TEXT
from scipy.sparse.linalg import aslinearoperator

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.spectra import Points

PACKAGES = ("scipy", "tilefold")


def prepare(problem: Points) -> Callable[[], Any]:
    """Compiles on the first 100 points."""
    few = tilefold.kernel(TEXT, x=problem.x[:100])
    few.matvec(problem.columns[:100, 0])
    whole = aslinearoperator(tilefold.kernel(TEXT, x=problem.x))
    return lambda: whole.matmat(problem.columns)
