# bench/tasks/warm_start/tilefold_without_llvm.py - libtilefold_llvm unreadable.
"""tilefold, LLVM unreadable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.case import Wrong
from bench.places import folder
from bench.start_up import StartUp, copy_tilefold
from bench.tasks.warm_start.tilefold import PACKAGES, PROGRAM, verified

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.points import GaussianProblem

__all__ = ["PACKAGES", "prepare"]

NEW_FORMULA = """
import tilefold
try:
    tilefold.reduce("sum_j |x_i - y_j|^3 b_j", x=x, y=y, b=b)
    notes["compiled"] = True
except tilefold.Error:
    notes["compiled"] = False
"""


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """A whole package fills the cache; one that cannot compile uses it."""
    place = folder("warm_start_without_llvm")
    caches = {"TILEFOLD_CACHE_DIR": str(place / "cache")}
    whole = copy_tilefold(place / "whole", llvm=True)
    StartUp(problem, place, caches, (whole,)).ask(PROGRAM)
    broken = copy_tilefold(place / "broken", llvm=False)
    start_up = StartUp(problem, place, caches, (broken,))
    if start_up.ask(NEW_FORMULA).notes["compiled"]:
        raise Wrong("a new formula was compiled without LLVM")
    return verified(start_up)
