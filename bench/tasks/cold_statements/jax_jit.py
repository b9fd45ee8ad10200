# bench/tasks/cold_statements/jax_jit.py - XLA, without what it has kept.
"""jax.jit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import jax
from bench.case import Measured
from bench.jax_tools import JaxTools
from bench.statements import function

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.cold_statements.task import ColdStatements

PACKAGES = ("jax",)


def prepare(problem: ColdStatements) -> Callable[[], Measured]:
    """Another function has been compiled; caches are emptied."""
    x = jax.numpy.asarray(problem.arrays[0])
    jax.jit(lambda x: abs(x).sum())(x)

    def run() -> Measured:
        jax.clear_caches()
        start = time.perf_counter()
        out = float(jax.jit(function(problem.count, JaxTools))(x))
        return Measured(out, time.perf_counter() - start)

    return run
