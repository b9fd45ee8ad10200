# examples/leave_one_out.py - kernel regression that finds its own bandwidths.
"""Chooses the bandwidths of a kernel regression by leaving one out.

    m_i = Σ_{j≠i} w_ij t_j / Σ_{j≠i} w_ij,   w_ij = exp(-|(x_i - x_j)/h|²/2)

predicts each point by all the others (Nadaraya 1964; Watson 1964). The mean
square of t_i - m_i estimates the error of new points (Stone 1974; Härdle and
Marron 1985), and is the least at the best h, of which each input has its own:
an input that tells nothing gets a wide one. Error and gradient are two formulas
of one text, and L-BFGS does the rest.

Usage: python examples/leave_one_out.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

import tilefold

Array = np.ndarray[Any, np.dtype[np.float64]]

LEFT_OUT_ERROR = tilefold.compile(
    """mean_i (t_i - m)² with
    m = softmax_j(where(i ≠ j, -|(x_i - x_j)/h|²/2, -inf), t_j)"""
)
ERROR_AND_GRADIENT = LEFT_OUT_ERROR.grad("h", value=True)
PREDICTION = tilefold.compile("softmax_j(-|(x_i - y_j)/h|²/2, t_j)")


def objective(log_h: Array, x: Array, t: Array) -> tuple[float, Array]:
    """The error of leaving one out, and its gradient by log h, (D,)."""
    h = np.exp(log_h)
    error, by_h = ERROR_AND_GRADIENT(x=x, t=t, h=h, grad=1)
    return float(error), by_h * h


def best_bandwidths(x: Array, t: Array, start: Array) -> Array:
    """The (D,) bandwidths for values t (N,) at x (N, D)."""
    found = minimize(
        objective, np.log(start), (x, t), "L-BFGS-B", jac=True,
        bounds=[(np.log(1e-3), np.log(1e3))] * len(start),
    )  # fmt: skip
    return np.exp(found.x)


def predict(x_new: Array, x: Array, t: Array, h: Array) -> Array:
    """At x_new (L, D), (L,)."""
    return PREDICTION(x=x_new, y=x, t=t, h=h)


def main() -> None:
    """Four inputs: a fast one, a slow one, and two of no effect."""
    random = np.random.default_rng(0)

    def truth(x: Array) -> Array:
        return np.sin(6 * x[:, 0]) + x[:, 1]

    x, x_new = random.random((2, 2000, 4))
    t = truth(x) + 0.2 * random.standard_normal(len(x))
    for name, h in (
        ("one", np.full(4, 0.2)),
        ("chosen", best_bandwidths(x, t, np.full(4, 0.2))),
    ):
        left_out = np.sqrt(objective(np.log(h), x, t)[0])
        new = predict(x_new, x, t, h) - truth(x_new)
        print(f"{name}: h =", np.round(h, 2))
        print(f"  error of points left out {left_out:.3f}, with noise of 0.2")
        print(f"  error at new points {np.sqrt(np.mean(new**2)):.3f}")


if __name__ == "__main__":
    main()
