# python_bindings/tilefold/jax/range_lists.py - chosen pairs as operands.
"""`tilefold.Ranges` as a pytree of JAX: its lists of numbers are leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from tilefold import _core
from tilefold.ranges import Ranges, require_ranges

__all__ = ["lists_of"]


class _Lists(NamedTuple):
    """In the place of `_core._Ranges` where the numbers are not known yet."""

    tiles: Any
    rows: Any
    counts: Any
    columns: Any


def lists_of(
    ranges: Ranges | None,
) -> tuple[tuple[int, ...] | None, tuple[Any, ...]]:
    """The batch of ranges, and their four lists."""
    if ranges is None:
        return None, ()
    require_ranges(ranges)
    lists: Any = ranges._lists
    if not isinstance(lists, _Lists):
        lists = lists.__reduce__()[1][1:]
    return tuple(ranges.batch), tuple(lists)


def _flatten(ranges: Ranges) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    batch, lists = lists_of(ranges)
    return lists, batch or ()


def _unflatten(batch: tuple[int, ...], lists: Any) -> Ranges:
    kept: Any = _Lists(*lists)
    if all(_is_list(one) for one in lists):
        numbers = [np.ascontiguousarray(one, np.int64) for one in lists]
        kept = _core._Ranges(batch, *numbers)
    return Ranges._of(batch, kept)


def _is_list(value: Any) -> bool:
    """Whether it is one list of numbers that are known."""
    return (
        isinstance(value, (np.ndarray, jax.Array))
        and not isinstance(value, jax.core.Tracer)
        and value.ndim == 1
    )


jax.tree_util.register_pytree_node(Ranges, _flatten, _unflatten)
