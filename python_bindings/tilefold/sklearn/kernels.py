# python_bindings/tilefold/sklearn/kernels.py - kernels as estimators name them.
"""What `kernel`, `gamma` and `kernel_params` of an estimator mean.

A kernel is a name of scikit-learn's, a name of tilefold's catalogue, a formula
of two points and any other names, a Python function of two points, which is
traced into one, or a kernel of `sklearn.gaussian_process`. Names that both
have, such as "cosine", are scikit-learn's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as Covariance

from tilefold import compile as compiled
from tilefold.sklearn.covariance import read_covariance
from tilefold.sklearn.pair_formula import (
    NAMED,
    ON_POSITIVE,
    PairFormula,
    pair_formula,
)
from tilefold.trace import names_of, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tilefold import Formula

__all__ = ["read_kernel"]

_PRECOMPUTED = (
    "kernel='precomputed' has no formula: pass the points and a kernel, or "
    "take the estimator of scikit-learn"
)


def read_kernel(
    kernel: str | Callable[..., Any] | Covariance,
    features: int,
    parameters: Mapping[str, Any] | None = None,
    **constructor: Any,
) -> PairFormula:
    """The kernel that an estimator's parameters mean.

    `features` is how many components points have; `constructor` holds the
    estimator's own gamma, coef0 and degree, None for what nobody said. For
    scikit-learn's names they come before `parameters`, for formulas after.

    Raises `ValueError` for a kernel that is none, names of the formula without
    a value, values without a name, and functions that cannot be traced.
    """
    given = dict(parameters or {})
    said = {k: v for k, v in constructor.items() if v is not None}
    if isinstance(kernel, Covariance):
        return _of_covariance(kernel)
    if callable(kernel):
        return _of_function(kernel, features, given)
    if kernel == "precomputed":
        raise ValueError(_PRECOMPUTED)
    if kernel in NAMED:
        return _of_name(kernel, features, {**given, **said})
    formula, points, others = pair_formula(kernel)
    given = {**_spelled(formula, said, others), **_spelled(formula, given)}
    _check_names(kernel, others, given)
    return PairFormula(formula, points, given)


def _of_name(name: str, features: int, given: dict[str, Any]) -> PairFormula:
    text, gamma = NAMED[name]
    if gamma is None:
        gamma = 1.0 / features
    values = {"coef0": 1.0, "gamma": gamma, "degree": 3, **given}
    degree = values["degree"]
    if float(degree).is_integer():
        degree = str(int(degree))
    formula, points, others = pair_formula(text.format(degree=degree))
    values = {name: values[name] for name in others}
    return PairFormula(formula, points, values, name in ON_POSITIVE)


def _of_function(
    function: Callable[..., Any], features: int, given: dict[str, Any]
) -> PairFormula:
    """Traced once with two points, and never called for a pair."""
    names = names_of(function)
    first, second = names[:2] if len(names) > 1 else ("x", "y")
    point = np.zeros((1, features))
    try:
        text, values = trace(function, {**given, first: point, second: point})
        formula = compiled(text)
    except Exception as error:
        title = getattr(function, "__name__", type(function).__name__)
        raise ValueError(
            f"the kernel {title} cannot be read as a formula: {error}. Write "
            "it of two points with operators and NumPy's functions, without "
            "branches on values, or as a formula such as "
            "'exp(-|x_i - y_j|²/2l²)'"
        ) from error
    values = {k: v for k, v in values.items() if k not in (first, second)}
    return PairFormula(formula, (first, second), values)


def _of_covariance(kernel: Covariance) -> PairFormula:
    """A kernel of Gaussian processes with the hyperparameters it has."""
    covariance = read_covariance(kernel)
    if covariance.noise is not None:
        raise ValueError(
            f"{kernel} has a part on the diagonal alone, which is no kernel of "
            "two points: leave WhiteKernel away, and pass alpha"
        )
    formula, points, _ = pair_formula(covariance.smooth)
    values = covariance.values(kernel)
    return PairFormula(formula, points, values, covariance.is_positive)


def _spelled(
    formula: Formula,
    given: Mapping[str, Any],
    wanted: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """Values by the names that the formula has: σ is called sigma."""
    names = {formula._axes_of(name)[0]: value for name, value in given.items()}
    return {
        name: value
        for name, value in names.items()
        if wanted is None or name in wanted
    }


def _check_names(
    kernel: str, needed: tuple[str, ...], given: Mapping[str, Any]
) -> None:
    for name in needed:
        if name not in given:
            raise ValueError(
                f"the kernel {kernel!r} has no value for {name!r}: pass "
                f"kernel_params={{{name!r}: …}}"
            )
    for name in given:
        if name not in needed:
            raise ValueError(
                f"kernel_params has {name!r}, which the kernel {kernel!r} does "
                "not read: leave it away"
            )
