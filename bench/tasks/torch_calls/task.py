# bench/tasks/torch_calls/task.py - what a call costs by what torch does to it.
"""A Gaussian sum of 8 × 8 points, D = 3, float32 tensors: the work itself takes
some nanoseconds. `torch.func.vmap` maps over four clouds. `x + 1` is what
PyTorch takes for one operation under the same transform; of the rows with
`torch.compile` the whole call is one graph (`fullgraph=True`)."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.torch_calls import CallProblem

TITLE = "Small calls of tensors"
TABLE = "sweep"
TITLES = {
    "plain": "a call",
    "recorded": "x requires grad",
    "backward": "and its gradient",
    "vmap": "under vmap",
    "grad": "under func.grad",
}


def _make(face: str, _: bool) -> CallProblem:
    return CallProblem(face)


CASES = [
    Case(
        name=f"torch_calls_{face}",
        title=title,
        problem=partial(_make, face),
        tolerance=1e-5,
        samples=15,
    )
    for face, title in TITLES.items()
]
