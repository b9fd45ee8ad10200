# tests/python/matrices.py - kernels and lazy matrices of every shape, and the
# arrays they stand for.
"""What tests of the matrix protocol share."""

from __future__ import annotations

import numpy as np

import tilefold
from conftest import gaussian

N, M, E, B = 4, 5, 3, 2
RANDOM = np.random.default_rng(11)
X, Y = RANDOM.random((N, 2)), RANDOM.random((M, 2))
XB, YB = RANDOM.random((B, N, 2)), RANDOM.random((B, 1, M, 2))
U, V = RANDOM.random(N) + 0.5, RANDOM.random(M) + 0.5
W = RANDOM.random(E)
VECTORS = "exp(-|x_i - y_j|²)*[x_i[0], y_j[1], x_i·y_j]"


def vectors(x, y):
    """Those of VECTORS, of shape (…, N, M, 3)."""
    x, y = x[..., :, None, :], y[..., None, :, :]
    weight = np.exp(-((x - y) ** 2).sum(-1))
    parts = [x[..., 0] + 0 * weight, y[..., 1] + 0 * weight, (x * y).sum(-1)]
    return np.stack([weight * part for part in parts], -1)


def lazy_matrix():
    x, y = tilefold.lazy(X, axis="i"), tilefold.lazy(Y, axis="j")
    return np.exp(-((x - y) ** 2).sum(-1) / 2)


def lazy_vectors():
    x, y = tilefold.lazy(X, axis="i"), tilefold.lazy(Y, axis="j")
    parts = [x[..., 0] + 0 * y[..., 0], y[..., 1], (x * y).sum(-1)]
    weight = np.exp(-((x - y) ** 2).sum(-1))
    return weight * np.stack(parts, -1)


GAUSSIAN = "exp(-|x_i - y_j|²/2)"
MATRICES = {
    "kernel": lambda: (tilefold.kernel(GAUSSIAN, x=X, y=Y), gaussian(X, Y, 1)),
    "transpose": lambda: (
        tilefold.kernel(GAUSSIAN, x=Y, y=X).T, gaussian(Y, X, 1).T,
    ),
    "part": lambda: (
        tilefold.kernel(GAUSSIAN, x=np.repeat(X, 2, 0), y=Y)[1::2],
        gaussian(X, Y, 1),
    ),
    "lazy": lambda: (lazy_matrix(), gaussian(X, Y, 1)),
}  # fmt: skip
# More axes: (B, N, M), (N, M, E), (B, N, M, E), and transposes.
TENSORS = {
    "batches": lambda: (
        tilefold.kernel(GAUSSIAN, x=XB, y=Y), gaussian(XB, Y, 1),
    ),
    "batches in two dimensions": lambda: (
        tilefold.kernel(GAUSSIAN, x=XB, y=YB), gaussian(XB, YB, 1),
    ),
    "transposed batches": lambda: (
        tilefold.kernel(GAUSSIAN, x=Y, y=XB).T,
        gaussian(Y, XB, 1).swapaxes(-1, -2),
    ),
    "vectors": lambda: (
        tilefold.kernel(VECTORS, x=X, y=Y), vectors(X, Y),
    ),
    "transposed vectors": lambda: (
        tilefold.kernel(VECTORS, x=Y, y=X).T, vectors(Y, X).swapaxes(0, 1),
    ),
    "lazy vectors": lambda: (lazy_vectors(), vectors(X, Y)),
    "batches of vectors": lambda: (
        tilefold.kernel(VECTORS, x=XB, y=Y), vectors(XB, Y),
    ),
    "transposed batches of vectors": lambda: (
        tilefold.kernel(VECTORS, x=Y, y=XB).T,
        vectors(Y, XB).swapaxes(1, 2),
    ),
}  # fmt: skip


def close(found, expected, rtol=1e-11):
    """Values, shapes and kinds; lazy ones as arrays."""
    if hasattr(found, "dense"):
        assert found.shape == np.shape(expected)
        assert found.ndim == np.ndim(expected)
        kind = np.dtype(found.dtype)
        found = found.dense()
        assert found.dtype == kind
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype.kind == np.asarray(expected).dtype.kind
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-14)
