# bench/tasks/cold_statements/torch_compile.py - Inductor, no cache.
"""torch.compile."""

from __future__ import annotations

import os
import time
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import torch
from bench.case import Measured
from bench.statements import function

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.cold_statements.task import ColdStatements

PACKAGES = ("torch",)
SAMPLES = 1  # seconds


def prepare(problem: ColdStatements) -> Callable[[], Measured]:
    """Another function has been compiled; each sample has an empty folder."""
    x = torch.from_numpy(problem.arrays[0])
    torch.compile(lambda x: x.abs().sum())(x)

    def run() -> Measured:
        with TemporaryDirectory() as folder:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
            torch.compiler.reset()
            start = time.perf_counter()
            out = torch.compile(function(problem.count, torch))(x).item()
            return Measured(out, time.perf_counter() - start)

    return run
