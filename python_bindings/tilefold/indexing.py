# python_bindings/tilefold/indexing.py - K[…], as NumPy indexes an array of the
# same shape.
"""Batches, rows, columns and components of a kernel.

What chooses rows and columns by slices and lists stays lazy, and so do batches
and components. One row, one column, and pairs of rows and columns are arrays.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.expression import Expression
from tilefold.frameworks import concrete
from tilefold.slices import chosen, is_all, is_integer, listed, numbers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilefold.kernel_matrix import Kernel

__all__ = ["indexed"]

_ALL = slice(None)


def indexed(kernel: Kernel, index: Any) -> Any:
    """An array, or a kernel of what is chosen."""
    parts, dots = _expanded(index, kernel.ndim)
    _check(parts, dots, index, len(kernel._pair.batch))
    batches = parts[: len(kernel._pair.batch)]
    rows, columns, *components = parts[len(batches) :]
    if any(not is_all(part) for part in batches):
        pair = kernel._pair.of_batch(
            [
                _of_batch(part, size)
                for part, size in zip(batches, kernel.shape, strict=False)
            ]
        )
        kernel = kernel._like(pair)
    if components and not is_all(components[0]):
        kernel = _with_components(kernel, components[0])
    if not isinstance(rows, slice) and not isinstance(columns, slice):
        return kernel._elements(rows, columns)
    height, width = kernel._matrix_shape
    if is_integer(rows):
        return _row(kernel, listed(rows, height), columns, column=False)
    if is_integer(columns):
        return _row(kernel, rows, listed(columns, width), column=True)
    if is_all(rows) and is_all(columns):
        return kernel
    pair = kernel._pair.selected(kernel._rows, chosen(rows, height))
    return kernel._like(pair.selected(kernel._columns, chosen(columns, width)))


def _expanded(index: Any, ndim: int) -> tuple[list[Any], int]:
    """An index for each axis: a whole number, a slice, or an array.

    And before which axis the dots stand, -1 where there are none.
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1 or len(parts) - len(dots) > ndim:
        _refuse(index)
    missing = [_ALL] * (ndim - len(parts) + len(dots))
    place = dots[0] if dots else len(parts)
    parts = parts[:place] + missing + parts[place + len(dots) :]
    return [_plain(part, index) for part in parts], place if dots else -1


def _plain(part: Any, index: Any) -> Any:
    if isinstance(part, slice) or is_integer(part):
        return part
    if part is None or isinstance(part, (bool, str)):
        _refuse(index)
    numbers = np.asarray(concrete(part))
    if numbers.dtype.kind not in "iub" and numbers.size:
        _refuse(index)
    if numbers.ndim == 0:
        if numbers.dtype == bool:
            _refuse(index)
        return operator.index(numbers.item())
    return numbers


def _check(parts: Sequence[Any], dots: int, index: Any, batches: int) -> None:
    """Refuses what NumPy would pair up or move to the front.

    Dots between two of them move them, too, even where they stand for no axis.
    """
    lists = [k for k, part in enumerate(parts) if isinstance(part, np.ndarray)]
    pairs = [batches, batches + 1]
    if len(lists) > 1 and lists != pairs:
        _core.fail("KernelLists", _spelled(index))
    if lists and lists != pairs and any(parts[k].ndim > 1 for k in lists):
        _refuse(index)
    fixed = [k for k, part in enumerate(parts) if not isinstance(part, slice)]
    if lists and (
        fixed != list(range(fixed[0], fixed[-1] + 1))
        or fixed[0] < dots <= fixed[-1]
    ):
        _core.fail("KernelLists", _spelled(index))


def _refuse(index: Any) -> Any:
    _core.fail("KernelIndex", _spelled(index))


def _spelled(index: Any) -> Any:
    return index if isinstance(index, tuple) else repr(index)


def _of_batch(part: Any, size: int) -> Any:
    """A slice, a whole number from 0, or a list of those."""
    if isinstance(part, slice):
        return part
    numbers = listed(part, size)
    return int(numbers) if numbers.ndim == 0 else numbers


def _with_components(kernel: Kernel, part: Any) -> Kernel:
    """Some components, or one: then values are numbers."""
    pair = kernel._pair
    width = int(pair.components or 0)
    numbers = numbers_of(part, width)
    if not numbers.size:
        _core.fail("WrongComponents", "K[…]", "0", "1 or more")
    value = Expression.of_pair(pair)
    if is_integer(part):
        form = f"{{0}}[{numbers[0]}]"
    else:
        form = "[" + ", ".join(f"{{0}}[{number}]" for number in numbers) + "]"
    rank = int(not is_integer(part))
    return kernel._like(value.made(form, [value], rank).fused())


def _row(kernel: Kernel, rows: Any, columns: Any, column: bool) -> Any:
    """A dense row or column, or a part of one."""
    height, width = kernel._matrix_shape
    values = kernel._values(
        numbers_of(rows, height), numbers_of(columns, width)
    )
    place = len(kernel._pair.batch) + column
    return values[(*(_ALL,) * place, 0, ...)]
