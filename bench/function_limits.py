# bench/function_limits.py - how slow a function, or a network, may be.
"""Limits of the time of a pair as times of exp's, in function_limits.csv: twice
the most that was measured on a Zen 3, a Zen 4 and an Emerald Rapids, there by
AVX2, too. They say that a function has lost its vector code, or its tile."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tilefold
from bench.functions import FUNCTIONS, FunctionProblem
from bench.networks import NetworkProblem
from bench.tasks.functions.task import tolerance
from bench.tasks.networks.task import NETWORKS, TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

POINTS = 2_000
SHARE = 4  # of the points that the task networks has, one of so many
SAMPLES = 7
_TABLE = Path(__file__).with_name("function_limits.csv")


class FunctionLimit(NamedTuple):
    """A function, or a network, and how many times exp's time it may take."""

    function: str
    dtype: str
    most: float

    def __str__(self) -> str:
        return f"{self.function} of {self.dtype}"


def read_limits() -> list[FunctionLimit]:
    """The table's."""
    with _TABLE.open(newline="") as file:
        return [
            FunctionLimit(row["function"], row["dtype"], float(row["most"]))
            for row in csv.DictReader(file)
        ]


def checked(
    limits: Iterable[FunctionLimit],
) -> Iterator[tuple[FunctionLimit, str]]:
    """Each limit, with what is wrong, or nothing.

    One that is missed is measured once more.
    """
    for limit in limits:
        yield limit, _wrong(limit) and _wrong(limit)


def times_of_exp(
    function: str, dtype: str, session: tilefold.Session | None = None
) -> float:
    """The time of a pair by that with exp, samples interleaved.

    Raises `ValueError` where the sum is wrong.
    """
    both = [_problem(name, dtype) for name in (function, "exp")]
    run, usual = (_bound(problem, session) for problem in both)
    times = [(_seconds(run), _seconds(usual)) for _ in range(SAMPLES)]
    own, others = zip(*times, strict=True)
    return min(own) / both[0].pairs / (min(others) / both[1].pairs)


def network_name(units: int, layers: int, activation: str) -> str:
    """As the table has it."""
    return f"network {units}x{layers} {activation}"


def _wrong(limit: FunctionLimit) -> str:
    try:
        times = times_of_exp(limit.function, limit.dtype)
    except ValueError as error:
        return str(error)
    if times <= limit.most:
        return ""
    return f"{times:.1f} times the time of exp, at most {limit.most}"


def _problem(name: str, dtype: str) -> FunctionProblem | NetworkProblem:
    if name in FUNCTIONS:
        return FunctionProblem(POINTS, name, dtype)
    [(*network, size)] = [
        row for row in NETWORKS if network_name(*row[:3]) == name
    ]
    return NetworkProblem(size // SHARE, *network)


def _bound(
    problem: FunctionProblem | NetworkProblem, session: tilefold.Session | None
) -> Callable[[], Any]:
    formula = tilefold.compile(problem.text, session=session)
    run = formula.bind(**problem.arguments)
    error = problem.error(run())
    if error > _tolerance(problem):
        raise ValueError(f"{problem.text} is off by {error}")
    return run


def _tolerance(problem: FunctionProblem | NetworkProblem) -> float:
    if isinstance(problem, NetworkProblem):
        return TOLERANCE
    return tolerance(problem.function, problem.dtype)


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
