# bench/tasks/statements/torch_eager.py - one operation after the other.
"""torch, eager."""

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
    """No graph of gradients is asked for."""
    chain = function(problem.count, torch)
    arrays = map(torch.from_numpy, problem.arrays)
    return calls_in_turn([partial(chain, x) for x in arrays])
