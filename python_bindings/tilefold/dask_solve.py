# python_bindings/tilefold/dask_solve.py - linear systems over Dask's arrays.
"""`solved`: (K + ridge·I) x = b, K in products over chunks.

Vectors are Dask's arrays that are kept where they were computed (`persist`);
an iteration is a graph or two, of the product and of the sums it needs.

M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear
systems, 1952. C. C. Paige and M. A. Saunders, Solution of sparse indefinite
systems of linear equations, 1975.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import compute, persist

from tilefold import _core
from tilefold.solve import SolveInfo, require_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilefold.dask_preconditioner import Nystrom

__all__ = [
    "NOT_SYMMETRIC",
    "SYMMETRIC",
    "System",
    "check",
    "dots",
    "is_symmetric",
    "solved",
]

NOT_SYMMETRIC = "the matrix is not symmetric or Hermitian"
SYMMETRIC = (
    "write a formula in which i and j may change places, as that of "
    "(K + K.T)/2 is"
)
_CHOICES = {
    "method": ("cg", "minres", "auto"),
    "preconditioner": ("auto", "nystrom", None, "none"),
}


@dataclass(frozen=True)
class System:
    """K + ridge·I, symmetric or Hermitian.

    `times` multiplies vectors of a dtype, which are kept in double precision.
    """

    times: Callable[[Any], Any]
    ridge: float
    dtype: str

    @property
    def wide(self) -> Any:
        """What vectors are kept in."""
        return np.result_type(self.dtype, np.float64)

    def __call__(self, vectors: Any) -> Any:
        """The product with vectors, of the same chunks."""
        product = self.times(vectors.astype(self.dtype)).astype(self.wide)
        return product.rechunk(vectors.chunks) + self.ridge * vectors


def check(options: dict[str, Any], ridge: Any) -> None:
    """Refuses settings that are none, as solves in memory do."""
    for name, choices in _CHOICES.items():
        if name in options and options[name] not in choices:
            given = ", ".join(map(repr, choices))
            _core.fail(
                "BadOption",
                name,
                f"{options[name]!r} over Dask's arrays",
                f"pass {given}, or arrays of one machine",
            )
    any_ridge = options.get("method") == "minres"
    if not np.isfinite(ridge) or (ridge < 0 and not any_ridge):
        cure = "pass a number, 0 or above; method='minres' takes any"
        if any_ridge:
            cure = "pass a finite number"
        _core.fail("BadOption", "ridge", repr(ridge), cure)
    if not options.get("rtol", 1) > 0:
        _core.fail(
            "BadOption", "rtol", repr(options["rtol"]), "pass a number above 0"
        )
    require_counts(options, maxiter=1, rank=1, probes=2)


def solved(
    system: System,
    side: Any,
    options: dict[str, Any],
    preconditioner: Nystrom | None,
) -> tuple[Any, SolveInfo, str]:
    """The solution, how it went, and what to warn of."""
    b = da.asarray(side).astype(system.wide)
    most = options["maxiter"]
    if most is None:
        most = min(10 * len(b), 1000)
    method, rtol = options["method"], options["rtol"]
    count, is_definite = 0, True
    if method != "minres":
        x, count, is_definite = _conjugate(
            system, b, rtol, most, preconditioner
        )
    if method == "minres" or (method == "auto" and not is_definite):
        x, more = _minimal(system, b, rtol, most - count)
        count, is_definite, preconditioner = count + more, True, None
    left, norms = compute(_norms(b - system(x)), _norms(b))
    residuals = np.where(norms > 0, left / np.where(norms > 0, norms, 1), left)
    converged = bool((residuals <= rtol).all())
    warning = ""
    if not converged:
        why, cure = "", "raise maxiter, rtol or the ridge"
        if not is_symmetric(system, b.chunks[0]):
            why, cure = f", for {NOT_SYMMETRIC}", SYMMETRIC
        elif not is_definite:
            why = ", for the matrix is not positive definite"
            cure = "pass method='minres', or raise the ridge"
        warning = (
            f"the solve ended after {count} iterations with a residual of "
            f"{residuals.max():.2g}{why}: {cure}"
        )
    rank = preconditioner.rank if preconditioner else 0
    solution = x.astype(system.dtype)
    return solution, SolveInfo(count, residuals, converged, rank), warning


def is_symmetric(system: System, chunks: tuple[int, ...]) -> bool:
    """Whether the matrix is, or Hermitian, as far as a product tells.

    v·(A w) and w·(A v) are the same number then, of random vectors, too.
    """
    random = da.random.default_rng(0)
    numbers = random.uniform(-1, 1, size=(sum(chunks), 4), chunks=(chunks, -1))
    vectors = numbers[:, :2].astype(system.wide)
    if np.issubdtype(system.wide, np.complexfloating):
        vectors = vectors + 1j * numbers[:, 2:]
    images = system(vectors)
    sides, lengths, stretched = compute(
        dots(vectors, images[:, ::-1]), _norms(vectors), _norms(images)
    )
    size = float((lengths * stretched[::-1]).sum())
    tolerance = max(1e-8, 1e3 * float(np.finfo(system.dtype).eps))
    return not abs(sides[0] - sides[1]) > tolerance * size


def _conjugate(
    system: System,
    b: Any,
    rtol: float,
    most: int,
    preconditioner: Nystrom | None,
) -> tuple[Any, int, bool]:
    """The iterate, how many products it took, and whether all went well."""
    first = da.zeros_like(b), b, _solved(preconditioner, b)
    x, residual, direction = persist(*first)
    squares, products = compute(
        dots(residual, residual), dots(residual, direction)
    )
    goal = rtol**2 * squares
    count = 0
    while count < most and (squares > goal).any():
        product = system(direction)
        # Kept, or its graph would hold all directions before it.
        direction, product, curvature = persist(
            direction, product, dots(direction, product)
        )
        curvature = np.asarray(curvature)
        count += 1
        if not (curvature[()] > 0)[squares > goal].all():
            return x, count, False
        step = np.where(squares > goal, products, 0) / np.where(
            curvature > 0, curvature, 1
        )
        x = x + step * direction
        residual = residual - step * product
        inner = _solved(preconditioner, residual)
        x, residual, inner, now, later = persist(
            x,
            residual,
            inner,
            dots(residual, residual),
            dots(residual, inner),
        )
        squares, before = np.asarray(now), products
        products = np.asarray(later)
        ratio = products / np.where(before > 0, before, 1)
        direction = inner + ratio * direction
    return x, count, True


def _minimal(system: System, b: Any, rtol: float, most: int) -> tuple[Any, int]:
    """The iterate of minimal residuals, and how many products it took."""
    x, v = persist(da.zeros_like(b), b)
    norm = np.sqrt(dots(v, v).compute())
    goal = rtol * norm
    left = norm.copy()  # of each column's residual, with a sign
    before = w = w_before = da.zeros_like(b)
    c = c_before = np.ones_like(norm)
    s = s_before = np.zeros_like(norm)
    count = 0
    while count < most and (abs(left) > goal).any():
        v = v / np.where(norm > 0, norm, 1)
        product = system(v)
        v, product, along = persist(v, product, dots(v, product))
        along = np.asarray(along)
        count += 1
        product = product - along * v - norm * before
        before, length = v, norm
        v, norm = persist(product, _norms(product))
        norm = np.asarray(norm)
        rest = c * along - c_before * s * length
        radius = np.hypot(rest, norm)
        above = s * along + c_before * c * length
        two_above = s_before * length
        radius = np.where(radius > 0, radius, 1)
        w_before, w = w, (before - two_above * w_before - above * w) / radius
        c_before, s_before = c, s
        c, s = rest / radius, norm / radius
        step = np.where(abs(left) > goal, c * left, 0)
        x, w = persist(x + step * w, w)
        left = np.where(abs(left) > goal, -s * left, left)
    return x, count


def _solved(preconditioner: Nystrom | None, vectors: Any) -> Any:
    """P⁻¹ vectors."""
    return preconditioner.inverse(vectors) if preconditioner else vectors


def dots(one: Any, other: Any) -> Any:
    """The real part of the inner product of columns."""
    if np.issubdtype(one.dtype, np.complexfloating):
        return (one.conj() * other).real.sum(axis=0)
    return (one * other).sum(axis=0)


def _norms(vectors: Any) -> Any:
    return da.sqrt(dots(vectors, vectors))
