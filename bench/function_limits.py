# bench/function_limits.py - how slow a function may be.
"""Limits of functions as times of exp's own time in the same sum, in
function_limits.csv: twice the most that was measured on a Zen 3, a Zen 4 and an
Emerald Rapids, there by AVX2, too. They say that a function has lost its vector
code, or its tile."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tilefold
from bench.functions import FunctionProblem
from bench.tasks.functions.task import JUMPS, TOLERANCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POINTS = 2_000
SAMPLES = 7
_TABLE = Path(__file__).with_name("function_limits.csv")


class FunctionLimit(NamedTuple):
    """A function, and how many times exp's time it may take."""

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


def checked() -> Iterator[tuple[FunctionLimit, str]]:
    """Each limit, with what is wrong, or nothing.

    One that is missed is measured once more.
    """
    for limit in read_limits():
        yield limit, _wrong(limit) and _wrong(limit)


def times_of_exp(
    function: str, dtype: str, session: tilefold.Session | None = None
) -> float:
    """The time of a function's sum by that of exp, samples interleaved.

    Raises `ValueError` where the sum is wrong.
    """
    run, usual = (_bound(name, dtype, session) for name in (function, "exp"))
    times = [(_seconds(run), _seconds(usual)) for _ in range(SAMPLES)]
    own, others = zip(*times, strict=True)
    return min(own) / min(others)


def _wrong(limit: FunctionLimit) -> str:
    try:
        times = times_of_exp(limit.function, limit.dtype)
    except ValueError as error:
        return str(error)
    if times <= limit.most:
        return ""
    return f"{times:.1f} times the time of exp, at most {limit.most}"


def _bound(
    name: str, dtype: str, session: tilefold.Session | None
) -> Callable[[], Any]:
    problem = FunctionProblem(POINTS, name, dtype)
    formula = tilefold.compile(problem.text, session=session)
    run = formula.bind(**problem.arguments)
    error = problem.error(run())
    tolerance = 1e-2 if name in JUMPS else TOLERANCES[dtype]
    if error > tolerance:
        raise ValueError(f"{name} of {dtype} is off by {error}")
    return run


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
