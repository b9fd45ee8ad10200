# bench/tasks/attention/ceiling.py - the hand-written kernel of bench/ceiling.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.ceiling_library import attention, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.attention import AttentionProblem


def prepare(problem: AttentionProblem) -> Callable[[], Any]:
    """Loads the library."""
    return partial(attention, load(), problem)
