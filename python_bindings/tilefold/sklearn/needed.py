# python_bindings/tilefold/sklearn/needed.py - the libraries of estimators.
"""Raises `ImportError` where one of them is missing or too old."""

from __future__ import annotations

import importlib
import re

__all__ = ["LEAST", "require"]

# By module: its package, and the oldest version. SciPy is first, without which
# scikit-learn cannot be imported.
LEAST = {"scipy": ("scipy", (1, 13)), "sklearn": ("scikit-learn", (1, 9))}
_CURE = "pip install -U 'tilefold[sklearn]'"


def require(module: str, library: str, least: tuple[int, int]) -> None:
    """Raises `ImportError` unless a library is there, and new enough."""
    needs = f"tilefold.sklearn needs {library}"
    try:
        found = importlib.import_module(module).__version__
    except ModuleNotFoundError as error:
        cure = _CURE.replace(" -U", "")
        raise ModuleNotFoundError(f"{needs}: {cure}", name=module) from error
    if tuple(map(int, re.findall(r"\d+", found)[:2])) < least:
        raise ImportError(
            f"{needs} {least[0]}.{least[1]} or later, but found {found}: "
            f"{_CURE}",
            name=module,
        )


for _module, _needed in LEAST.items():
    require(_module, *_needed)
