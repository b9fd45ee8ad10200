# bench/tasks/warm_start/pykeops.py - the formula is in the build folder.
"""pykeops, Genred."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pykeops  # noqa: F401 - absent here if it is absent
from bench.keops import FORMULA
from bench.places import folder
from bench.start_up import StartUp

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.points import GaussianProblem

PACKAGES = ("pykeops",)
SAMPLES = 5  # each starts ten processes
PROGRAM = f"""
start = time.perf_counter()
import pykeops
pykeops.set_verbose(False)
from pykeops.numpy import Genred
aliases = ["x = Vi(3)", "y = Vj(3)", "b = Vj(1)", "g = Pm(1)"]
reduction = Genred("{FORMULA}", aliases, reduction_op="Sum", axis=1)
scale = np.array([1 / (2 * l**2)], x.dtype)
out = reduction(x, y, b[:, None], scale, backend="CPU")
notes = {{"inside": time.perf_counter() - start}}
"""


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """One process compiles."""
    start_up = StartUp(problem, folder("warm_start_pykeops"), {})
    start_up.ask(PROGRAM)
    return partial(start_up.measure, PROGRAM)
