# bench/tasks/keops_programs/tilefold.py - the programs on tilefold.
"""tilefold in the place of pykeops."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.keops_programs.task import ProgramProblem

PACKAGES = ("tilefold", "torch")
PACKAGE = "tilefold.compat.pykeops."


def prepare(problem: ProgramProblem) -> Callable[[], Any]:
    """Compiles by a first run."""
    program = problem.program
    module = importlib.import_module(
        f"tilefold.compat.pykeops.{program.backend}"
    )

    def run() -> Any:
        # Programs write to their arrays.
        return program.compute(module, *problem.data)

    run()
    return run
