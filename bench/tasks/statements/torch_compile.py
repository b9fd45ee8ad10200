# bench/tasks/statements/torch_compile.py - Inductor, for any n.
"""torch.compile(dynamic=True)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from bench.statements import calls_in_turn, function

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.statements import StatementProblem

PACKAGES = ("torch",)


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """Compiles on every size; one kernel serves them all."""
    chain = torch.compile(function(problem.count, torch), dynamic=True)
    arrays = list(map(torch.from_numpy, problem.arrays))
    for x in arrays:
        chain(x)
    return calls_in_turn([partial(chain, x) for x in arrays])
