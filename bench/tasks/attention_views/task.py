# bench/tasks/attention_views/task.py - attention of views of one array.
"""softmax(q kᵀ/√512) v for 32 batches of 1,024 queries and keys of 512
components, float32, where q, k and v are strided views of one array
(32, 1024, 3, 512): all keys, or only those not after the query. Memory is
beyond the inputs and the result; the scores would take 128 MiB."""

from __future__ import annotations

from functools import partial

from bench.attention import AttentionProblem
from bench.case import Case
from bench.goals import at_most, times_best_peer

TITLE = "Attention of views"
TABLE = "times"
CONTENDERS_OF = "attention"


def _make(causal: bool, quick: bool) -> AttentionProblem:
    batches, n, width = (2, 100, 64) if quick else (32, 1024, 512)
    return AttentionProblem(n, width, batches=batches, causal=causal)


CASES = [
    Case(
        name=f"attention_views{'_causal' * causal}",
        title=f"B = 32, L = 1,024, D = 512, {'causal' if causal else 'all'}",
        problem=partial(_make, causal),
        rated=True,
        tolerance=1e-4,
        goals=(
            times_best_peer(1),
            at_most("error", "tilefold/error", 1e-4),
            at_most("memory", "tilefold/peak_bytes", 16, 2**-20, " MiB"),
        ),
        contenders=("tilefold", "torch_sdpa"),
    )
    for causal in (False, True)
]
