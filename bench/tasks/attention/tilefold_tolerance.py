# bench/tasks/attention/tilefold_tolerance.py - weights of a softmax rounded to
# bfloat16, as others do.
"""tilefold, tolerance 4e-3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.attention import tilefold as exact

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.attention import AttentionProblem

PACKAGES = ("tilefold",)


def prepare(problem: AttentionProblem) -> Callable[[], Any]:
    """The same formula in a session that allows it."""
    return exact.prepare(problem, tilefold.Options(tolerance=4e-3))
