# python_bindings/tilefold/compat/pykeops/ranges.py - block-sparse reductions.
"""KeOps's six lists of ranges as `tilefold.Ranges`.

`(ranges_i, slices_i, redranges_j, ranges_j, slices_j, redranges_i)`: tile t of
i, the points from ranges_i[t, 0] up to ranges_i[t, 1], meets the intervals of
redranges_j from slices_i[t - 1] up to slices_i[t]. The second half says the
same with j as rows, for reductions over i; only the half that a reduction
needs is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tilefold
from tilefold.compat.pykeops.operations import fail
from tilefold.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["as_ranges", "computed"]

Numbers = np.ndarray[Any, np.dtype[np.int64]]

MOST_KEPT = 64

_KEPT: dict[Any, tuple[Any, list[tilefold.Ranges]]] = {}


def as_ranges(
    ranges: Any, axis: int, lengths: tuple[int, int]
) -> list[tilefold.Ranges]:
    """The pairs of points that are met, as sets that overlap nowhere inside.

    Intervals that overlap in a tile count as often as they are listed, so that
    they are put into several sets. Raises ValueError.
    """
    if not isinstance(ranges, (tuple, list)) or len(ranges) != 6:
        fail("ranges is None or a tuple of six arrays of whole numbers")
    half = tuple(ranges[:3] if axis == 1 else ranges[3:])
    key = (axis, *((id(one), getattr(one, "_version", 0)) for one in half))
    kept = _KEPT.get(key)
    # Held by the list, so that an id stays that of these arrays; arrays of
    # NumPy may be changed in place, so that they are read each time.
    if kept is not None and all(map(_is_tensor, half)):
        return kept[1]
    rows, slices, columns = map(_numbers, half)
    made = _sets(rows, slices, columns, axis, lengths)
    if len(_KEPT) >= MOST_KEPT:
        _KEPT.clear()
    _KEPT[key] = half, made
    return made


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_version")


def _numbers(values: Any) -> Numbers:
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        fail(f"ranges of dtype {array.dtype}: expected whole numbers")
    return array.astype(np.int64)


def _sets(
    rows: Numbers,
    slices: Numbers,
    columns: Numbers,
    axis: int,
    lengths: tuple[int, int],
) -> list[tilefold.Ranges]:
    rows, columns = rows.reshape(-1, 2), columns.reshape(-1, 2)
    slices = slices.reshape(-1)
    if len(slices) != len(rows):
        fail(f"ranges: {len(rows)} tiles with {len(slices)} slices")
    if len(slices) and slices[-1] > len(columns):
        fail(f"ranges: slices up to {slices[-1]} of {len(columns)} intervals")
    kept, other = (lengths[0], lengths[1]) if axis == 1 else lengths[::-1]
    for name, found, size in (
        ("tiles", rows, kept),
        ("intervals", columns, other),
    ):
        if found.size and (found.min() < 0 or found.max() > size):
            fail(f"ranges: {name} reach beyond the {size} points")
    counts = np.concatenate([[0], slices])
    try:
        made = [tilefold.Ranges.from_intervals(rows, counts, columns)]
    except ArgumentError:  # perhaps since intervals overlap
        made = _in_layers(rows, slices, columns)
    return made if axis == 1 else [one.T for one in made]


def _in_layers(
    rows: Numbers, slices: Numbers, columns: Numbers
) -> list[tilefold.Ranges]:
    """The same pairs, as several sets that overlap nowhere inside."""
    layers: list[list[list[Any]]] = [[[] for _ in slices]]
    start = 0
    for tile, end in enumerate(slices.tolist()):
        for depth, met in enumerate(_layers(columns[start:end])):
            while len(layers) <= depth:
                layers.append([[] for _ in slices])
            layers[depth][tile] = met
        start = end
    made = []
    for layer in layers:
        counts = [0, *np.cumsum([len(met) for met in layer]).tolist()]
        flat = [interval for met in layer for interval in met]
        intervals = np.asarray(flat, dtype=np.int64).reshape(-1, 2)
        try:
            made.append(tilefold.Ranges.from_intervals(rows, counts, intervals))
        except ArgumentError as error:
            fail(f"ranges: {error}")
    return made


def _layers(intervals: Numbers) -> list[list[list[int]]]:
    """The intervals, in lists of such that do not overlap."""
    order = sorted(one for one in intervals.tolist() if one[0] < one[1])
    found: list[list[list[int]]] = []
    for interval in order:
        for layer in found:
            if layer[-1][1] <= interval[0]:
                layer.append(interval)
                break
        else:
            found.append([interval])
    return found


def computed(
    once: Callable[[Any], Any], sets: list[tilefold.Ranges], reduction: str
) -> Any:
    """The reduction over the pairs of all sets."""
    if len(sets) == 1:
        return once(sets[0])
    if reduction != "Sum":
        fail(f"{reduction} over ranges that overlap in a tile: merge them")
    total = once(sets[0])
    for one in sets[1:]:
        total = total + once(one)
    return total
