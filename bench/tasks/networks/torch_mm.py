# bench/tasks/networks/torch_mm.py - the products of layers and nothing else.
"""the layers' products alone, torch.mm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores
from bench.case import Absent

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.networks import NetworkProblem

PACKAGES = ("torch",)
COMPARED = False
BLOCK = 4096  # pairs


def prepare(problem: NetworkProblem) -> Callable[[], Any]:
    """As many products of a block of pairs with a layer's weights."""
    if problem.layers == 1:
        raise Absent("one layer has no products of pairs with a matrix")
    torch.set_num_threads(cores())
    weights = torch.from_numpy(problem.arrays["W2"]).T
    units = torch.rand(BLOCK, problem.units)
    out = torch.empty_like(units)
    times = round((problem.layers - 1) * problem.pairs / BLOCK)

    @torch.no_grad()
    def run() -> Any:
        for _ in range(times):
            torch.mm(units, weights, out=out)

    return run
