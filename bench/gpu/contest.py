# bench/gpu/contest.py - what a contender gives the harness of a card.
"""`prepare(problem, card)` gives a `Contest`, or raises Absent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_PAIRS = 1 << 28  # of a block that others store
MOST_MOVED = 1e14  # bytes: half a minute of a card that moves 4 TB a second


@dataclass(frozen=True)
class Contest:
    """`run` queues the work, `result` brings it to the CPU; `calls` are in
    one run."""

    run: Callable[[], Any]
    result: Callable[[Any], Any]
    calls: int = 1
