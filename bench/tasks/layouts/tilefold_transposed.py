# bench/tasks/layouts/tilefold_transposed.py - columns with gaps.
"""tilefold, transposed view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.layouts import laid_out, transposed

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Views of wider matrices."""
    return laid_out(problem, transposed)
