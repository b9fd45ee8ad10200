# bench/tasks/int8_points/tilefold_uint8.py - coordinates as whole numbers.
"""tilefold, uint8 in units of 1/256."""

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
UNIT = 1 / 256


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """Lengths are in units too; the nearest points are the same."""
    arguments = {
        **problem.arguments,
        "x": _whole(problem.x),
        "y": _whole(problem.y),
    }
    if "l" in arguments:
        arguments["l"] = arguments["l"] / UNIT
    formula = tilefold.compile(problem.text)
    formula(**arguments)
    return partial(formula, **arguments)


def _whole(points: np.ndarray) -> np.ndarray:
    codes = (points / UNIT).astype(np.uint8)
    if not np.array_equal(codes * np.float32(UNIT), points):
        raise Wrong("the whole numbers are not the points")
    return codes
