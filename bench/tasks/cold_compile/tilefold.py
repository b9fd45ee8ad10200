# bench/tasks/cold_compile/tilefold.py - a new formula in a running process.
"""tilefold."""

from __future__ import annotations

import time
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.case import Measured, Wrong
from bench.points import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)
OTHER = "sum_j |x_i - y_j| b_j"


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """A session with a cache of its own for each sample."""

    def run() -> Measured:
        with TemporaryDirectory() as folder:
            options = tilefold.Options(cache_directory=folder)
            session = tilefold.Session(options)
            tilefold.reduce(
                OTHER, x=problem.x, y=problem.y, b=problem.b, session=session
            )
            before = session.stats()
            start = time.perf_counter()
            out = tilefold.reduce(TEXT, problem.arguments, session=session)
            seconds = time.perf_counter() - start
            after = session.stats()
        if after.compiles == before.compiles:
            raise Wrong("nothing was compiled")
        spent = after.compile_milliseconds - before.compile_milliseconds
        return Measured(out, seconds, {"in the compiler, ms": spent})

    return run
