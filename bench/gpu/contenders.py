# bench/gpu/contenders.py - who computes a case on a card, each as a function
# that makes calls of it.
"""`prepare(problem, card)` gives a `Contest`, or raises Absent."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from bench.attention import BFLOAT16, AttentionProblem
from bench.case import Absent
from bench.neighbors import NeighborProblem
from bench.points import GaussianProblem
from bench.statements import StatementProblem, function

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.card import Card

MOST_PAIRS = 1 << 28  # of a block that others store


@dataclass(frozen=True)
class Contest:
    """`run` queues the work, `result` brings it to the CPU; `calls` are in
    one run."""

    run: Callable[[], Any]
    result: Callable[[Any], Any]
    calls: int = 1


# ---- tilefold ---------------------------------------------------------------


def tilefold_formula(problem: Any, card: Card) -> Contest:
    """Arrays of the driver, on its default stream."""
    # A stream that is given is one that nobody waits for.
    options = tilefold.Options(stream=0)
    if isinstance(problem, StatementProblem):
        formula = tilefold.compile(problem.text)
        arrays = [card.put(array) for array in problem.arrays]

        def run_all() -> Any:
            return [formula(x=array, options=options) for array in arrays]

        return Contest(
            run_all,
            lambda sums: np.array([card.get(each) for each in sums]),
            len(arrays),
        )
    given = {
        name: card.put(value) if np.ndim(value) else value
        for name, value in _host(problem).items()
    }
    formula = tilefold.compile(problem.text)
    return Contest(lambda: formula(given, options=options), card.get)


def tilefold_bound(problem: Any, card: Card) -> Contest:
    """The same, bound to its arrays."""
    if not isinstance(problem, StatementProblem):
        raise Absent("of interest for small calls only")
    formula = tilefold.compile(problem.text)
    bound = [
        formula.bind(x=card.put(array), options=tilefold.Options(stream=0))
        for array in problem.arrays
    ]
    return Contest(
        lambda: [each() for each in bound],
        lambda sums: np.array([card.get(each) for each in sums]),
        len(bound),
    )


def _host(problem: Any) -> dict[str, Any]:
    if isinstance(problem, AttentionProblem):
        arrays = problem.arrays
        if problem.dtype != BFLOAT16:
            return arrays
        return {
            name: (array.view(np.uint32) >> 16).astype(np.uint16).view("V2")
            for name, array in arrays.items()
        }
    return dict(problem.arguments)


# ---- torch ------------------------------------------------------------------


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise Absent("no module torch") from error
    if not torch.cuda.is_available():
        raise Absent("torch finds no GPU")
    return torch


def _on_host(tensor: Any) -> Any:
    return tensor.double().cpu().numpy()


def torch_chunked(problem: Any, _: Card) -> Contest:
    """Distances, and what is made of them, in blocks of rows."""
    torch = _torch()
    if not isinstance(problem, GaussianProblem):
        raise Absent("of distances only")
    x, y = (torch.from_numpy(a).cuda() for a in (problem.x, problem.y))
    b = torch.from_numpy(problem.b).cuda()
    step = max(1, MOST_PAIRS // len(y))

    def block(rows: Any) -> Any:
        squares = torch.cdist(rows, y).square_()
        if isinstance(problem, NeighborProblem):
            return squares.topk(problem.count, 1, largest=False).indices
        return squares.mul_(-problem.scale).exp_() @ b

    return Contest(
        lambda: torch.cat([block(rows) for rows in x.split(step)]), _on_host
    )


def torch_compiled(problem: Any, _: Card) -> Contest:
    """torch.compile of the formula as arrays; statements of any shape."""
    torch = _torch()
    if isinstance(problem, StatementProblem):
        tools = SimpleNamespace(
            exp=torch.exp,
            sin=torch.sin,
            cos=torch.cos,
            relu=torch.relu,
            sigmoid=torch.sigmoid,
        )
        chain = torch.compile(function(problem.count, tools), dynamic=True)
        arrays = [torch.from_numpy(array).cuda() for array in problem.arrays]
        return Contest(
            lambda: [chain(array) for array in arrays],
            lambda sums: np.array([float(each) for each in sums]),
            len(arrays),
        )
    if isinstance(problem, NeighborProblem | AttentionProblem):
        raise Absent("of sums only")
    x, y = (torch.from_numpy(a).cuda() for a in (problem.x, problem.y))
    b = torch.from_numpy(problem.b).cuda()

    @torch.compile  # type: ignore[untyped-decorator]
    def block(rows: Any) -> Any:
        squares = ((rows[:, None] - y[None]) ** 2).sum(-1)
        return (torch.exp(-problem.scale * squares) * b).sum(1)

    step = max(1, MOST_PAIRS // len(y))
    return Contest(
        lambda: torch.cat([block(rows) for rows in x.split(step)]), _on_host
    )


def torch_sdpa(problem: Any, _: Card) -> Contest:
    """scaled_dot_product_attention, by the kernel that torch prefers."""
    torch = _torch()
    if not isinstance(problem, AttentionProblem):
        raise Absent("of attention only")
    q, k, v = (
        torch.from_numpy(problem.arrays[name]).to(torch.bfloat16).cuda()[None]
        for name in "qkv"
    )
    attend = torch.nn.functional.scaled_dot_product_attention
    return Contest(lambda: attend(q, k, v)[0], _on_host)


# ---- others -----------------------------------------------------------------


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
    "tilefold": tilefold_formula,
    "tilefold_bound": tilefold_bound,
    "torch_chunked": torch_chunked,
    "torch_compiled": torch_compiled,
    "torch_sdpa": torch_sdpa,
    "cupy_chunked": cupy_chunked,
}
