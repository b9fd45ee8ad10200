# python_bindings/tilefold/dask_logdet.py - log-determinants over Dask's arrays.
"""`log_determinant`: log det(K + ridge·I) by products over chunks.

S. Ubaru, J. Chen and Y. Saad, Fast estimation of tr(f(A)) via stochastic
Lanczos quadrature, 2017, as in runtime/solve/log_determinant.cpp: probes have
the covariance of a preconditioner P, and Gauss' quadrature, which is too large,
and Radau's, too small where the ridge bounds all eigenvalues, have the truth
between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import compute, persist

from tilefold.dask_solve import NOT_SYMMETRIC, SYMMETRIC, dots, is_symmetric
from tilefold.solve import LogdetInfo

if TYPE_CHECKING:
    from tilefold.dask_preconditioner import Nystrom
    from tilefold.dask_solve import System

__all__ = ["MOST_FACTORED", "factored", "log_determinant"]

MOST_FACTORED = 2000  # points below which the matrix is factored

_STRIDE = 5  # steps between two looks at the quadrature
_SMALL_PART = 0.1  # of the probes' error that the quadrature may leave
_ROUNDING = 1e-12  # of the value, in doubt whatever the probes say
_SLOWEST = 0.95  # by how much less a step changes than the one before

_INDEFINITE = (
    "the matrix is not positive definite, and has no log determinant: raise "
    "the ridge"
)


_ASYMMETRIC = f"{NOT_SYMMETRIC}, and is not factored: {SYMMETRIC}"


def factored(matrix: Any) -> tuple[float, LogdetInfo, str]:
    """The value of a matrix in memory, how it went, and what to warn of."""
    apart = np.abs(matrix - matrix.conj().T).max(initial=0)
    if apart > 1e-6 * np.abs(matrix).max(initial=0):
        return np.nan, LogdetInfo(np.nan, 0, 0, 0), _ASYMMETRIC
    try:
        diagonal = np.diagonal(np.linalg.cholesky(matrix)).real
    except np.linalg.LinAlgError:
        return np.nan, LogdetInfo(np.nan, 0, 0, 0), _INDEFINITE
    value = 2 * float(np.log(diagonal).sum())
    return value, LogdetInfo(0.0, 0, 0, 0), ""


def log_determinant(
    system: System,
    chunks: tuple[int, ...],
    options: dict[str, Any],
    preconditioner: Nystrom | None,
) -> tuple[float, LogdetInfo, str]:
    """The estimate, how it went, and what to warn of."""
    if not is_symmetric(system, chunks):
        info = LogdetInfo(np.nan, options["probes"], 0, 0)
        return np.nan, info, _ASYMMETRIC
    lanczos = _Lanczos(system, chunks, options, preconditioner)
    most = options["maxiter"] or 200
    rank = preconditioner.rank if preconditioner else 0
    value = error = np.nan
    settled, steps = False, 0
    while steps < min(most, sum(chunks)) and not settled:
        lanczos.step()
        steps += 1
        if steps % _STRIDE and steps < most and not lanczos.ended:
            continue
        value, error, settled = lanczos.estimate()
        if not np.isfinite(value):
            info = LogdetInfo(np.nan, options["probes"], steps, rank)
            return np.nan, info, _INDEFINITE
        settled = settled or lanczos.ended
    warning = ""
    if not settled:
        warning = (
            f"the log determinant was estimated in {steps} steps with an error "
            f"of {error:.2g}: raise maxiter or the ridge"
        )
    return value, LogdetInfo(error, options["probes"], steps, rank), warning


class _Lanczos:
    """Lanczos' method for all probes together.

    `w` is P⁻¹ v, and vᵀ w is 1. `diagonals` and `besides` are rows of the
    tridiagonal matrices, with a column for each probe.
    """

    def __init__(
        self,
        system: System,
        chunks: tuple[int, ...],
        options: dict[str, Any],
        preconditioner: Nystrom | None,
    ) -> None:
        self.system = system
        self.rows = sum(chunks)
        self.preconditioner = preconditioner
        self.diagonals: list[Any] = []
        self.besides: list[Any] = []
        self.last = self.last_change = np.inf
        probes = options["probes"]
        random = da.random.default_rng(options["seed"])
        shape = {"size": (self.rows, probes), "chunks": (chunks, -1)}
        if preconditioner is None:
            v = 2.0 * random.integers(0, 2, **shape) - 1
        else:
            inner = np.random.default_rng(options["seed"]).standard_normal(
                (preconditioner.rank, probes)
            )
            v = preconditioner.coloured(inner, random.standard_normal(**shape))
        v = v.astype(system.wide)
        w = self._solved(v)
        self.v, self.w, squares = persist(v, w, dots(v, w))
        self.before = da.zeros_like(self.v)
        self.beta = np.sqrt(squares.compute())

    def _solved(self, vectors: Any) -> Any:
        if self.preconditioner is None:
            return vectors
        return self.preconditioner.inverse(vectors)

    @property
    def ended(self) -> bool:
        """Whether the Krylov spaces have no more."""
        return bool((self.beta == 0).all())

    def step(self) -> None:
        """Adds a row to each tridiagonal matrix."""
        scale = np.where(
            self.beta > 0, 1 / np.where(self.beta, self.beta, 1), 0
        )
        v, w = self.v * scale, self.w * scale
        beta = self.beta if self.diagonals else np.zeros_like(self.beta)
        u = self.system(w) - self.before * beta
        alpha = dots(w, u)
        u = u - v * alpha
        inner = self._solved(u)
        self.before, self.v, self.w, alpha, squares = persist(
            v, u, inner, alpha, dots(u, inner)
        )
        alpha, squares = compute(alpha, squares)
        if self.diagonals:
            self.besides.append(self.beta)
        self.diagonals.append(np.where(self.beta > 0, alpha, 1.0))
        largest = np.abs(self.diagonals).max()
        ended = (self.beta == 0) | ~(
            squares > (np.finfo(float).eps * largest) ** 2
        )
        self.beta = np.where(ended, 0.0, np.sqrt(np.maximum(squares, 0)))

    def estimate(self) -> tuple[float, float, bool]:
        """The value and its error by now, and whether that is enough."""
        gauss = self.rows * _logs(self.diagonals, self.besides)
        gap = np.full_like(gauss, np.nan)
        node = self._bound()
        if node > 0:
            wider = _with_node(self.diagonals, self.besides, self.beta, node)
            gap = np.where(
                self.beta > 0, gauss - self.rows * _logs(*wider), 0.0
            )
        bounded = bool(np.isfinite(gap).all())
        middle = gauss - gap / 2 if bounded else gauss
        mean, count = float(middle.mean()), len(middle)
        spread = float(middle.std(ddof=1)) / np.sqrt(count)
        moved = abs(gap.mean()) / 2 if bounded else self._left_after(mean)
        value = mean
        if self.preconditioner is not None:
            value += self.preconditioner.log_determinant()
        doubt = _ROUNDING * (abs(value) + self.rows)
        settled = moved <= _SMALL_PART * spread or moved <= doubt
        return value, float(np.hypot(spread, moved)), bool(settled)

    def _bound(self) -> float:
        """A lower bound of all eigenvalues; 0 where none is known."""
        shift = self.preconditioner.shift if self.preconditioner else 1.0
        return (1 - 1e-9) * self.system.ridge / shift

    def _left_after(self, mean: float) -> float:
        """What later steps may still change, as far as the last ones tell."""
        change = abs(mean - self.last)
        ratio = _SLOWEST
        if np.isfinite(self.last_change) and change < self.last_change:
            ratio = min(_SLOWEST, change / self.last_change)
        self.last, self.last_change = mean, change
        return max(change, change * ratio / (1 - ratio))


def _logs(diagonals: list[Any], besides: list[Any]) -> Any:
    """e₁ᵀ log(T) e₁ of each probe; NaN where T is not positive definite."""
    size, probes = len(diagonals), len(diagonals[0])
    matrices = np.zeros((probes, size, size))
    rows = np.arange(size)
    matrices[:, rows, rows] = np.transpose(diagonals)
    if size > 1:
        matrices[:, rows[1:], rows[:-1]] = np.transpose(besides)
    if not np.isfinite(matrices).all():
        return np.full(probes, np.nan)
    values, vectors = np.linalg.eigh(matrices)  # reads the lower half
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(values > 0, np.log(values), np.nan)
    return (logs * vectors[:, 0] ** 2).sum(axis=1)


def _with_node(
    diagonals: list[Any], besides: list[Any], beta: Any, node: float
) -> tuple[list[Any], list[Any]]:
    """The matrices with an eigenvalue at a node below all others."""
    pivot = diagonals[0] - node
    with np.errstate(invalid="ignore", divide="ignore"):
        for diagonal, beside in zip(diagonals[1:], besides, strict=True):
            below = diagonal - node - beside**2 / pivot
            pivot = np.where(pivot > 0, below, np.nan)
        last = np.where(pivot > 0, node + beta**2 / pivot, np.nan)
    return [*diagonals, last], [*besides, beta]
