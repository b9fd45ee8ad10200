# python_bindings/tilefold/dask_solve.py - linear systems over Dask's arrays.
"""`conjugate_gradients`: (K + ridge·I) x = b, K in products over chunks.

Vectors are Dask's arrays that are kept where they were computed (`persist`);
every iteration is one graph, of the product and of the sums it needs.
M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear
systems, 1952.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import compute, persist

from tilefold import _core
from tilefold.solve import SolveInfo

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["conjugate_gradients"]

_CHOICES = {
    "method": ("cg", "auto"),
    "preconditioner": (None, "auto", "none"),
    "rank": (None,),
}


def conjugate_gradients(
    times: Callable[[Any], Any],
    side: Any,
    ridge: Any,
    dtype: str,
    options: dict[str, Any],
) -> tuple[Any, SolveInfo, str]:
    """The solution, how it went, and what to warn of."""
    for name, choices in _CHOICES.items():
        if options[name] not in choices:
            given = ", ".join(map(repr, choices))
            _core.fail(
                "BadOption",
                name,
                f"{options[name]!r} over Dask's arrays",
                f"pass {given}, or arrays of one machine",
            )
    b = da.asarray(side).astype(np.float64)

    def multiplied(vectors: Any) -> Any:
        product = times(vectors.astype(dtype)).astype(np.float64)
        return product.rechunk(vectors.chunks) + ridge * vectors

    most = options["maxiter"]
    if most is None:
        most = min(10 * len(b), 1000)
    x, count, is_definite = _iterated(multiplied, b, options["rtol"], most)
    left, norms = compute(_norms(b - multiplied(x)), _norms(b))
    residuals = np.where(norms > 0, left / np.where(norms > 0, norms, 1), left)
    converged = bool((residuals <= options["rtol"]).all())
    warning = ""
    if not converged:
        why = "" if is_definite else ", for the matrix is not positive definite"
        warning = (
            f"the solve ended after {count} iterations with a residual of "
            f"{residuals.max():.2g}{why}: raise maxiter, rtol or the ridge"
        )
    solution = x.astype(dtype)
    return solution, SolveInfo(count, residuals, converged, 0), warning


def _iterated(
    multiplied: Callable[[Any], Any], b: Any, rtol: float, most: int
) -> tuple[Any, int, bool]:
    """The iterate, how many products it took, and whether all went well."""
    x, residual, direction = persist(da.zeros_like(b), b, b)
    squares = first = _squares(residual).compute()
    goal = rtol**2 * first
    count = 0
    while count < most and (squares > goal).any():
        product = multiplied(direction)
        product, curvature = persist(product, (direction * product).sum(axis=0))
        curvature = np.asarray(curvature)
        count += 1
        if not (curvature[()] > 0)[squares > goal].all():
            return x, count, False
        step = np.where(squares > goal, squares, 0) / np.where(
            curvature > 0, curvature, 1
        )
        x = x + step * direction
        residual = residual - step * product
        x, residual, now = persist(x, residual, _squares(residual))
        before, squares = squares, np.asarray(now)
        ratio = squares / np.where(before > 0, before, 1)
        direction = residual + ratio * direction
    return x, count, True


def _squares(vectors: Any) -> Any:
    """The squared length of each column."""
    return (vectors * vectors).sum(axis=0)


def _norms(vectors: Any) -> Any:
    return da.sqrt(_squares(vectors))
