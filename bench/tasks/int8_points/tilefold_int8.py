# bench/tasks/int8_points/tilefold_int8.py - a byte for each coordinate.
"""tilefold, 8 bits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.case import Wrong

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Choosing the codes is not timed."""
    x, y = tilefold.quantize(problem.x), tilefold.quantize(problem.y)
    for codes, points in ((x, problem.x), (y, problem.y)):
        if not np.array_equal(codes.dequantize(), points):
            raise Wrong("the codes are not the points")
        if 4 * np.asarray(codes.codes).nbytes > points.nbytes:
            raise Wrong("the codes take more than a quarter of the points")
    formula = tilefold.compile(problem.text)
    arguments = {**problem.arguments, "x": x, "y": y}
    formula(**arguments)
    return partial(formula, **arguments)
