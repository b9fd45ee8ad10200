# bench/gpu/cases.py - what a card computes: the problems of the CPU's tasks,
# of a card's sizes.
"""A case is a problem and how far results may be from float64."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.attention import BFLOAT16, AttentionProblem
from bench.matrices import MatrixProblem
from bench.neighbors import TOLERANCE as NEIGHBORS
from bench.neighbors import NeighborProblem
from bench.points import GaussianProblem, GaussianSizes
from bench.statements import StatementProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.case import Problem

FEW = 300  # points, with --quick


@dataclass(frozen=True)
class GpuCase:
    """One row of work; `limit`: pairs a second that an H200 can do, where
    that is known from its clocks alone; `limits`: by contenders whose
    products have other errors."""

    name: str
    title: str
    problem: Callable[[bool], Problem]
    tolerance: float
    limit: float | None = None
    limits: dict[str, float] = field(default_factory=dict)

    def limit_of(self, contender: str) -> float | None:
        """That of a contender."""
        return self.limits.get(contender, self.limit)


def _gaussian(d: int, limit: float, **limits: float) -> GpuCase:
    def problem(quick: bool) -> Problem:
        n = FEW if quick else 1_000_000
        return GaussianProblem(GaussianSizes(n, n, d, "float32"))

    title = f"Gaussian sum, D = {d}"
    return GpuCase(f"gaussian_d{d}", title, problem, 1e-5, limit, limits)


def _attention(width: int, limit: float) -> GpuCase:
    def problem(quick: bool) -> Problem:
        return AttentionProblem(FEW if quick else 16_384, width, BFLOAT16)

    title = f"attention, D = {width}, bfloat16"
    return GpuCase(f"attention_d{width}", title, problem, 2e-2, limit)


def _nearest(d: int) -> GpuCase:
    def problem(quick: bool) -> Problem:
        n = FEW if quick else 100_000
        return NeighborProblem(GaussianSizes(n, n, d, "float32"), 10)

    title = f"10 nearest, D = {d}"
    return GpuCase(f"nearest_d{d}", title, problem, NEIGHBORS)


def _matrix(n: int, d: int, product: bool) -> GpuCase:
    def problem(quick: bool) -> Problem:
        return MatrixProblem(FEW if quick else n, d, product)

    what = "product" if product else "dense"
    title = f"kernel matrix, {what}, N = {n:,}, D = {d}"
    return GpuCase(f"{what}_{n}_d{d}", title, problem, 1e-5)


def _statements(count: int) -> GpuCase:
    def problem(_: bool) -> Problem:
        return StatementProblem(count)

    title = f"{count} statements, ten shapes in turn"
    return GpuCase(f"statements_{count}", title, problem, 1e-5)


CASES = [
    _gaussian(3, 4.2e12),
    _gaussian(16, 9.8e11, tilefold_tf32x3=1.8e12, tilefold_bf16x3=1.8e12),
    _gaussian(64, 2.6e11, tilefold_tf32x3=1.3e12, tilefold_bf16x3=2.6e12),
    _attention(64, 3.9e12),
    _attention(128, 1.9e12),
    _nearest(3),
    _nearest(64),
    *(
        _matrix(n, d, product)
        for product in (False, True)
        for d in (2, 10)
        for n in (1000, 10_000, 50_000)
    ),
    *(_statements(count) for count in (1, 5, 10, 20, 30)),
]


def select(names: list[str]) -> list[GpuCase]:
    """Those of the names, or that begin with one; all where there is none.

    Raises ValueError.
    """
    for name in names:
        if not any(case.name.startswith(name) for case in CASES):
            known = ", ".join(case.name for case in CASES)
            raise ValueError(f"no case '{name}' for GPUs: {known}")
    return [
        case
        for case in CASES
        if not names or any(case.name.startswith(name) for name in names)
    ]
