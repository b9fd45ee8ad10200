# bench/layouts.py - the same numbers, laid out otherwise in memory.
"""Views of equal arrays for the Gaussian sum; making them is not timed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bench.formula_run import FormulaRun
from bench.points import TEXT, Array

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem
    from bench.tasks.batches.task import BatchProblem


def every_other_row(array: Array) -> Array:
    """Rows 0, 2, 4 … of twice as many; of a vector, its elements."""
    return np.repeat(array, 2, axis=0)[::2]


def transposed(array: Array) -> Array:
    """The transpose of the left half of a matrix; a vector as it is.

    Coordinates are together, as in column-major order, with a gap after each.
    """
    twice = np.ascontiguousarray(np.hstack([array.T, array.T]))
    return twice.T[: len(array)]


def channels_first(array: Array) -> Array:
    """Of images as (images, pixels, channels), a view of channels first.

    Of what has no three axes, the array.
    """
    if array.ndim < 3:
        return array
    return np.ascontiguousarray(array.swapaxes(1, 2)).swapaxes(1, 2)


def laid_out(
    problem: GaussianProblem | BatchProblem, lay: Callable[[Array], Array]
) -> Callable[[], Any]:
    """tilefold on x, y and b as `lay` gives them; compiles in a whole call."""
    arguments = dict(problem.arguments)
    for name in "xyb":
        arguments[name] = lay(arguments[name])
    return FormulaRun(TEXT, arguments)
