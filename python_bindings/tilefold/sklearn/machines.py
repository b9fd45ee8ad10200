# python_bindings/tilefold/sklearn/machines.py - what kernel machines share.
"""Parameters and right-hand sides of estimators with a `kernel`."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._array_api import get_namespace_and_device, move_to
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, validate_data

from tilefold.sklearn.kernels import read_kernel
from tilefold.sklearn.library import floats

if TYPE_CHECKING:
    from tilefold.sklearn.pair_formula import PairFormula

__all__ = [
    "KERNEL_PARAMETERS",
    "as_columns",
    "kernel_of",
    "training_data",
    "warn_of_residual",
]

KERNEL_PARAMETERS: dict[str, Any] = {
    "kernel": [str, callable],
    "gamma": [Interval(Real, 0, None, closed="left"), None],
    "coef0": [Interval(Real, None, None, closed="neither"), None],
    "degree": [Interval(Real, 0, None, closed="left"), None],
    "kernel_params": [dict, None],
    "n_jobs": [Integral, None],
}


def kernel_of(estimator: Any, points: Any) -> PairFormula:
    """The kernel that an estimator's parameters mean for points (N, D)."""
    return read_kernel(
        estimator.kernel,
        points.shape[1],
        estimator.kernel_params,
        gamma=estimator.gamma,
        coef0=estimator.coef0,
        degree=estimator.degree,
    )


def training_data(
    estimator: Any, x: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any, Any]:
    """Validated: X (N, D), y (N,) or (N, E), weights (N,) or None.

    y and the weights have X's library, device and dtype.
    """
    library, _, device = get_namespace_and_device(x)
    if hasattr(y, "shape"):
        y = move_to(y, xp=library, device=device)
    if hasattr(sample_weight, "shape"):
        sample_weight = move_to(sample_weight, xp=library, device=device)
    x, y = validate_data(
        estimator, x, y, dtype=floats(x), multi_output=True, y_numeric=True
    )
    y = library.astype(y, x.dtype, copy=False)
    if sample_weight is not None:
        sample_weight = _check_sample_weight(
            sample_weight, x, dtype=x.dtype, ensure_non_negative=True
        )
    return x, y, sample_weight


def as_columns(y: Any) -> Any:
    """Of shape (N, E)."""
    return y if y.ndim == 2 else y[:, None]


def warn_of_residual(
    estimator: Any, iterations: int, residual: float, cure: str
) -> None:
    """Says that a solve ended before its residual was small enough."""
    warnings.warn(
        f"{type(estimator).__name__} stopped after {iterations} iterations "
        f"with a residual of {residual:.2g}, above tol={estimator.tol:g}: "
        f"{cure}",
        ConvergenceWarning,
        stacklevel=4,
    )
