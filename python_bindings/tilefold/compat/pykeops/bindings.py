# python_bindings/tilefold/compat/pykeops/bindings.py - do formulas run?
"""The self-tests of `pykeops`: one small reduction, and a line that it ran."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tilefold.compat.pykeops.common.utils import pyKeOps_Message

__all__ = ["test_numpy_bindings", "test_torch_bindings"]

_X = np.arange(1, 10, dtype=np.float32).reshape(3, 3)
_Y = np.arange(3, 9, dtype=np.float32).reshape(2, 3)
# Σ_i |x_i − y_j|²
_EXPECTED = (63.0, 90.0)


def test_numpy_bindings() -> None:
    """Prints whether a reduction of NumPy's arrays is right."""
    _report("numpy", _sum_of_squares("numpy", _X, _Y))


def test_torch_bindings() -> None:
    """Prints whether a reduction of PyTorch's tensors is right."""
    from torch import from_numpy

    _report("torch", _sum_of_squares("torch", from_numpy(_X), from_numpy(_Y)))


def _sum_of_squares(backend: str, x: Any, y: Any) -> list[float]:
    module = importlib.import_module(f"tilefold.compat.pykeops.{backend}")
    reduction = module.Genred("SqNorm2(x - y)", ["x = Vi(3)", "y = Vj(3)"])
    found: list[float] = reduction(x, y).reshape(-1).tolist()
    return found


def _report(backend: str, found: list[float]) -> None:
    if np.allclose(found, _EXPECTED):
        text = f"pyKeOps with {backend} bindings is working!"
    else:
        text = "outputs wrong values..."
    pyKeOps_Message(text, use_tag=False)


# pytest collects what is so named where a test imports it.
for _function in (test_numpy_bindings, test_torch_bindings):
    _function.__test__ = False  # type: ignore[attr-defined]
