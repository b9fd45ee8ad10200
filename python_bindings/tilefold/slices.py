# python_bindings/tilefold/slices.py - kernels on some of their points.
"""Rows and columns of a kernel, still lazy.

The arrays on an axis are sliced, and so the formula stays one pass over what
is left. An array on both axes becomes two arguments. Index symbols keep
their numbers: on a slice i is read as i*step + start, on a list as an
array of numbers.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.frames import readable
from tilefold.frameworks import holding
from tilefold.namespaces import taken
from tilefold.quantization import Quantized
from tilefold.roles import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "I",
    "J",
    "changed",
    "chosen",
    "is_all",
    "is_integer",
    "listed",
    "numbers_of",
    "of_batch",
    "of_every_batch",
    "selected",
]

I, J = 1, 2  # noqa: E741 - the bits of an axis
CPU = 1  # as DLPack numbers devices
BASE = 1 << 15  # of the digits that int16 holds


def selected(
    formula: _core.Formula, arguments: dict[str, Any], axis: int, index: Any
) -> tuple[str, dict[str, Any]]:
    """The text and the arguments of a pair term on some points of an axis.

    `index` is a slice with all its bounds, or an array of row numbers.
    Arrays are views after a slice, and copies after a list.
    """
    chosen = dict(arguments)
    renamed: dict[str, str] = {}
    for name, value in arguments.items():
        known, axes = formula._axes_of(name)
        if isinstance(value, Role):
            axes = value.axes
        if axes == 0 and getattr(value, "ndim", 0) == 1:
            # Components stay ones, as many points as may be left.
            chosen[name] = Role(value, 0)
        if not axes & axis:
            continue
        kept = name
        if axes == I + J:
            kept = renamed[known] = _new(formula, known, chosen)
        chosen[kept] = changed(value, lambda array: _taken(array, index))
    numbers = {"list": "", "start": "", "step": "", "base": ""}
    digits = 1
    if formula._reads_index(axis):
        for name, value in _index_numbers(index, arguments).items():
            numbers[name] = _new(formula, name, chosen)
            chosen[numbers[name]] = value
            if name == "list" and value.ndim > 1:
                digits = value.shape[1]
    return formula._select(axis, renamed, **numbers, digits=digits), chosen


def _new(formula: _core.Formula, wish: str, taken: dict[str, Any]) -> str:
    """A name that neither the formula nor an argument has."""
    name, number = formula._unused_name(wish), 0
    while name in taken:
        number += 1
        name = formula._unused_name(f"{wish}{number}")
    return name


def _index_numbers(index: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the index symbol of the axis is computed from."""
    if isinstance(index, slice):
        return {"start": index.start, "step": index.step}
    digits = _digits(np.asarray(index))
    found = {"list": _beside(arguments, digits)}
    return found | ({"base": BASE} if digits.ndim > 1 else {})


def _digits(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers of points as int16, which leaves the dtype of a result as it is.

    Shape (N,), or (N, digits) where some are larger.
    """
    count = 1
    while numbers.max(initial=0) >= BASE**count:
        count += 1
    if count == 1:
        return numbers.astype(np.int16)
    digits = [numbers // BASE**k % BASE for k in range(count)]
    return np.stack(digits, axis=-1).astype(np.int16)


def _beside(arguments: dict[str, Any], numbers: Any) -> Any:
    """Numbers where the arrays are: on a device, as its library keeps them."""
    for value in arguments.values():
        while isinstance(value, Role | Quantized):
            value = value.value if isinstance(value, Role) else value.codes
        if not hasattr(value, "__dlpack_device__"):
            continue
        if value.__dlpack_device__()[0] == CPU:
            continue
        if hasattr(value, "__array_namespace__"):
            library = value.__array_namespace__()
        else:
            library = sys.modules[type(value).__module__.partition(".")[0]]
        return library.asarray(numbers, device=value.device)
    return numbers


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """An argument whose array is another; role and quantization stay."""
    if isinstance(value, Role):
        return Role(changed(value.value, change), value.axes)
    if isinstance(value, Quantized):
        codes = changed(value.codes, change)
        return Quantized(codes, value.step, value.zero)
    return change(value)


def _array(value: Any) -> Any:
    """What can be indexed: lists and frames become arrays."""
    if hasattr(value, "__dlpack__") or holding([value]):
        return value
    return np.asarray(readable("", value))


def _taken(value: Any, index: Any) -> Any:
    """Some points of an array of shape (N,) or (…, N, D)."""
    value = _array(value)
    if isinstance(index, slice) and not isinstance(value, np.ndarray):
        index = _forward(index)
    axis = 0 if value.ndim == 1 else -2
    if isinstance(index, np.ndarray):
        return taken(value, index, axis)
    return value[index] if axis == 0 else value[..., index, :]


def _forward(index: slice) -> Any:
    """As a list where the slice runs backwards, which tensors do not."""
    if index.step > 0:
        return index
    stop = -1 if index.stop is None else index.stop
    return np.arange(index.start, stop, index.step)


def of_batch(value: Any, parts: Sequence[Any], batch: Sequence[int]) -> Any:
    """An argument in some batches: `parts` has an index for each dimension.

    One that is broadcast along a dimension of `batch` stays so.
    """
    return changed(value, lambda array: _some_batches(array, parts, batch))


def _some_batches(
    value: Any, parts: Sequence[Any], batch: Sequence[int]
) -> Any:
    """Of an array of shape (…, N, D).

    One dimension after another, from the last: a slice that runs backwards is a
    list, and two lists at once would be pairs of batches.
    """
    if np.ndim(value) <= 2:
        return value
    value = _array(value)
    own = value.ndim - 2
    chosen_of_each = zip(parts[-own:], batch[-own:], strict=True)
    for k, (part, size) in reversed(list(enumerate(chosen_of_each))):
        index = _of_extent(part, size, value.shape[k])
        if not is_all(index):
            value = value[(*(slice(None),) * k, index)]
    return value


def of_every_batch(
    formula: _core.Formula,
    arguments: dict[str, Any],
    made: dict[tuple[int, bool], Any] | None = None,
) -> dict[str, Any]:
    """The arguments of a formula of which some have batches.

    What has none is given one of 1: where there are fewer points or batches
    than the caller had, it could be taken for a batch of numbers. `made` keeps
    what has become of an array, so that it stays one.
    """
    made = {} if made is None else made
    given = {}
    for name, value in arguments.items():
        axes = formula._axes_of(name)[1]
        key = (id(value), axes > 0)
        if key not in made:
            made[key] = _in_a_batch(value, axes)
        given[name] = made[key]
    return given


def _in_a_batch(value: Any, axes: int) -> Any:
    """Of shape (N, D) on an axis, or (D,) on none: (1, N, D) and (1, D)."""
    if isinstance(value, Role):
        axes = value.axes

    def change(array: Any) -> Any:
        if np.ndim(array) != (2 if axes else 1):
            return array
        return _array(array)[None]

    return changed(value, change)


def _of_extent(part: Any, size: int, extent: int) -> Any:
    """The index where a dimension of `size` has `extent` in an argument."""
    if extent != size:  # the same in every batch
        return 0 if is_integer(part) else slice(None)
    if isinstance(part, slice) and part.step is not None and part.step < 0:
        return np.arange(*part.indices(size))  # which tensors take, too
    return part


def is_all(part: Any) -> bool:
    """The slice that takes all."""
    return isinstance(part, slice) and part == slice(None)


def is_integer(value: Any) -> bool:
    """A whole number, and no truth value."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def listed(index: Any, size: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Numbers or a mask to numbers from 0 to size - 1, int64."""
    size = int(size)  # it may be a symbol, which is then known to be that
    numbers = np.asarray(index)
    if numbers.dtype == bool and numbers.shape == (size,):
        numbers = np.flatnonzero(numbers)
    if numbers.size == 0:
        numbers = numbers.astype(np.int64)
    if numbers.dtype.kind not in "iu":
        _core.fail("KernelIndex", repr(index))
    numbers = numbers.astype(np.int64)
    outside = (numbers < -size) | (numbers >= size)
    if outside.any():
        _core.fail("KeyRowOutOfRange", numbers[outside].flat[0], size)
    return np.where(numbers < 0, numbers + size, numbers)


def numbers_of(index: Any, size: int) -> Any:
    """A slice or number to row numbers; None for all."""
    if is_all(index):
        return None
    if isinstance(index, slice):
        return np.arange(*index.indices(size), dtype=np.int64)
    return np.ascontiguousarray(listed(index, size).ravel())


def _bounds(index: slice, size: int) -> tuple[int, int, int]:
    """What `index.indices(size)` gives, of symbols, too, which stay ones."""
    step = 1 if index.step is None else operator.index(index.step)
    if step <= 0 or is_integer(size):
        return index.indices(size)
    return _bound(index.start, 0, size), _bound(index.stop, size, size), step


def _bound(given: Any, otherwise: Any, size: Any) -> Any:
    """A bound of a slice that runs forwards, from 0 to `size`."""
    if given is None:
        return otherwise
    if given < 0:
        given = given + size
    if given < 0:
        return 0
    return size if given > size else given


def chosen(index: Any, size: int) -> Any:
    """A slice with all its bounds, or a list or mask as row numbers."""
    if is_all(index):
        return None
    if isinstance(index, slice):
        start, stop, step = _bounds(index, size)
        if step < 0 and stop >= start:
            return slice(0, 0, 1)
        return slice(start, None if stop < 0 else stop, step)
    numbers = listed(index, size)
    if numbers.ndim != 1:
        _core.fail("KernelIndex", repr(index))
    return np.ascontiguousarray(numbers)
