# bench/summary.py - samples to medians, spreads and ratios.
"""Small statistics of timings; what results hold."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.rounds import Track

ENOUGH = 7  # kept samples of a median that is ranked
FEW = 3  # with fewer, the disturbed ones count too, and the row is marked


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    low, middle, high = values[0], values[0], values[0]
    if len(values) > 1:
        low, middle, high = statistics.quantiles(values, method="inclusive")
    return {"median": middle, "low": low, "high": high}


def timings(track: Track, enough: int) -> dict[str, Any]:
    """The times of a contender, as results hold them."""
    kept = [seconds for seconds in track.kept if seconds is not None]
    used = kept if len(kept) >= min(FEW, enough) else kept + track.disturbed
    found: dict[str, Any] = {"kept": len(kept), "taken": track.taken}
    if used:
        found["seconds"] = spread(used)
        found["samples"] = used
    if len(kept) < enough:
        found["status"] = "disturbed"
    return found


def ratio(track: Track, reference: Track) -> dict[str, float] | None:
    """Time of a contender by that of another, round by round."""
    pairs = zip(track.kept, reference.kept, strict=False)
    ratios = [a / b for a, b in pairs if a is not None and b is not None]
    return spread(ratios) if ratios else None


def notes(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians of numbers, the last of anything else."""
    joined: dict[str, Any] = {}
    for key in {key for one in found for key in one}:
        values = [one[key] for one in found if key in one]
        if all(type(value) in (int, float) for value in values):
            joined[key] = statistics.median(values)
        else:
            joined[key] = values[-1]
    return dict(sorted(joined.items()))
