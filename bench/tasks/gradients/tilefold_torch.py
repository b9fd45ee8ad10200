# bench/tasks/gradients/tilefold_torch.py - recorded by PyTorch.
"""tilefold, PyTorch forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.tasks.gradients.task import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.gradients.task import GradientProblem

PACKAGES = ("tilefold", "torch")


def prepare(problem: GradientProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows."""
    import torch

    formula = tilefold.compile(TEXT)
    tensors = {
        name: torch.tensor(array, requires_grad=True)
        for name, array in problem.arrays.items()
    }
    tensors["l"] = torch.tensor(problem.length, requires_grad=True)
    rest = {name: tensors[name] for name in "ybl"}

    def run(rows: int = problem.n) -> Any:
        x = tensors["x"][:rows]
        value = formula(x=x, **rest)
        gradients = torch.autograd.grad(value.sum(), (x, *rest.values()))
        return (value.detach(), *gradients)

    run(8)
    return run
