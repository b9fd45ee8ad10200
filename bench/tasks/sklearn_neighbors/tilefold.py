# bench/tasks/sklearn_neighbors/tilefold.py - the estimators by formulas.
"""tilefold.sklearn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold import sklearn

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ("scikit-learn", "tilefold")


def prepare(problem: Any) -> Callable[[], Any]:
    """Fits, and compiles on a few points."""
    return problem.prepared(sklearn)
