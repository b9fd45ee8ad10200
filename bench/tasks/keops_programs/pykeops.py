# bench/tasks/keops_programs/pykeops.py - the programs by pykeops.
"""pykeops."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bench import keops

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.keops_programs.task import ProgramProblem

PACKAGES = ("pykeops", "torch")


def prepare(problem: ProgramProblem) -> Callable[[], Any]:
    """Compiles by a first run."""
    keops.quietly()
    program = problem.program
    module = importlib.import_module(f"pykeops.{program.backend}")

    def run() -> Any:
        # Programs write to their arrays.
        return program.compute(module, *problem.data)

    run()
    return run
