# bench/tasks/networks/task.py - small networks on pairs.
"""Σ_j w·f(W_L f(… f(W₁ [x_i, y_j] + c₁) …) + c_L) of layers with equally many
units, three dimensions, float32. The other tools are given the products of the
first layer with x and y, as one hoists them by hand. The last row is a limit:
the products with matrices between layers and nothing else, by torch's own
product of two matrices."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import times_best_peer
from bench.networks import NetworkProblem

TITLE = "Small networks on pairs"
TABLE = "rates"
TOLERANCE = 1e-5
# (units, layers, activation, N = M)
NETWORKS = (
    (4, 1, "tanh", 4_000),
    (16, 1, "tanh", 4_000),
    (64, 1, "tanh", 2_000),
    (16, 2, "tanh", 2_000),
    (24, 2, "tanh", 2_000),
    (24, 2, "relu", 2_000),
    (64, 2, "relu", 1_500),
    (256, 2, "relu", 500),
    (32, 3, "relu", 1_500),
)


def _make(
    units: int, layers: int, activation: str, size: int, quick: bool
) -> NetworkProblem:
    return NetworkProblem(100 if quick else size, units, layers, activation)


CASES = [
    Case(
        name=f"networks_{units}x{layers}_{activation}",
        title=f"{units} units, {layers} layer{'s'[: layers - 1]}, {activation}",
        problem=partial(_make, units, layers, activation, size),
        rated=True,
        tolerance=TOLERANCE,
        goals=(times_best_peer(4.0),),
    )
    for units, layers, activation, size in NETWORKS
]
