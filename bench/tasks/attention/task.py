# bench/tasks/attention/task.py - softmax(q kᵀ/8) v, one head.
"""softmax(q kᵀ/8) v of one head with 64 components, 4,096 queries and as
many keys, standard normal. The error of a component is taken beside the
weighted mean of |v|. Of bfloat16 inputs tilefold gives float32, PyTorch
bfloat16 again; PyTorch rounds weights to bfloat16, tilefold where a tolerance
allows it."""

from __future__ import annotations

from functools import partial

from bench.attention import BFLOAT16, AttentionProblem
from bench.case import Case
from bench.goals import Goal, at_least, times_best_peer, with_tolerance

TITLE = "Attention"
TABLE = "times"


def _make(dtype: str, quick: bool) -> AttentionProblem:
    return AttentionProblem(300 if quick else 4096, dtype=dtype)


def _case(
    name: str,
    dtype: str,
    tolerance: float,
    goals: tuple[Goal, ...],
    more: tuple[str, ...] = (),
) -> Case:
    return Case(
        name=name,
        title=f"one head, N = M = 4,096, D = 64, {dtype}",
        problem=partial(_make, dtype),
        rated=True,
        tolerance=tolerance,
        goals=goals,
        contenders=("tilefold", *more, "torch_sdpa", "roofline"),
    )


CASES = [
    _case("attention_d64", "float32", 1e-5, (times_best_peer(1.15),)),
    _case(
        "attention_d64_bf16",
        BFLOAT16,
        0.03,
        (
            times_best_peer(1.6),
            with_tolerance(times_best_peer(1.6), "4e-3"),
            at_least(
                "pairs a second",
                "tilefold/pairs_per_second/median",
                1.0,
                1e-9,
                " G",
            ),
        ),
        ("tilefold_tolerance",),
    ),
]
