# bench/tasks/cold_compile/tilefold_first.py - the first formula of a process.
"""tilefold, first in its process."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.case import Measured
from bench.fresh import FreshPython

import tilefold  # noqa: F401 - absent here if it is absent

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)
PROGRAM = """
import tilefold
start = time.perf_counter()
out = tilefold.reduce(TEXT, x=x, y=y, b=b, l=l)
notes = {"seconds": time.perf_counter() - start}
assert tilefold.stats().compiles > 0
"""


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """A process and an empty cache for each sample."""

    def run() -> Measured:
        with TemporaryDirectory() as name:
            caches = {"TILEFOLD_CACHE_DIR": f"{name}/cache"}
            done = FreshPython(problem, Path(name), caches).run(PROGRAM)
        return Measured(done.result, done.notes["seconds"])

    return run
