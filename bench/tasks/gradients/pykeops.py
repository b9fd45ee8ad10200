# bench/tasks/gradients/pykeops.py - KeOps through its PyTorch front end.
"""pykeops, PyTorch forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.keops import FORMULA, quietly

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.gradients.task import GradientProblem

PACKAGES = ("pykeops", "torch")
SAMPLES = 5


def prepare(problem: GradientProblem) -> Callable[[], Any]:
    """Compiles on the first 8 rows. Its parameter is g = 1/2l²."""
    quietly()
    import torch
    from pykeops.torch import Genred

    aliases = ["x = Vi(3)", "y = Vj(3)", "b = Vj(1)", "g = Pm(1)"]
    formula = Genred(FORMULA, aliases, reduction_op="Sum", axis=1)
    x, y, b = (
        torch.tensor(array, requires_grad=True)
        for array in problem.arrays.values()
    )
    length = torch.tensor(problem.length, requires_grad=True)

    def run(rows: int = problem.n) -> Any:
        g = (1 / (2 * length**2)).reshape(1)
        value = formula(x[:rows], y, b[:, None], g, backend="CPU")
        gradients = torch.autograd.grad(value.sum(), (x, y, b, length))
        return (value.detach()[:, 0], *gradients)

    run(8)
    return run
