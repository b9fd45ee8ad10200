# examples/diabetes.py - how a disease goes on, by formulas as covariances.
"""Three covariances of a Gaussian process, told apart by their likelihoods.

442 patients were measured, and how their diabetes had gone on was asked a year
later (Efron, Hastie, Johnstone and Tibshirani, Least angle regression, 2004; a
part of scikit-learn). A line has a weight for each measurement; a smooth
function has one length scale for all; and the third is a line and a function
of some measurements that the length scales choose. All are formulas, whose
hyperparameters scikit-learn's regression learns by derivatives that tilefold
makes. What they predict is of patients that were left out.

Usage: python examples/diabetes.py
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from tilefold.sklearn import FormulaKernel, GaussianProcessRegressor

Array = np.ndarray[Any, np.dtype[np.float64]]

COUNT = 10  # of measurements


def covariances() -> dict[str, FormulaKernel]:
    """The three, with their first values and bounds."""
    line = FormulaKernel("v*(x_i·y_j)", v=(0.1, (1e-4, 10)))
    smooth = FormulaKernel(
        "w*exp(-|x_i - y_j|²/2l²)", w=(0.5, (1e-3, 10)), l=(3.0, (0.3, 100))
    )
    chosen = FormulaKernel(
        "w*exp(-|(x_i - y_j)/l|²/2)",
        w=(0.5, (1e-3, 10)),
        l=(np.full(COUNT, 5.0), (0.3, 100)),
    )
    return {
        "a line": line,
        "a smooth function": smooth,
        "a line and a function of some": line + chosen,
    }


def process(kernel: FormulaKernel) -> GaussianProcessRegressor:
    """A regression with noise that is learned, too."""
    noise = WhiteKernel(0.5, (0.01, 2))
    return GaussianProcessRegressor(kernel + noise, normalize_y=True)


def measured() -> tuple[Array, Array, list[str]]:
    """Measurements (442, 10), the outcome (442,), and their names."""
    data = load_diabetes()
    return scale(data.data), data.target, data.feature_names


def main() -> None:
    """Prints the likelihoods, and what is left of the variance."""
    x, y, names = measured()
    x, out, y, left = train_test_split(x, y, test_size=142, random_state=0)
    # Bounds are reached where a measurement has no part in the function.
    warnings.simplefilter("ignore", ConvergenceWarning)
    for title, kernel in covariances().items():
        model = process(kernel).fit(x, y)
        score = model.score(out, left)
        likelihood = model.log_marginal_likelihood_value_
        print(
            f"{title}: log likelihood {likelihood:.1f}, "
            f"{score:.1%} of the variance predicted"
        )
    lengths = model.kernel_.k1.l
    order = np.argsort(lengths)[:3]
    shown = ", ".join(f"{names[k]} ({lengths[k]:.1f})" for k in order)
    print(f"what bends most, by length scale: {shown}")


if __name__ == "__main__":
    main()
