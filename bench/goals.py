# bench/goals.py - what a case has to reach, and whether it does.
"""A goal is a number made of the rows of a result, and its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = dict[str, dict[str, Any]]
    Reading = Callable[[Rows], float | None]

OWN = (
    "roofline",
    "numpy",
    "read_only",
    "tilefold",
    "torch_mm",
)  # a peer is called otherwise


@dataclass(frozen=True)
class Goal:
    """At least or at most a limit."""

    text: str  # what is measured
    reading: Reading
    limit: float
    at_least: bool
    unit: str = ""

    def met(self, value: float) -> bool:
        """Whether a value reaches the limit."""
        return value >= self.limit if self.at_least else value <= self.limit

    def wanted(self) -> str:
        """The limit as text."""
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.limit:g}{self.unit}"


def share_of_roofline(limit: float) -> Goal:
    """tilefold's speed by that of the hand-written kernel."""
    return Goal(
        "share of the hand-written kernel",
        lambda rows: _times(rows, "roofline"),
        limit,
        at_least=True,
    )


def times_faster(peer: str, limit: float) -> Goal:
    """How many times faster tilefold is than one contender."""
    return Goal(
        f"speed against {peer}",
        lambda rows: _times(rows, peer),
        limit,
        at_least=True,
        unit="×",
    )


def slower_at_most(other: str, limit: float) -> Goal:
    """What another way of tilefold's takes beside one call."""
    return Goal(
        f"time of {other}",
        lambda rows: _times(rows, other),
        limit,
        at_least=False,
        unit="×",
    )


def times_best_peer(limit: float) -> Goal:
    """How many times faster tilefold is than the best other tool."""
    return Goal(
        "speed against the best other tool", _best_peer, limit, True, "×"
    )


def with_tolerance(goal: Goal, tolerance: str = "1e-5") -> Goal:
    """The same of tilefold with a tolerance, for a goal of times."""

    def reading(rows: Rows) -> float | None:
        times = goal.reading(rows)
        own = _times(rows, "tilefold_tolerance")
        return None if times is None or own is None else times / own

    text = f"{goal.text}, with a tolerance of {tolerance}"
    return Goal(text, reading, goal.limit, goal.at_least, goal.unit)


def at_most(
    what: str, place: str, limit: float, scale: float = 1, unit: str = ""
) -> Goal:
    """A number of a row, found as number_at does."""
    return Goal(
        what, lambda rows: number_at(rows, place, scale), limit, False, unit
    )


def at_least(
    what: str, place: str, limit: float, scale: float = 1, unit: str = ""
) -> Goal:
    """As at_most, from below."""
    return Goal(
        what, lambda rows: number_at(rows, place, scale), limit, True, unit
    )


def beyond(
    what: str, name: str, base: str, limit: float, scale: float, unit: str
) -> Goal:
    """A contender's time less that of another, in units of 1/scale."""

    def reading(rows: Rows) -> float | None:
        whole = number_at(rows, f"{name}/seconds/median", scale)
        least = number_at(rows, f"{base}/seconds/median", scale)
        return None if whole is None or least is None else whole - least

    return Goal(
        f"time beyond the arithmetic, {what}", reading, limit, False, unit
    )


def number_at(rows: Rows, place: str, scale: float = 1) -> float | None:
    """A number of a result by the keys on the way, contender first.

    "tilefold/seconds/median" in units of 1/scale.
    """
    value: Any = rows
    for key in place.split("/"):
        value = value.get(key) if isinstance(value, dict) else None
    return None if value is None else value * scale


def _times(rows: Rows, name: str) -> float | None:
    row = rows.get(name, {})
    if row.get("status") not in {"ok", "disturbed"}:
        return None
    return row.get("times_tilefold", {}).get("median")


def _best_peer(rows: Rows) -> float | None:
    peers = [name for name in rows if not name.startswith(OWN)]
    found = [_times(rows, name) for name in peers]
    return min((times for times in found if times), default=None)
