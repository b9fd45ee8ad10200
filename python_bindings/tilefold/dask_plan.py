# python_bindings/tilefold/dask_plan.py - one reduction as tasks of Dask.
"""`Plan`: states of pairs of chunks, merges by a tree, results by rows.

`mapped` is for formulas that reduce nothing: a task for each chunk.
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask._task_spec import Task
from dask.base import is_dask_collection
from dask.delayed import delayed
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArraySliceDep

from tilefold import _core
from tilefold.result_types import ArgumentType, result_types
from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold.reduction import Reduction
    from tilefold.states import State

__all__ = ["FIRST", "Plan", "described", "mapped", "zeros_like"]

FIRST = "@"  # an argument that is the number of a chunk's first point

# Points of a chunk of the reduced axis, of arrays that have no chunks yet; and
# bytes of the states of a pair of chunks.
_MOST_POINTS = 2**18
_MOST_STATE = 64 * 2**20


class Plan:
    """A call that reduces once: its arrays by axis, and its states' layout.

    `axes` are those of the arguments: "i", "j" or "". Batch dimensions come
    first, in one chunk.
    """

    def __init__(
        self,
        reduction: Reduction,
        given: Mapping[str, Any],
        axes: Mapping[str, str],
        split_every: int | None,
        settings: dict[str, Any],
    ) -> None:
        self.reduction = reduction
        self.joining = reduction._without_pairs()
        self.split_every = split_every or 8
        self.settings = settings
        self.batch = settings.get("batch_rank", 0)
        self.axes = axes
        self.given = given
        self.lengths = self._lengths()
        self._bind()

    def _lengths(self) -> dict[str, int]:
        """The points of each axis that an array is on."""
        lengths: dict[str, int] = {}
        for name, axis in self.axes.items():
            if axis:
                lengths.setdefault(axis, self.given[name].shape[self.batch])
        return lengths

    def _bind(self) -> None:
        """Lets the formula check names, shapes and dtypes, without numbers."""
        formula = self.reduction.formula
        made_up = zeros_like(self.given)
        call = self.reduction._bound({**made_up, **self.settings}, None, None)
        self.layout = call.layout
        found = result_types(formula, made_up, self.batch)[0]
        # A gradient may be the same for each point of its argument.
        like = [
            axis
            for name, axis in self.axes.items()
            if formula._axes_of(name)[0] == found.like
        ]
        self.keeps_its_points = like in ([], [""], [self.layout["kept"]])
        self.dtype = np.dtype(found.dtype)
        self.batches = found.shape[: self.batch]
        self.components = found.components

    def _chunks(self, axis: str) -> tuple[int, ...]:
        """The chunks of an axis: those of the first array that has some."""
        total = self.lengths[axis]
        on_axis = [
            self.given[name] for name, own in self.axes.items() if own == axis
        ]
        own = next((v.chunks[self.batch] for v in on_axis if _is_lazy(v)), None)
        if axis != self.layout["reduced"]:
            most = self._most_rows()
            pieces = (_even(rows, most) for rows in own or (total,))
            return tuple(rows for piece in pieces for rows in piece)
        ends = np.cumsum(own or _even(total, _MOST_POINTS))[:-1]
        segment = self.reduction.segment
        cuts = {min(round(end / segment) * segment, total) for end in ends}
        inner = sorted({0, total, *cuts})
        return tuple(np.diff(inner).tolist()) or (0,)

    def _most_rows(self) -> int:
        """Rows of a chunk that keep its states within their bytes."""
        return max(_MOST_STATE // (8 * self.layout["slots"]), 1)

    def _operands(self, axes: tuple[str, ...]) -> tuple[list[str], list[Any]]:
        """Names, and arrays with their indices, of those on some axes."""
        chunks = {axis: self._chunks(axis) for axis in self.lengths}
        return _operands(self.given, self.axes, axes, chunks, self.batch)

    def _states(self) -> tuple[da.Array, tuple[str, ...]]:
        """The states of all pairs of chunks, and their axes."""
        axes = tuple(
            axis
            for axis in (self.layout["kept"], self.layout["reduced"])
            if axis in self.lengths
        )
        names, operands = self._operands(("i", "j", ""))
        places = ArraySliceDep(tuple(self._chunks(axis) for axis in axes))
        states = da.blockwise(
            _partial,
            axes,
            places,
            axes,
            *operands,
            reduction=self._computing(),
            names=names,
            axes=axes,
            lengths=self.lengths,
            settings=self.settings,
            concatenate=True,
            align_arrays=False,
            dtype=object,
            meta=_no_states(len(axes)),
            token="tilefold-partial",
        )
        if self.reduction.ranges is not None:
            states = self._without_chunks(states, axes)
        return states, axes

    def _computing(self) -> Any:
        """The reduction of all tasks: once in a graph where it may be long."""
        if self.reduction.ranges is None:
            return self.reduction
        return delayed(self.reduction, pure=True)

    def _without_chunks(
        self, states: da.Array, axes: tuple[str, ...]
    ) -> da.Array:
        """The states; for those of chunks without pairs no array is read."""
        chunks = {axis: self._chunks(axis) for axis in ("i", "j")}
        i, j = (np.cumsum((0, *own)) for own in chunks.values())
        ranges: Any = self.reduction.ranges
        layer = dict(states.dask.layers[states.name])
        for block in np.argwhere(~ranges._meets(i, j)):
            at = dict(zip("ij", block.tolist(), strict=True))
            key = (states.name, *(at[axis] for axis in axes))
            points = {axis: chunks[axis][number] for axis, number in at.items()}
            starts = {"i": i[block[0]], "j": j[block[1]]}
            layer[key] = Task(
                key,
                _partial_of_types,
                tuple(slice(int(starts[axis]), None) for axis in axes),
                *self._types(points),
                reduction=self.joining,
                names=list(self.axes),
                axes=axes,
                lengths=self.lengths,
                settings=self.settings,
            )
        graph = HighLevelGraph(
            {**states.dask.layers, states.name: layer}, states.dask.dependencies
        )
        return da.Array(graph, states.name, states.chunks, meta=states._meta)

    def _types(self, points: Mapping[str, int]) -> list[Any]:
        """The arguments of so many points of each axis: types of arrays."""
        found = []
        for name, axis in self.axes.items():
            value = self.given[name]
            if _has_shape(value):
                shape = list(value.shape)
                if axis:
                    shape[self.batch] = points[axis]
                value = ArgumentType(tuple(shape), value.dtype.name)
            found.append(value)
        return found

    def _reduced(self, states: da.Array, axis: int, join: Any) -> da.Array:
        """States joined along an axis, by a tree of tasks."""
        join = partial(join, by=self.joining)
        return da.reduction(
            states,
            chunk=_unchanged,
            combine=join,
            aggregate=join,
            axis=axis,
            concatenate=False,
            split_every=self.split_every,
            dtype=object,
            meta=_no_states(states.ndim - 1),
        )

    def result(self) -> da.Array:
        """The merged states, finalised for each chunk of rows."""
        states, axes = self._states()
        merged = self._reduced(states, len(axes) - 1, _merged)
        rows = axes[:-1]
        if rows and self.layout["folds"]:
            merged, rows = self._reduced(merged, 0, _together), ()
        names, operands = self._operands((*rows, ""))
        batches = {f"batch.{d}": n for d, n in enumerate(self.batches)}
        width = {f"components.{d}": n for d, n in enumerate(self.components)}
        indices = (*batches, *rows, *width)
        return da.blockwise(
            _finalised,
            indices,
            merged,
            rows,
            *operands,
            reduction=self.joining,
            names=names,
            settings=self.settings,
            concatenate=True,
            align_arrays=False,
            new_axes={**batches, **width},
            dtype=self.dtype,
            meta=np.empty((0,) * len(indices), self.dtype),
            token="tilefold-reduce",
        )


def mapped(
    formula: _core.Formula,
    given: Mapping[str, Any],
    axes: Mapping[str, str],
    options: _core.Options | None,
) -> da.Array:
    """A formula that reduces nothing, of one axis or none."""
    on = next((axis for axis in axes.values() if axis), "")
    arrays = [given[name] for name in axes if axes[name]]
    chunks = {}
    if on:
        own = next((v.chunks[0] for v in arrays if _is_lazy(v)), None)
        chunks[on] = own or _even(arrays[0].shape[0], _MOST_POINTS)
    made_up = zeros_like({k: _unplaced(v) for k, v in given.items()})
    found = result_types(formula, made_up)[0]
    dtype = np.dtype(found.dtype)
    names, operands = _operands(given, axes, (on, ""), chunks, 0)
    rows = (on,) if on else ()
    width = {f"components.{d}": n for d, n in enumerate(found.components)}
    return da.blockwise(
        _called,
        (*rows, *width),
        ArraySliceDep(tuple(chunks.values())) if on else None,
        rows if on else None,
        *operands,
        formula=formula,
        names=names,
        parameters=frozenset(name for name in names if not axes[name]),
        options=options,
        concatenate=True,
        align_arrays=False,
        new_axes=width,
        dtype=dtype,
        meta=np.empty((0,) * (len(rows) + len(width)), dtype),
        token="tilefold-map",
    )


def _operands(
    given: Mapping[str, Any],
    on: Mapping[str, str],
    axes: tuple[str, ...],
    chunks: Mapping[str, tuple[int, ...]],
    batch: int,
) -> tuple[list[str], list[Any]]:
    """Names, and arrays with their indices, of those on some axes."""
    names: list[str] = []
    operands: list[Any] = []
    for number, (name, axis) in enumerate(on.items()):
        if axis not in axes:
            continue
        value = given[name]
        names.append(name)
        if not _has_shape(value):
            operands += [value, None]
            continue
        value = value if _is_lazy(value) else _lazy(value)
        whole: dict[int, Any] = dict.fromkeys(range(value.ndim), -1)
        indices = [f"{number}.{d}" for d in range(value.ndim)]
        if axis:
            whole[batch] = chunks[axis]
            indices[batch] = axis
        own = range(batch + bool(axis), value.ndim)
        if any(value.numblocks[d] > 1 for d in own):
            warnings.warn(
                f"'{name}' has its components in several chunks, which are "
                f"joined: pass {name}.rechunk({{1: -1}}), or write it so",
                da.PerformanceWarning,
                stacklevel=2,
            )
        operands += [value.rechunk(whole), indices]
    return names, operands


def _partial(
    places: tuple[slice, ...],
    *operands: Any,
    reduction: Reduction,
    names: list[str],
    axes: tuple[str, ...],
    lengths: dict[str, int],
    settings: dict[str, Any],
) -> State:
    """The state of a pair of chunks."""
    where = {
        axis: (place.start, lengths[axis])
        for axis, place in zip(axes, places, strict=True)
    }
    arguments = {**dict(zip(names, operands, strict=True)), **settings}
    return reduction.partial(arguments, i=where.get("i"), j=where.get("j"))


def _partial_of_types(
    places: tuple[slice, ...], *operands: Any, **settings: Any
) -> State:
    """The state of a pair of chunks that have no pair of points in common."""
    arrays = zeros_like(dict(zip(settings["names"], operands, strict=True)))
    return _partial(places, *arrays.values(), **settings)


def _finalised(
    state: State,
    *operands: Any,
    reduction: Reduction,
    names: list[str],
    settings: dict[str, Any],
) -> Any:
    """The results of a chunk of rows."""
    arguments = {**dict(zip(names, operands, strict=True)), **settings}
    return np.asarray(reduction.finalise(state, arguments))


def _called(
    places: tuple[slice, ...] | None,
    *operands: Any,
    formula: _core.Formula,
    names: list[str],
    parameters: frozenset[str],
    options: _core.Options | None,
) -> Any:
    """The values of a chunk of points."""
    first = places[0].start if places else 0
    arguments = {}
    for name, operand in zip(names, operands, strict=True):
        value = _unplaced(operand, first)
        # A chunk may have as many points as a parameter components.
        is_ambiguous = name in parameters and np.ndim(value) > 0
        arguments[name] = Role(value, 0) if is_ambiguous else value
    return np.asarray(formula(arguments, options=options))


def _unplaced(value: Any, first: int = 0) -> Any:
    """A value; the number of the first point where it is to be that."""
    return first if isinstance(value, str) and value == FIRST else value


def _merged(blocks: Any, axis: Any, keepdims: Any, by: Reduction) -> State:
    """The states of a block, which come in nested lists, as one."""
    del axis, keepdims  # a block has one state
    return by.merge(*_flat(blocks))


def _together(blocks: Any, axis: Any, keepdims: Any, by: Reduction) -> State:
    """The states of several blocks of rows as one."""
    del axis, keepdims
    return by.concatenate(*_flat(blocks))


def _flat(blocks: Any) -> list[State]:
    if not isinstance(blocks, list):
        return [blocks]
    return [state for block in blocks for state in _flat(block)]


def _unchanged(block: Any, axis: Any, keepdims: Any) -> Any:
    del axis, keepdims
    return block


def _no_states(axes: int) -> Any:
    return np.empty((0,) * axes, object)


def _has_shape(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _is_lazy(value: Any) -> bool:
    return isinstance(value, da.Array)


def _lazy(value: Any) -> da.Array:
    """An array as a Dask array of one chunk, or of its own chunks."""
    return da.from_array(value, chunks=getattr(value, "chunks", None) or -1)


def described(name: str, value: Any, axes: int, batch: int = 0) -> Any:
    """A value that has a shape and a dtype, or a number."""
    value = bare(value)
    if is_dask_collection(value) and not hasattr(type(value), "shape"):
        _core.fail(
            "BadOption",
            f"'{name}'",
            f"a {type(value).__name__} of Dask, of no shape",
            "pass a Dask array: dask.array.from_delayed makes one of a Delayed",
        )
    if hasattr(value, "to_dask_array"):  # a frame
        value = value.to_dask_array(lengths=True)
    if _is_lazy(getattr(value, "data", None)):  # of xarray
        value = value.data
    if getattr(value, "chunks", None) is not None and not _is_lazy(value):
        value = _lazy(value)
    if isinstance(value, int | float | complex) and not axes:
        return value
    if not _is_lazy(value):
        value = np.asarray(value)
    if any(math.isnan(extent) for extent in value.shape):
        _core.fail(
            "BadOption",
            f"'{name}'",
            "a Dask array whose chunks have lengths that are not known",
            f"call {name}.compute_chunk_sizes() first",
        )
    if axes and not batch < value.ndim <= batch + 2:
        _core.fail(
            "BadOption",
            f"'{name}'",
            f"an array of {value.ndim} dimensions, of which {batch} are a "
            "batch's",
            "say how many dimensions are a batch's by batch_rank=",
        )
    return value


def zeros_like(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of one number each, of the shapes and dtypes of others."""
    return {
        name: np.broadcast_to(np.zeros((), value.dtype), value.shape)
        if _has_shape(value)
        else value
        for name, value in given.items()
    }


def _even(total: int, most: int) -> tuple[int, ...]:
    """Chunks of at most `most` points."""
    whole, rest = divmod(total, most)
    return (most,) * whole + ((rest,) if rest or not whole else ())
