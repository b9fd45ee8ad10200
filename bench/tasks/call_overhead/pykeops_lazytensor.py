# bench/tasks/call_overhead/pykeops_lazytensor.py - LazyTensors, each time.
"""pykeops, LazyTensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.keops import quietly

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import GaussianProblem

PACKAGES = ("pykeops",)


def prepare(problem: GaussianProblem) -> Callable[[], Any]:
    """The expression is built anew for each call, as in user code."""
    quietly()
    from pykeops.numpy import LazyTensor

    x, y, b = problem.x, problem.y, problem.b
    scale = float(problem.scale)

    def run() -> Any:
        x_i, y_j = LazyTensor(x[:, None, :]), LazyTensor(y[None, :, :])
        kernel = (-((x_i - y_j) ** 2).sum(-1) * scale).exp()
        return kernel @ b

    run()
    return run
