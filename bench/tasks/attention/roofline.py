# bench/tasks/attention/roofline.py - the kernel of bench/roofline.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.roofline_library import attention, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.attention import AttentionProblem


def prepare(problem: AttentionProblem) -> Callable[[], Any]:
    """Loads the library."""
    return partial(attention, load(), problem)
