# tests/python/random_indices.py - random indices of arrays.
"""Numbers, slices of any step, lists, masks, columns of numbers, dots, and new
axes: whatever NumPy takes."""

from __future__ import annotations

from typing import Any

import numpy as np


def of_axis(random: np.random.Generator, size: int) -> Any:
    """A number, a slice, a list, a mask or a column of numbers."""
    kind = random.choice(8, p=[0.2, 0.35, 0.15, 0.1, 0.05, 0.05, 0.05, 0.05])
    if kind == 0:
        return int(random.integers(-size, size)) if size else 0
    if kind == 1:
        ends = random.integers(-size - 1, size + 2, 2).tolist()
        first, last = (None if random.random() < 0.3 else e for e in ends)
        return slice(first, last, random.choice([1, 2, 3, -1, -2]).item())
    if kind == 2:
        return _numbers(random, size, random.integers(4)).tolist()
    if kind == 3:
        return random.random(size) < 0.5
    if kind == 4:
        return _numbers(random, size, (2, 1))
    if kind == 5:
        return (random.random(size) < 0.5).tolist()
    if kind == 6:
        return np.int64(random.integers(-size, size)) if size else slice(None)
    return slice(None)


def _numbers(random: np.random.Generator, size: int, shape: Any) -> np.ndarray:
    return random.integers(-size, max(size, 1 - size), shape)


def random_index(
    random: np.random.Generator, shape: tuple[int, ...], new_axes: bool = True
) -> tuple[Any, ...]:
    """Of at most as many axes as there are."""
    count = int(random.integers(len(shape) + 1))
    if random.random() < 0.3:  # dots: of the first axes and of the last
        place = int(random.integers(count + 1))
        last = shape[len(shape) - (count - place) :] if place < count else ()
        index = [of_axis(random, size) for size in shape[:place]]
        index += [..., *(of_axis(random, size) for size in last)]
    else:
        index = [of_axis(random, size) for size in shape[:count]]
    if new_axes and random.random() < 0.1:
        index.insert(int(random.integers(len(index) + 1)), None)
    return tuple(index)
