# bench/tasks/wide/roofline.py - the kernel of bench/roofline.
"""hand-written AVX-512."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bench.roofline_library import gaussian, load, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Loads the library. One column is the plain Gaussian sum; `wide` is for
    eight or more."""
    kernel = wide if problem.given.columns > 1 else gaussian
    return partial(kernel, load(), problem)
