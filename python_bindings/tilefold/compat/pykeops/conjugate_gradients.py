# python_bindings/tilefold/compat/pykeops/conjugate_gradients.py - systems.
"""`conjugate_gradients`: KeOps's solver of positive definite systems."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from tilefold.errors import ConvergenceWarning

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["conjugate_gradients"]

# Conjugate gradients are done after as many steps as there are unknowns, but
# for rounding; beyond this many times that, the operator is not one for them.
_STEPS_OF_UNKNOWNS = 10
_LEAST_STEPS = 1000


def conjugate_gradients(
    linop: Callable[[Any], Any], b: Any, eps: float = 1e-6
) -> Any:
    """The solution of linop(x) = b, by conjugate gradients from 0.

    `linop`: a linear map of arrays of b's shape, symmetric and positive
    definite. Stops where |r|² < size(b)·eps² (Hestenes & Stiefel, 1952). Where
    the map is not definite or holds NaN, or after ten times as many steps as
    unknowns, it stops with a `tilefold.ConvergenceWarning`.
    """
    size = math.prod(b.shape)
    least = size * eps**2
    x, r = b * 0, b
    square = (r * r).sum()
    p = r
    if not size:
        return x
    for _ in range(max(_LEAST_STEPS, _STEPS_OF_UNKNOWNS * size)):
        if square <= least:
            return x
        applied = linop(p)
        curvature = (p * applied).sum()
        if not curvature > 0:
            break
        step = square / curvature
        x = x + step * p
        r = r - step * applied
        before, square = square, (r * r).sum()
        p = r + (square / before) * p
    if not square <= least:
        warnings.warn(
            f"conjugate gradients stopped at a residual of "
            f"{float(square) ** 0.5:.3g}, and should reach "
            f"{float(least) ** 0.5:.3g}: the operator is not positive definite "
            "or too badly conditioned; raise alpha or eps",
            ConvergenceWarning,
            stacklevel=2,
        )
    return x
