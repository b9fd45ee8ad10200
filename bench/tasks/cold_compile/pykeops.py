# bench/tasks/cold_compile/pykeops.py - Genred with an empty build folder.
"""pykeops, Genred."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pykeops  # noqa: F401 - absent here if it is absent
from bench.case import Measured
from bench.fresh import FreshPython
from bench.keops import FORMULA

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("pykeops",)
SAMPLES = 1  # ten seconds or so; nobody needs to know it better
PROGRAM = f"""
import pykeops
pykeops.set_verbose(False)
from pykeops.numpy import Genred

def call(formula):
    aliases = ["x = Vi(3)", "y = Vj(3)", "b = Vj(1)", "g = Pm(1)"]
    scale = np.array([1 / (2 * l**2)], x.dtype)
    reduction = Genred(formula, aliases, reduction_op="Sum", axis=1)
    return reduction(x, y, b[:, None], scale, backend="CPU")

call("Norm2(x-y)*b*g")
start = time.perf_counter()
out = call("{FORMULA}")
notes = {{"seconds": time.perf_counter() - start}}
"""


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """A process and an empty folder for each sample."""

    def run() -> Measured:
        with TemporaryDirectory() as name:
            (cache := Path(name) / "cache").mkdir()
            caches = {"KEOPS_CACHE_FOLDER": str(cache)}
            done = FreshPython(problem, Path(name), caches).run(PROGRAM)
        return Measured(done.result, done.notes["seconds"])

    return run
