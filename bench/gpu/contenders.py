# bench/gpu/contenders.py - who computes a case on a card.
"""Each is a function that prepares a `Contest`, by the name it is told by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.attention import AttentionProblem
from bench.case import Absent
from bench.gpu import own, torch_contenders
from bench.gpu.contest import MOST_MOVED, MOST_PAIRS, Contest
from bench.neighbors import NeighborProblem
from bench.points import GaussianProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.card import Card


def cupy_chunked(problem: Any, _: Card) -> Contest:
    """Differences as arrays, in blocks of rows."""
    try:
        import cupy
    except ImportError as error:
        raise Absent("no module cupy") from error
    if isinstance(problem, NeighborProblem) or not isinstance(
        problem, GaussianProblem
    ):
        raise Absent("of sums only")
    moved = problem.pairs * 4 * (4 * problem.given.d + 6)  # written, and read
    if moved > MOST_MOVED:
        raise Absent(f"{moved * 1e-12:.0f} TB written and read in between")
    x, y, b = map(cupy.asarray, (problem.x, problem.y, problem.b))
    step = max(1, MOST_PAIRS // 16 // len(y))

    def block(rows: Any) -> Any:
        squares = ((rows[:, None] - y[None]) ** 2).sum(-1)
        return cupy.exp(-problem.scale * squares) @ b

    return Contest(
        lambda: cupy.concatenate(
            [block(x[k : k + step]) for k in range(0, len(x), step)]
        ),
        cupy.asnumpy,
    )


CONTENDERS: dict[str, Callable[[Any, Card], Contest]] = {
    "tilefold": own.tilefold_formula,
    "tilefold_tf32x3": own.with_tolerance(4e-7, GaussianProblem),
    "tilefold_bf16x3": own.with_tolerance(1e-5, GaussianProblem),
    "tilefold_bf16": own.with_tolerance(5e-3, AttentionProblem),
    "tilefold_bound": own.tilefold_bound,
    "pykeops": torch_contenders.pykeops_genred,
    "torch_chunked": torch_contenders.torch_chunked,
    "torch_compiled": torch_contenders.torch_compiled,
    "torch_sdpa": torch_contenders.torch_sdpa,
    "torch_flex": torch_contenders.torch_flex,
    "torch_broadcast": torch_contenders.torch_broadcast,
    "torch_vmap": torch_contenders.torch_vmap,
    "gpytorch": torch_contenders.gpytorch_rbf,
    "cupy_chunked": cupy_chunked,
}
