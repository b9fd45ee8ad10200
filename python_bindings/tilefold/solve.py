# python_bindings/tilefold/solve.py - what `Kernel.solve` gives back.
"""Linear systems with kernels, as `Kernel.solve` hands them over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilefold import _core

if TYPE_CHECKING:
    from tilefold.kernel import Kernel

__all__ = ["SolveInfo"]


class SolveInfo(NamedTuple):
    """How a solve went.

    `residuals` are |b - (K + ridge) x| / |b| of each column, of shape () for
    a vector b, recomputed from x in double precision; `converged` says
    whether all are at most rtol. `rank` is that of the preconditioner, 0
    without one.
    """

    iterations: int
    residuals: np.ndarray[Any, np.dtype[np.float64]]
    converged: bool
    rank: int


def solve(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, SolveInfo, str]:
    """The solution, how it went, and what to warn of it."""
    pair = kernel._pair
    if hasattr(ridge, "detach"):
        ridge = ridge.detach()  # a number now; its graph is not looked at
    name = pair.formula._unused_name()
    x, iterations, residuals, converged, rank, warning = _core._solve(
        pair.around("sum", kernel._columns, weights=name),
        pair.formula,
        {**pair.arguments, name: side},
        name,
        pair.settings,
        {"ridge": ridge, **options},
    )
    shape = () if x.ndim == 1 else (-1,)
    found = np.array(residuals).reshape(shape)
    return x, SolveInfo(iterations, found, converged, rank), warning
