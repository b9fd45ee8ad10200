# bench/tasks/call_overhead/pykeops_genred.py - a Genred object, called.
"""pykeops, Genred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.gaussian import pykeops

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = pykeops.PACKAGES


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The same call as for large sizes."""
    return pykeops.prepare(problem)
