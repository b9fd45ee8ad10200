# python_bindings/tilefold/sklearn/library.py - arrays of X's library.
"""What an estimator returns belongs to the library and device of X."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from sklearn.utils._array_api import (
    check_same_namespace,
    get_namespace,
    get_namespace_and_device,
    move_to,
)
from sklearn.utils.validation import validate_data

from tilefold import Options

__all__ = ["as_numpy", "beside", "floats", "options_of", "queries"]


def floats(array: Any) -> list[Any]:
    """The dtypes that X may have; others become the first."""
    library, _ = get_namespace(array)
    return [library.float64, library.float32]


def as_numpy(array: Any) -> Any:
    """The array as NumPy's; the same memory where it may be."""
    if isinstance(array, np.ndarray):
        return array
    return move_to(array, xp=np, device="cpu")


def beside(array: Any, reference: Any) -> Any:
    """An array as the reference's library has it, on its device."""
    if isinstance(reference, np.ndarray):
        return as_numpy(array)
    library, _, device = get_namespace_and_device(reference)
    return move_to(array, xp=library, device=device)


def queries(estimator: Any, x: Any, attribute: str, method: str) -> Any:
    """X of a method, of the library that `fit` was given, and validated."""
    check_same_namespace(x, estimator, attribute=attribute, method=method)
    return validate_data(estimator, x, dtype=floats(x), reset=False)


def options_of(n_jobs: int | None) -> Options | None:
    """The threads that `n_jobs` asks for; None is tilefold's default.

    Negative numbers count from the processors, as joblib has it.
    """
    if n_jobs is None:
        return None
    return Options(threads=joblib.effective_n_jobs(n_jobs))
