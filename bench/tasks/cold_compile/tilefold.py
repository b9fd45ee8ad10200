# bench/tasks/cold_compile/tilefold.py - a new formula in a running process.
"""tilefold."""

from __future__ import annotations

import time
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.case import Measured, Wrong

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.cold import ColdProblem

PACKAGES = ("tilefold",)
OTHER = "sum_j |x_j|"


def prepare(problem: ColdProblem) -> Callable[[], Measured]:
    """A session with a cache of its own for each sample."""
    arguments = problem.arguments

    def run() -> Measured:
        with TemporaryDirectory() as folder:
            options = tilefold.Options(cache_directory=folder)
            session = tilefold.Session(options)
            tilefold.reduce(OTHER, x=arguments["x"], session=session)
            before = session.stats()
            start = time.perf_counter()
            out = tilefold.reduce(problem.text, arguments, session=session)
            seconds = time.perf_counter() - start
            after = session.stats()
        if after.compiles == before.compiles:
            raise Wrong("nothing was compiled")
        spent = after.compile_milliseconds - before.compile_milliseconds
        return Measured(out, seconds, {"in the compiler, ms": spent})

    return run
