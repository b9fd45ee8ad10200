# bench/tasks/warm_start/tilefold.py - the kernel comes from the cache.
"""tilefold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench.case import Wrong
from bench.places import folder
from bench.start_up import StartUp, copy_tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.points import GaussianProblem

PACKAGES = ("tilefold",)
PROGRAM = """
start = time.perf_counter()
import tilefold
out = tilefold.reduce(TEXT, x=x, y=y, b=b, l=l)
notes = {"inside": time.perf_counter() - start}
"""
VERIFY = """
statistics = tilefold.stats()
notes["compiles"] = statistics.compiles
notes["disk hits"] = statistics.disk_hits
notes["mapped"] = "tilefold_llvm" in open("/proc/self/maps").read()
"""


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """One process compiles, the next is questioned."""
    place = folder("warm_start")
    caches = {"TILEFOLD_CACHE_DIR": str(place / "cache")}
    package = copy_tilefold(place / "package", llvm=True)
    start_up = StartUp(problem, place, caches, (package,))
    start_up.ask(PROGRAM)
    return verified(start_up)


def verified(start_up: StartUp) -> Callable[[], Measured]:
    """The run, if the kernel was taken from disk without LLVM."""
    said = start_up.ask(PROGRAM + VERIFY).notes
    if said["compiles"] or said["disk hits"] != 1 or said["mapped"]:
        raise Wrong(f"not a start from the cache: {said}")
    return partial(start_up.measure, PROGRAM)
