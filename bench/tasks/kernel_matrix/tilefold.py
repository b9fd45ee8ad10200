# bench/tasks/kernel_matrix/tilefold.py - a lazy kernel.
"""tilefold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.matrices import TEXT

import tilefold

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.matrices import MatrixProblem

PACKAGES = ("tilefold",)


def prepare(problem: MatrixProblem) -> Callable[[], Any]:
    """Compiles on the first 8 points; a product never has the matrix."""
    length = problem.length

    def run(count: int = problem.n) -> Any:
        x, b = problem.x[:count], problem.b[:count]
        matrix = tilefold.kernel(TEXT, x=x, l=length)
        return matrix @ b if problem.product else matrix.dense()

    run(8)
    return run
