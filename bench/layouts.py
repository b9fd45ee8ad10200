# bench/layouts.py - the same numbers, laid out otherwise in memory.
"""Views of equal arrays for the Gaussian sum; making them is not timed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.points import TEXT, Array

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem


def every_other_row(array: Array) -> Array:
    """Rows 0, 2, 4 … of twice as many; of a vector, its elements."""
    return np.repeat(array, 2, axis=0)[::2]


def transposed(array: Array) -> Array:
    """The transpose of the left half of a matrix; a vector as it is.

    Coordinates are together, as in column-major order, with a gap after each.
    """
    twice = np.ascontiguousarray(np.hstack([array.T, array.T]))
    return twice.T[: len(array)]


def laid_out(
    problem: GaussianProblem, lay: Callable[[Array], Array]
) -> Callable[[], Any]:
    """tilefold on x, y and b as `lay` gives them; compiles in a whole call."""
    import tilefold

    arrays = {name: lay(getattr(problem, name)) for name in "xyb"}
    formula = tilefold.compile(TEXT)
    formula(arrays, l=problem.length)
    return partial(formula, **arrays, l=problem.length)
