# python_bindings/tilefold/ranges.py - block sparsity: which pairs are met.
"""`Ranges`: the pairs of points that a reduction meets, tile by tile.

    ranges = tilefold.Ranges([0, 500, 1000], [0, 400, 900], visit)
    tilefold.reduce("sum_j exp(-|x_i - y_j|²) b_j", x=x, y=y, b=b,
                    ranges=ranges)

All other pairs are left out, in the value and in every derivative: the time
of a call is that of the pairs that are met.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core

if TYPE_CHECKING:
    from tilefold.array_types import ArrayLike

__all__ = ["Ranges", "intervals"]

MAX_TILES = 2**26  # of all batches: 2 GB of numbers
MOST_PAIRS = 2**33  # truth values that are looked through


class Ranges:
    """Tiles of points on i and on j, and which pairs of tiles meet.

    All other pairs are left out, in values and in derivatives, and a call takes
    the time of those that are met. Points of no tile meet nothing: their sum is
    0, their minimum inf.

    Parameters
    ----------
    i, j : array of integers
        T + 1 ascending offsets, tile t being the points from ``i[t]`` up to
        ``i[t + 1]``; or (T, 2) intervals [first, last) that do not overlap.
    visit : array of bool, shape (..., tiles of i, tiles of j)
        Which tiles meet; leading dimensions are batches and broadcast with
        those of the arrays.

    Raises
    ------
    ArgumentError
        For other shapes, and intervals that overlap.
    DTypeError
        For other dtypes.

    See Also
    --------
    Clusters

    Examples
    --------
    >>> visit = np.array([[True, False], [False, True]])
    >>> ranges = tilefold.Ranges([0, 1, 3], [0, 2, 3], visit)
    >>> ranges.mask(3, 3).astype(int)
    array([[1, 1, 0],
           [0, 0, 1],
           [0, 0, 1]])
    >>> x, y = np.zeros(3), np.array([1.0, 2.0, 4.0])
    >>> tilefold.reduce("sum_j (y_j - x_i)", x=x, y=y, ranges=ranges)
    array([3., 4., 4.])
    """

    __module__ = "tilefold"  # where it is found

    __slots__ = {
        "__weakref__": "What weak references keep.",
        "_known_digest": "What ``_digest`` gives, once it was asked for.",
        "_lists": "The ranges of each tile, in C++.",
        "batch": "The batch dimensions, a tuple of int; () without any.",
    }

    def __init__(self, i: ArrayLike, j: ArrayLike, visit: ArrayLike) -> None:
        rows, columns = intervals("i", i), intervals("j", j)
        visited = np.asarray(visit)
        if visited.shape[-2:] != (len(rows), len(columns)):
            _core.fail("RangesShape", "visit", visited.shape)
        if visited.dtype != bool:
            _core.fail("RangesVisit", visited.dtype)
        self.batch: tuple[int, ...] = visited.shape[:-2]
        count = math.prod(self.batch)
        _check_count("tiles", count * len(rows), MAX_TILES)
        _check_count("pairs of tiles", visited.size, MOST_PAIRS)
        flat = visited.reshape(count, len(rows), len(columns))
        self._known_digest: str | None = None
        self._lists = _core._Ranges(
            self.batch,
            np.full(len(flat), len(rows)),
            np.tile(rows, (len(flat), 1)).ravel(),
            flat.sum(-1).ravel(),
            columns[np.nonzero(flat)[2]].ravel(),
        )

    @classmethod
    def from_intervals(
        cls, rows: ArrayLike, offsets: ArrayLike, columns: ArrayLike
    ) -> Ranges:
        """Makes tiles of i that each have ranges of j of their own.

        Tile t meets the ranges ``columns[offsets[t]:offsets[t + 1]]``.

        Parameters
        ----------
        rows : array of integers, shape (T, 2)
            The points [first, last) of i of each tile.
        offsets : array of integers, shape (T + 1,)
            Where the ranges of each tile begin, from 0 to R.
        columns : array of integers, shape (R, 2)
            The points [first, last) of j of each range.

        Returns
        -------
        Ranges
            Without batches.

        Raises
        ------
        ArgumentError
            For other shapes, intervals that overlap, and offsets that do not
            ascend from 0 to R.
        DTypeError
            For other dtypes.

        Examples
        --------
        >>> ranges = tilefold.Ranges.from_intervals(
        ...     rows=[[0, 2]], offsets=[0, 2], columns=[[0, 1], [2, 3]]
        ... )
        >>> ranges.mask(2, 3).astype(int)
        array([[1, 0, 1],
               [1, 0, 1]])
        """
        tiles, met = _pairs("rows", rows), _pairs("columns", columns)
        _check_count("tiles", len(tiles), MAX_TILES)
        _check_count("ranges", len(met), MAX_TILES)
        starts = _integers("offsets", offsets)
        if starts.shape != (len(tiles) + 1,):
            _core.fail("RangesShape", "offsets", starts.shape)
        # Compared first: a difference may exceed any integer.
        ascend = (starts[:-1] <= starts[1:]).all()
        if starts[0] != 0 or starts[-1] != len(met) or not ascend:
            _core.fail("RangesOffsets", len(met))
        return cls._of(
            (),
            _core._Ranges(
                (),
                np.array([len(tiles)]),
                tiles.ravel(),
                np.diff(starts),
                met.ravel(),
            ),
        )

    @classmethod
    def _of(cls, batch: tuple[int, ...], lists: Any) -> Ranges:
        ranges = cls.__new__(cls)
        ranges.batch = batch
        ranges._lists = lists
        ranges._known_digest = None
        return ranges

    @property
    def T(self) -> Ranges:  # noqa: N802
        """The same pairs with i and j exchanged, as ``Ranges``."""
        return self._of(self.batch, self._lists.transposed())

    @property
    def pairs(self) -> int:
        """How many pairs of points are met, in all batches: an int."""
        return int(self._lists.pairs)

    def mask(self, n: int, m: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tells for each pair of points whether it is met.

        Parameters
        ----------
        n, m : int
            How many points are on i and on j.

        Returns
        -------
        array of bool, shape (..., n, m)
            True where the pair is met; leading dimensions are batches.

        Raises
        ------
        ValueError
            For numbers below 0.
        MemoryError
            Where it cannot be allocated.

        Examples
        --------
        >>> tilefold.Ranges([0, 1], [0, 2], [[True]]).mask(1, 3)
        array([[ True,  True, False]])
        """
        count = math.prod(self.batch)
        dense = np.zeros((count, n, m), dtype=bool)
        for batch in range(count):
            for first, last, left, right in self._lists.blocks(batch):
                dense[batch, first:last, left:right] = True
        return dense.reshape((*self.batch, n, m))

    def _digest(self) -> str:
        """A text that the same tiles and ranges have, in any process."""
        if self._known_digest is not None:
            return self._known_digest
        import hashlib  # which few calls need

        lists = self._lists.__reduce__()[1]
        hashed = hashlib.sha256(repr(lists[0]).encode())
        for numbers in lists[1:]:
            hashed.update(len(numbers).to_bytes(8, "little"))
            hashed.update(numbers)
        self._known_digest = hashed.hexdigest()[:32]
        return self._known_digest

    def _without_pairs(self) -> Ranges:
        """What has the same digest, and no pairs: for what computes none."""
        count = math.prod(self.batch)
        none = np.zeros(0, np.int64)
        lists = _core._Ranges(
            self.batch, np.zeros(count, np.int64), none, none, none
        )
        ranges = self._of(self.batch, lists)
        ranges._known_digest = self._digest()
        return ranges

    def _counts(self, reduced: int, points: int) -> Any:
        """How many pairs there are for each point that is left, (..., points).

        `reduced` are the bits of the axes that are not left; of both, the
        numbers are those of whole batches, (...).
        """
        _, tiles, rows, counts, columns = self._lists.__reduce__()[1]
        batch = np.repeat(np.repeat(np.arange(len(tiles)), tiles), counts)
        upright = np.repeat(rows.reshape(-1, 2), counts, axis=0)
        along = columns.reshape(-1, 2)
        heights, widths = (ends[:, 1] - ends[:, 0] for ends in (upright, along))
        if reduced == 3:
            found = np.zeros(len(tiles), np.int64)
            np.add.at(found, batch, heights * widths)
            return found.reshape(self.batch)
        spans, lengths = (along, heights) if reduced == 1 else (upright, widths)
        # Sums of the steps at the ends of a span are its length within it.
        steps = np.zeros((len(tiles), points + 1), np.int64)
        np.add.at(steps, (batch, spans[:, 0]), lengths)
        np.add.at(steps, (batch, spans[:, 1]), -lengths)
        return steps.cumsum(1)[:, :-1].reshape(*self.batch, points)

    def _meets(self, i: Any, j: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which parts of i have pairs with which of j, in some batch.

        Parts lie between offsets, of which there is one more, from 0 on.
        """
        _, _, rows, counts, columns = self._lists.__reduce__()[1]
        tiles = np.repeat(rows.reshape(-1, 2), counts, axis=0)
        first, last = _parts_of(tiles, i)
        left, right = _parts_of(columns.reshape(-1, 2), j)
        # Sums of the steps at its corners are 1 within a rectangle of parts.
        steps = np.zeros((len(i), len(j)), np.int64)
        np.add.at(steps, (first, left), 1)
        np.add.at(steps, (last, left), -1)
        np.add.at(steps, (first, right), -1)
        np.add.at(steps, (last, right), 1)
        return steps.cumsum(0).cumsum(1)[:-1, :-1] > 0

    def __repr__(self) -> str:
        """Tells how many pairs are met."""
        batch = f" in batches {self.batch}" if self.batch else ""
        return f"tilefold.Ranges: {self.pairs} pairs{batch}"


def _parts_of(intervals: Any, offsets: Any) -> tuple[Any, Any]:
    """Of intervals that hold points, the parts [first, last) they lie in."""
    first = np.searchsorted(offsets, intervals[:, 0], side="right") - 1
    return first, np.searchsorted(offsets, intervals[:, 1], side="left")


def require_ranges(value: Any) -> None:
    """Refuses what is no Ranges."""
    if not isinstance(value, Ranges):
        _core.fail(
            "BadOption",
            "ranges",
            type(value).__name__,
            "pass a tilefold.Ranges",
        )


def _check_count(what: str, count: int, limit: int) -> None:
    """Lists of some gigabytes are a mistake, such as a batch of stride 0."""
    if count > limit:
        _core.fail("RangesCount", count, what, limit)


def _integers(name: str, values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    array = np.asarray(values)
    _check_count(f"numbers in {name}", array.size, 2 * MAX_TILES)
    if array.size and array.dtype.kind not in "iu":
        _core.fail("RangesVisit", f"{array.dtype} as {name}")
    if array.size and array.max() > np.iinfo(np.int64).max:
        _core.fail("RangesVisit", f"{array.max()} as one of {name}")
    return np.ascontiguousarray(array, np.int64)


def _pairs(name: str, values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Intervals, of shape (T, 2)."""
    array = _integers(name, values)
    if array.size == 0:
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        _core.fail("RangesShape", name, array.shape)
    return array


def intervals(name: str, tiles: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Offsets or intervals to intervals."""
    array = _integers(name, tiles)
    if array.ndim != 1 or array.size == 0:
        return _pairs(name, array)
    return np.stack([array[:-1], array[1:]], axis=1)
