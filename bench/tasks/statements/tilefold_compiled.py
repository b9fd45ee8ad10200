# bench/tasks/statements/tilefold_compiled.py - in a graph of torch.compile.
"""tilefold under torch.compile(dynamic=True)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from bench.statements import calls_in_turn

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.statements import StatementProblem

PACKAGES = ("tilefold", "torch")


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """Compiles on every size; one graph serves them all."""
    formula = tilefold.compile(problem.text)

    def chain(x: Any) -> Any:
        return formula(x=x)

    compiled = torch.compile(chain, dynamic=True, fullgraph=True)
    arrays = list(map(torch.from_numpy, problem.arrays))
    for x in arrays:
        compiled(x)
    return calls_in_turn([partial(compiled, x) for x in arrays])
