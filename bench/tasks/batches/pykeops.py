# bench/tasks/batches/pykeops.py - LazyTensors with a batch dimension.
"""pykeops, LazyTensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.keops import quietly

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.tasks.batches.task import BatchProblem

PACKAGES = ("pykeops",)


def prepare(problem: BatchProblem) -> Callable[[], Any]:
    """Genred has no batches. Compiles in a whole call."""
    quietly()
    from pykeops.numpy import LazyTensor

    x, y, b = problem.arrays.values()
    scale = float(problem.scale)

    def run() -> Any:
        x_i, y_j = LazyTensor(x[:, :, None]), LazyTensor(y[:, None])
        b_j = LazyTensor(b[:, None, :, None])
        kernel = (-((x_i - y_j) ** 2).sum(-1) * scale).exp()
        return (kernel * b_j).sum(2, backend="CPU")

    run()
    return run
