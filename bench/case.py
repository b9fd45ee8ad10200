# bench/case.py - what a task and a contender say to the harness.
"""The words of the benchmark.

A *task* is a folder of bench/tasks. Its task.py lists `CASES`: the same work
at several sizes or types. Every other file is a *contender* with

    prepare(problem) -> run        does what is not timed, imports included
    run() -> result                is timed, or says itself what it took
                                   by returning `Measured`

and, where they differ from the default,

    LABEL     what tables call it (its first docstring line without the dot)
    PACKAGES  the distributions whose versions are written down
    SAMPLES   how many samples at most, where one takes very long
    COMPARED  False for a limit: less work than the task, without its result
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.goals import Goal


class Problem(Protocol):
    """The input of a case, and what the result must be."""

    @property
    def pairs(self) -> float:
        """Pairs of points a run goes through."""
        ...

    @property
    def sizes(self) -> dict[str, Any]:
        """What is written down: N, M, D, dtype …"""
        ...

    def error(self, result: Any) -> float:
        """How far a result is from float64."""
        ...


@dataclass(frozen=True)
class Case:
    """One row of work that all contenders of a task are given."""

    name: str
    title: str
    problem: Callable[[bool], Problem]  # called with `quick`
    tolerance: float  # largest error of a contender that is ranked
    samples: int = 9  # 0: the checked run says everything
    seconds: float = 0.05  # a sample repeats the run to take as long
    rated: bool = False  # pairs of points a second say something
    contenders: tuple[str, ...] = ()  # empty: all of the task
    timeout: float = 600.0  # of one run, in seconds
    goals: tuple[Goal, ...] = ()


@dataclass(frozen=True)
class Measured:
    """A result with its own time, from a run that times itself."""

    result: Any
    seconds: float
    notes: dict[str, Any] = field(default_factory=dict)
    by_itself: bool = True


class Absent(Exception):  # noqa: N818 - not an error: it is reported
    """A contender cannot run on this machine; says what is missing."""


class Wrong(Exception):  # noqa: N818
    """A contender found that it did not do what the task asks."""
