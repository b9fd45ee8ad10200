# bench/tasks/jax_calls/task.py - what a formula costs in a program of JAX.
"""A Gaussian sum, D = 3, float32, under `jax.jit`: of eight points, where
`x + 1` is what a call of any program takes, and of 10,000 × 10,000 points with
its gradients by x, y and b. `jax.jit` has the sum as one writes it;
`lax.map` computes 64 rows at a time, and again for the gradient; the tiled
program is tilefold's formula in jax.numpy, as it is computed on platforms
without kernels."""

from __future__ import annotations

from functools import partial

from bench.case import Case
from bench.goals import Goal, at_most, number_at, times_faster
from bench.jax_calls import JaxProblem

TITLE = "Programs of JAX"
TABLE = "sweep"
MANY = ("jax_jit", "jax_blocks", "tilefold_tiled", "tilefold")


def _make(face: str, points: int, quick: bool) -> JaxProblem:
    return JaxProblem(face, min(points, 500) if quick else points)


def _beside_add() -> Goal:
    def reading(rows):  # noqa: ANN001, ANN202
        own = number_at(rows, "tilefold/seconds/median")
        unit = number_at(rows, "jax_add/seconds/median")
        return None if own is None or unit is None else own / unit

    return Goal("time beside that of x + 1", reading, 1.6, False, "×")


CASES = [
    Case(
        name="jax_calls_small",
        title="a call of 8 points",
        problem=partial(_make, "call", 8),
        tolerance=1e-5,
        samples=15,
        contenders=("jax_add", "jax_jit", "tilefold"),
        goals=(_beside_add(),),
    ),
    Case(
        name="jax_calls_sum",
        title="10,000² points",
        problem=partial(_make, "call", 10_000),
        tolerance=1e-5,
        samples=7,
        contenders=MANY,
        goals=(
            times_faster("jax_jit", 50),
            at_most(
                "memory beyond the arrays",
                "tilefold/peak_bytes",
                1,
                1 / 2**20,
                " MiB",
            ),
        ),
    ),
    Case(
        name="jax_calls_gradient",
        title="their gradients",
        problem=partial(_make, "gradient", 10_000),
        tolerance=1e-4,
        samples=7,
        contenders=MANY,
        goals=(times_faster("jax_jit", 100), times_faster("jax_blocks", 50)),
    ),
]
