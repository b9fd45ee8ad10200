# bench/tasks/scipy_operators/scipy_dense.py - the matrix in memory.
"""SciPy, with the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench.spectra import COUNT, TOLERANCE
from scipy.sparse.linalg import eigsh

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.spectra import Points

PACKAGES = ("numpy", "scipy")
SAMPLES = 3


def prepare(problem: Points) -> Callable[[], Any]:
    """The matrix is made in float32, in place: 1.6 GB."""
    x = problem.x
    start = np.ones(problem.n, np.float32)

    def run() -> Any:
        squares = np.einsum("nd,nd->n", x, x)
        matrix = x @ x.T
        matrix -= squares[:, None] / 2
        matrix -= squares / 2
        np.exp(matrix, out=matrix)
        return eigsh(matrix, COUNT, tol=TOLERANCE, v0=start)

    return run
