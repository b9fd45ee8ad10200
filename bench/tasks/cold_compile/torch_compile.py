# bench/tasks/cold_compile/torch_compile.py - Inductor with an empty cache.
"""torch.compile."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import torch  # noqa: F401 - absent here if it is absent
from bench.case import Measured
from bench.fresh import FreshPython

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("torch",)
SAMPLES = 1  # seconds
PROGRAM = """
import torch
x, y, b = map(torch.from_numpy, (x, y, b))
scale = -1 / (2 * l**2)

def other(x, y, b):
    return ((x[:, None, :] - y[None, :, :]).abs().sum(-1) * b).sum(1)

def gaussian(x, y, b):
    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
    return (torch.exp(squares * scale) * b).sum(1)

torch.compile(other)(x, y, b)
start = time.perf_counter()
out = torch.compile(gaussian)(x, y, b).numpy()
notes = {"seconds": time.perf_counter() - start}
"""


def prepare(problem: GaussianProblem) -> Callable[[], Measured]:
    """A process and an empty cache for each sample."""

    def run() -> Measured:
        with TemporaryDirectory() as name:
            caches = {"TORCHINDUCTOR_CACHE_DIR": f"{name}/cache"}
            done = FreshPython(problem, Path(name), caches).run(PROGRAM)
        return Measured(done.result, done.notes["seconds"])

    return run
