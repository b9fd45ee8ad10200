# bench/tasks/networks/torch_eager.py - torch, one operation after the other.
"""torch, first layer hoisted, blocks of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from bench.calibration import cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.networks import NetworkProblem

PACKAGES = ("torch",)
NUMBERS = 1 << 18  # of a block's units, which stay in the second cache


def prepare(problem: NetworkProblem) -> Callable[[], Any]:
    """Blocks are changed in place, where they can be."""
    torch.set_num_threads(cores())
    arrays = {n: torch.from_numpy(a) for n, a in problem.arrays.items()}
    rows, columns = map(torch.from_numpy, problem.first)
    apply = getattr(torch, f"{problem.activation}_")
    step = max(1, NUMBERS // (problem.n * problem.units))

    @torch.no_grad()
    def run() -> Any:
        parts = []
        for block in rows.split(step):
            units = apply(block[:, None] + columns).flatten(0, 1)
            for k in range(2, problem.layers + 1):
                units = apply(
                    torch.addmm(arrays[f"c{k}"], units, arrays[f"W{k}"].T)
                )
            parts.append((units @ arrays["w"]).view(len(block), -1).sum(1))
        return torch.cat(parts)

    return run
