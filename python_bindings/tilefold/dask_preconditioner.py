# python_bindings/tilefold/dask_preconditioner.py - Nyström's approximation
# over Dask's arrays.
"""`Nystrom`: P = L Lᴴ + shift·I of rows that are spread evenly.

L is a Dask array of as many columns as rows were taken, chunked as vectors
are. A. Gittens and M. W. Mahoney, Revisiting the Nyström method for improved
large-scale machine learning, 2016.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from dask.base import compute

if TYPE_CHECKING:
    from tilefold.kernel_matrix import Kernel

__all__ = ["Nystrom", "nystrom"]

_USUAL_RANK = 100
_SMALLEST_SHIFT = 1e-13  # as a share of the trace of L Lᴴ


class Nystrom:
    """P, by its factor L.

    Its inverse is Woodbury's, (I - L (shift + Lᴴ L)⁻¹ Lᴴ) / shift.
    """

    def __init__(self, factor: Any, gram: Any, shift: float) -> None:
        self.factor = factor
        self.shift = shift
        self.rank: int = factor.shape[1]
        inner = np.linalg.cholesky(gram + shift * np.eye(self.rank))
        self._inner = inner
        # L times the inverse of the inner factor: its square is all of it.
        self._halved = (factor @ np.linalg.inv(inner).conj().T).persist()

    def inverse(self, vectors: Any) -> Any:
        """P⁻¹ vectors, lazy."""
        inner = self._halved.conj().T @ vectors
        return (vectors - self._halved @ inner) / self.shift

    def coloured(self, inner: Any, vectors: Any) -> Any:
        """L inner + √shift vectors: of covariance P where both are of I."""
        return self.factor @ inner + np.sqrt(self.shift) * vectors

    def log_determinant(self) -> float:
        """Log det P, of det(shift + Lᴴ L) shift^(rows - rank)."""
        logs = 2 * np.log(np.diagonal(self._inner).real).sum()
        rest = self.factor.shape[0] - self.rank
        return float(logs + rest * np.log(self.shift))


def nystrom(
    kernel: Kernel, ridge: float, rank: int | None, chunks: Any
) -> Nystrom | None:
    """That of a kernel and a ridge; None where nothing is gained.

    `chunks` are those of the rows of vectors.
    """
    points = kernel.shape[-1]
    count = min(rank or _USUAL_RANK, points)
    rows = np.arange(count) * points // count
    wide = np.result_type(kernel._pair.dtype, np.float64)
    columns = kernel[:, rows].dense().astype(wide)
    columns = columns.rechunk((chunks, -1)).persist()
    core, trace = compute(columns[rows], kernel.diag().real.sum())
    values, vectors = np.linalg.eigh((core + core.conj().T) / 2)
    epsilon = float(np.finfo(kernel._pair.dtype).eps)
    kept = values > 4 * epsilon * count * max(values.max(initial=0), 0)
    if not kept.any() or not np.isfinite(core).all():
        return None
    factor = (columns @ (vectors[:, kept] / np.sqrt(values[kept]))).persist()
    gram = (factor.conj().T @ factor).compute()
    squares = float(np.trace(gram).real)
    shift = ridge if ridge > 0 else max(float(trace) - squares, 0.0) / points
    shift = max(shift, _SMALLEST_SHIFT * squares)
    return Nystrom(factor, gram, shift)
