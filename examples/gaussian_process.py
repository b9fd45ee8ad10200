# examples/gaussian_process.py - a Gaussian process that finds its own scales.
"""Fits a Gaussian process whose inputs have a length scale each (ARD).

    k(x, x') = s² (1 + √5 r + 5r²/3) exp(-√5 r),   r = |(x - x')/l|

Matérn's kernel of smoothness 5/2. The logarithms of s, l and the noise σ climb
the marginal likelihood by Adam, along its gradient (Rasmussen and Williams
2006, § 5.4.1) with A = K + σ²I and α = A⁻¹y:

    ∂ log p(y)/∂θ = ½ αᵀ ∂A/∂θ α - ½ tr(A⁻¹ ∂A/∂θ)

The trace is the mean of zᵀ A⁻¹ ∂A/∂θ z over random signs z (Hutchinson 1990),
so that one `solve`, of y and of all z together, is all that a step takes; both
terms are the gradient of one bilinear form uᵀ K w, which `grad` gives. An
input of no effect ends with a long scale: that is automatic relevance
determination.

Usage: python examples/gaussian_process.py
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

COVARIANCE = "s² matern52(x_i/l, y_j/l, 1)"
BILINEAR = tilefold.compile("sum_ij s² matern52(x_i/l, x_j/l, 1) u_i·w_j")
GRADIENT = BILINEAR.grad(["s", "l"])


class Parameters(NamedTuple):
    """Amplitude, (D,) length scales, standard deviation of the noise."""

    s: float
    l: Array
    noise: float


def read(θ: Array) -> Parameters:
    """The parameters by their logarithms, (D + 2,)."""
    s, *l, noise = np.exp(θ)
    return Parameters(s, np.array(l), noise)


def covariance(x: Array, y: Array, p: Parameters) -> tilefold.Kernel:
    """Between x (N, D) and y (M, D): lazy, (N, M)."""
    return tilefold.kernel(COVARIANCE, x=x, y=y, s=p.s, l=p.l)


def likelihood_gradient(x: Array, y: Array, θ: Array, z: Array) -> Array:
    """∂ log p(y)/∂θ, (D + 2,), by the (N, P) probes z."""
    p = read(θ)
    A_inverse = covariance(x, x, p).solve(
        np.column_stack([y, z]), ridge=p.noise**2
    )
    α, count = A_inverse[:, :1], z.shape[1]
    u = np.hstack([α, -A_inverse[:, 1:] / count]) / 2
    w = np.hstack([α, z])
    ds, dl = GRADIENT(x=x, u=u, w=w, s=p.s, l=p.l, grad=1)
    by_noise = 2 * p.noise * (u * w).sum()
    return np.array([ds, *dl, by_noise]) * np.exp(θ)


def log_likelihood(x: Array, y: Array, θ: Array) -> float:
    """The logarithm of p(y)."""
    p = read(θ)
    quadratic, logdet = covariance(x, x, p).inv_quad_logdet(
        y, logdet=True, ridge=p.noise**2
    )
    return -(quadratic + logdet + len(y) * np.log(2 * np.pi)) / 2


def fit(x: Array, y: Array, steps: int, probes: int, rate: float) -> Array:
    """θ after so many steps of Adam (Kingma and Ba 2015)."""
    random = np.random.default_rng(0)
    θ = np.zeros(x.shape[1] + 2)
    mean, square = np.zeros_like(θ), np.zeros_like(θ)
    for step in range(1, steps + 1):
        z = random.choice([-1.0, 1.0], (len(x), probes))
        gradient = likelihood_gradient(x, y, θ, z)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        unbiased = np.sqrt(square / (1 - 0.99**step))
        θ += rate * mean / (1 - 0.9**step) / (unbiased + 1e-8)
    return θ


def predict(x: Array, y: Array, x_new: Array, θ: Array) -> Array:
    """The posterior mean at x_new (L, D), (L,)."""
    p = read(θ)
    α = covariance(x, x, p).solve(y, ridge=p.noise**2)
    return covariance(x_new, x, p) @ α


def main() -> None:
    """Five inputs, of which two matter, one more than the other."""
    random = np.random.default_rng(0)

    def truth(x: Array) -> Array:
        return np.sin(4 * x[:, 0]) + np.cos(x[:, 1])

    x, x_new = random.uniform(-1, 1, (2, 800, 5))
    y = truth(x) + 0.1 * random.standard_normal(800)
    θ = fit(x, y, steps=40, probes=8, rate=0.1)
    p, start = read(θ), np.zeros_like(θ)
    print(
        f"log likelihood {log_likelihood(x, y, start):.0f} "
        f"before, {log_likelihood(x, y, θ):.0f} after"
    )
    print("length scales", np.round(p.l, 2), f"noise {p.noise:.3f}")
    error = predict(x, y, x_new, θ) - truth(x_new)
    print(f"error at new points {np.sqrt(np.mean(error**2)):.3f}")


if __name__ == "__main__":
    main()
