# bench/tasks/layouts/tilefold_every_other_row.py - a gap after each row.
"""tilefold, every other row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.layouts import every_other_row, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Slices with a step."""
    return laid_out(problem, every_other_row)
