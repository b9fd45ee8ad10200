# bench/tasks/statements/tilefold_torch.py - tensors in place of arrays.
"""tilefold, from Python, tensors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from bench.tasks.statements.tilefold import compiled_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Measured
    from bench.statements import StatementProblem

PACKAGES = ("tilefold", "torch")


def prepare(problem: StatementProblem) -> Callable[[], Measured]:
    """f(x=x); no graph of gradients is asked for."""
    return compiled_once(
        problem, lambda formula, x: partial(formula, x=torch.from_numpy(x))
    )
