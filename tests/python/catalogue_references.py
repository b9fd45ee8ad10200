# tests/python/catalogue_references.py - every named formula once more, by
# SciPy, scikit-learn or plain NumPy, dense and in float64.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax, xlogy
from sklearn.gaussian_process import kernels
from sklearn.metrics import pairwise

if TYPE_CHECKING:
    from collections.abc import Callable

N, M = 12, 15  # the first rows of both sets are the same points
SHARED = 5


def _shared(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    y[:SHARED] = x[:SHARED]
    return x, y


def anywhere(random):
    """The origin is among the shared points."""
    x, y = random.standard_normal((N, 3)), random.standard_normal((M, 3))
    x[0] = 0
    x[1, 1] = 0
    return _shared(x, y)


def away_from_0(random):
    x, y = anywhere(random)
    return x + 3, y + 3


def distributions(random):
    """Some hold zeros."""
    x, y = random.random((N, 4)), random.random((M, 4))
    x[1, 2] = x[2, :3] = y[-1, 1] = 0
    x, y = _shared(x, y)
    return x / x.sum(1)[:, None], y / y.sum(1)[:, None]


def on_the_globe(random):
    """Latitude and longitude; the poles are among them, and an antipode."""
    bounds = [np.pi / 2, np.pi]
    x, y = (random.uniform(-1, 1, (n, 2)) * bounds for n in (N, M))
    x[0], x[1] = (np.pi / 2, 0.3), (-np.pi / 2, 0)
    x[2], y[-1] = (0.4, 1), (-0.4, 1 - np.pi)
    return _shared(x, y)


def in_the_ball(random):
    x, y = anywhere(random)
    return x / (1 + np.abs(x).sum(1)[:, None]), y / (
        1 + np.abs(y).sum(1)[:, None]
    )


def on_the_sheet(random):
    def lift(points):
        time = np.sqrt(1 + (points**2).sum(1))
        return np.concatenate([time[:, None], points], 1)

    x, y = anywhere(random)
    return lift(x), lift(y)


def tangent(points: Callable[..., Any], x, direction) -> np.ndarray:
    """The part of a direction that keeps x where `points` are.

    Elsewhere a distance goes on in more than one way.
    """
    if points is distributions:
        return direction - direction.mean(1)[:, None]
    if points is on_the_sheet:
        direction[:, 0] = (x * direction)[:, 1:].sum(1) / x[:, 0]
    return direction


@dataclass(frozen=True)
class Reference:
    """`matrix(x, y, **parameters)` is (N, M); `noise` is its own error."""

    matrix: Callable[..., np.ndarray]
    parameters: dict[str, Any] = field(default_factory=dict)
    points: Callable[..., tuple[np.ndarray, np.ndarray]] = anywhere
    noise: float = 1e-13
    fixed: tuple[str, ...] = ()  # parameters without a gradient


def distance(metric: str = "euclidean") -> Callable[..., np.ndarray]:
    return lambda x, y, **given: cdist(x, y, metric, **given)


def spectral_mixture(x, y, s, m):
    d = x[:, None, :] - y[None, :, :]
    decay = np.exp(-2 * np.pi**2 * (d**2 * s**2)).prod(-1)
    return decay * np.cos(2 * np.pi * np.einsum("ijk,k->ij", d, m))


def stein(x, y, d, l):
    """Component by component: ∂²/∂x[k]∂y[k] of the Gaussian."""
    kernel = kernels.RBF(l)(x, y)
    total = np.zeros_like(kernel)
    for k in range(d):
        step = x[:, k, None] - y[None, :, k]
        total += (1 / l**2 - step**2 / l**4) * kernel
    return total


def wendland(x, y, l):
    r = cdist(x, y) / l
    return np.where(r < 1, (1 - r) ** 4 * (1 + 4 * r), 0)


def lennard_jones(x, y, epsilon, sigma):
    r = cdist(x, y)
    ratio = np.divide(sigma, r, out=np.zeros_like(r), where=r > 0)
    return 4 * epsilon * (ratio**12 - ratio**6)


def coulomb(x, y):
    r = cdist(x, y)
    return np.divide(1, r, out=np.zeros_like(r), where=r > 0)


def arc_cosine(x, y):
    return 1 - np.arccos(np.clip(1 - cdist(x, y, "cosine"), -1, 1)) / np.pi


def hellinger(x, y):
    return np.sqrt(np.maximum(1 - np.sqrt(x) @ np.sqrt(y).T, 0))


def poincare(x, y):
    room = (1 - (x**2).sum(1))[:, None] * (1 - (y**2).sum(1))
    return np.arccosh(1 + 2 * cdist(x, y, "sqeuclidean") / room)


def lorentz(x, y):
    product = np.outer(x[:, 0], y[:, 0]) - x[:, 1:] @ y[:, 1:].T
    return np.arccosh(np.maximum(product, 1))


L = {"l": 0.7}
INVERSE_COVARIANCE = np.array([[2.0, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 3]])
PAIRS = {
    "gaussian": Reference(lambda x, y, l: kernels.RBF(l)(x, y), L),
    "laplace": Reference(lambda x, y, l: np.exp(-cdist(x, y) / l), L),
    "matern12": Reference(lambda x, y, l: kernels.Matern(l, nu=0.5)(x, y), L),
    "matern32": Reference(lambda x, y, l: kernels.Matern(l, nu=1.5)(x, y), L),
    "matern52": Reference(lambda x, y, l: kernels.Matern(l, nu=2.5)(x, y), L),
    "rational_quadratic": Reference(
        lambda x, y, alpha, l: kernels.RationalQuadratic(l, alpha)(x, y),
        {"alpha": 1.3, "l": 0.7},
    ),
    "cauchy": Reference(
        lambda x, y, l: 1 / (1 + cdist(x, y, "sqeuclidean") / l**2), L
    ),
    "student": Reference(lambda x, y: 1 / (1 + cdist(x, y, "sqeuclidean"))),
    "periodic": Reference(
        lambda x, y, p, l: kernels.ExpSineSquared(l, p)(x, y),
        {"p": 1.7, "l": 0.7},
    ),
    "cosine": Reference(
        lambda x, y, p: np.cos(np.pi * cdist(x, y) / p), {"p": 1.7}
    ),
    "spectral_mixture": Reference(
        spectral_mixture,
        {"s": np.array([0.1, 0.2, 0.05]), "m": np.array([0.3, -0.1, 0.4])},
    ),
    "stein": Reference(stein, {"d": 3, "l": 0.7}),
    "wendland": Reference(wendland, {"l": 2.1}),
    "epanechnikov": Reference(
        lambda x, y, l: np.maximum(1 - cdist(x, y, "sqeuclidean") / l**2, 0),
        {"l": 2.1},
    ),
    "indicator": Reference(
        lambda x, y, r: (cdist(x, y) < r).astype(float), {"r": 1.5}
    ),
    "energy": Reference(lambda x, y: -cdist(x, y)),
    "multiquadric": Reference(
        lambda x, y, c: np.hypot(cdist(x, y), c), {"c": 0.4}
    ),
    "inverse_multiquadric": Reference(
        lambda x, y, c: 1 / np.hypot(cdist(x, y), c), {"c": 0.4}
    ),
    "thin_plate": Reference(lambda x, y: xlogy(cdist(x, y) ** 2, cdist(x, y))),
    "coulomb": Reference(coulomb),
    "lennard_jones": Reference(lennard_jones, {"epsilon": 0.6, "sigma": 1.2}),
    "linear": Reference(pairwise.linear_kernel),
    "polynomial": Reference(
        lambda x, y, c, p: pairwise.polynomial_kernel(
            x, y, degree=p, gamma=1, coef0=c
        ),
        {"c": 1.5, "p": 3},
        fixed=("p",),  # of a negative number's power
    ),
    "sigmoid_kernel": Reference(
        lambda x, y, a, c: pairwise.sigmoid_kernel(x, y, gamma=a, coef0=c),
        {"a": 0.3, "c": -0.2},
    ),
    "cosine_similarity": Reference(pairwise.cosine_similarity),
    "arc_cosine": Reference(arc_cosine, points=away_from_0, noise=1e-7),
    "euclidean": Reference(distance()),
    "manhattan": Reference(distance("cityblock")),
    "chebyshev": Reference(distance("chebyshev")),
    "minkowski": Reference(distance("minkowski"), {"p": 2.5}),
    "mahalanobis": Reference(
        lambda x, y, A: cdist(x, y, "mahalanobis", VI=A),
        {"A": INVERSE_COVARIANCE},
    ),
    "canberra": Reference(distance("canberra")),
    "bray_curtis": Reference(distance("braycurtis")),
    "hellinger": Reference(hellinger, points=distributions, noise=1e-7),
    "jensen_shannon": Reference(
        distance("jensenshannon"), points=distributions, noise=1e-7
    ),
    "haversine": Reference(
        pairwise.haversine_distances, points=on_the_globe, noise=1e-7
    ),
    "poincare": Reference(poincare, points=in_the_ball, noise=1e-7),
    "lorentz": Reference(lorentz, points=on_the_sheet, noise=1e-7),
}


def sinkhorn(x, y, g, epsilon):
    cost = cdist(x, y, "sqeuclidean") / 2
    return -epsilon * logsumexp((g * epsilon - cost) / epsilon, axis=1)


# As formulas: what each array is called there.
REDUCTIONS = {
    "kernel_sum": lambda x, y, b, l: kernels.RBF(l)(x, y) @ b,
    "density": lambda x, y, l: kernels.RBF(l)(x, y).mean(1),
    "nadaraya_watson": lambda x, y, b, l: (
        kernels.RBF(l)(x, y) @ b / kernels.RBF(l)(x, y).sum(1)
    ),
    "attention": lambda q, k, v, d: softmax(q @ k.T / np.sqrt(d), axis=1) @ v,
    "nearest": lambda x, y: cdist(x, y).argmin(1),
    "neighbours": lambda x, y: np.argsort(cdist(x, y), axis=1, kind="stable")[
        :, :10
    ],
    "hausdorff": lambda x, y: cdist(x, y).min(1),
    "sinkhorn": sinkhorn,
}
