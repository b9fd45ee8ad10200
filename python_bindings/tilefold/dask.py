# python_bindings/tilefold/dask.py - formulas over Dask's arrays.
"""`reduce`: a reduction over arrays that outgrow memory, or one machine.

    x = da.from_zarr("x.zarr")
    y = da.from_zarr("y.zarr")
    out = tilefold.dask.reduce("sum_j exp(-|x_i - y_j|²) b_j", x=x, y=y, b=b)
    out.compute()                     # threads, processes or a cluster

Each pair of chunks becomes a state (`tilefold.Reduction`), states are merged
by a tree of Dask's tasks, and results are made of them: of the same bits as a
call in memory with `Options(segment=…)`, whatever the chunks, the scheduler,
and the workers that were lost on the way.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tilefold import _core
from tilefold.reduction import Reduction

try:
    import dask.array as da
    from dask.layers import ArraySliceDep
except ImportError as _error:
    _MISSING = "tilefold.dask needs Dask: pip install 'tilefold[dask]'"
    raise ImportError(_MISSING) from _error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tilefold.states import State

__all__ = ["reduce"]

# Points of a chunk of the reduced axis, of arrays that have no chunks yet; and
# bytes of the states of a pair of chunks.
_MOST_POINTS = 2**18
_MOST_STATE = 64 * 2**20


def reduce(
    formula: str | _core.Formula,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    segment: int = 8192,
    split_every: int | None = None,
    options: _core.Options | None = None,
    **arrays: Any,
) -> da.Array:
    """Makes the result of a formula as a Dask array, computing nothing yet.

    Each pair of chunks becomes a ``tilefold.State``, of a float64 for each of
    its slots and rows; states are merged by a tree of tasks. The result has the
    bits of a call in memory with ``Options(segment=...)``.

    Parameters
    ----------
    formula : str or Formula
        One that reduces once: see ``tilefold.Reduction``.
    arguments : Mapping, optional
        The arrays by name, as one mapping.
    segment : int, default 8192
        How many points of the reduced axis are joined at a time; chunks of that
        axis end at multiples of it.
    split_every : int, optional
        How many states a task merges: 8.
    options : Options, optional
        Those of all tasks.
    **arrays : array
        Dask's, or with chunks (Zarr, HDF5), or NumPy's, of the shapes that
        ``tilefold.reduce`` takes, without batches. Those on one axis are
        rechunked to the chunks of the first.

    Returns
    -------
    dask.array.Array
        Chunked as the arrays on the kept axis are.

    Raises
    ------
    ArgumentError
        For chunks whose lengths are not known, and formulas of several passes.
    FormulaError, ShapeError, DTypeError
        As ``tilefold.reduce`` raises them, when the graph is made.

    Examples
    --------
    >>> import dask.array as da
    >>> y = da.arange(100_000, chunks=10_000, dtype=float)
    >>> out = tilefold.dask.reduce("sum_j y_j", y=y)
    >>> float(out.compute(scheduler="synchronous"))
    4999950000.0
    """
    reduction = Reduction(formula, segment=segment, options=options)
    given = {**(arguments or {}), **arrays}
    return _Plan(reduction, given, split_every).result()


class _Plan:
    """A call: its arrays by axis, and the layout of its states."""

    def __init__(
        self,
        reduction: Reduction,
        given: dict[str, Any],
        split_every: int | None,
    ) -> None:
        self.reduction = reduction
        self.split_every = split_every or 8
        self.axes = {
            name: ("", "i", "j")[reduction.formula._axes_of(name)[1]]
            for name in given
        }
        self.given = {
            name: _described(name, value, self.axes[name])
            for name, value in given.items()
        }
        self.lengths = self._lengths()
        self._bind()

    def _lengths(self) -> dict[str, int]:
        """The points of each axis that an array is on."""
        lengths: dict[str, int] = {}
        for name, axis in self.axes.items():
            if axis:
                lengths.setdefault(axis, self.given[name].shape[0])
        return lengths

    def _bind(self) -> None:
        """Lets the formula check names, shapes and dtypes, without numbers."""
        made_up = {
            name: _zeros_like(value) if _has_shape(value) else value
            for name, value in self.given.items()
        }
        settings = {"options": self.reduction._options}
        call = self.reduction._bound(made_up, None, None)
        found = self.reduction.formula._result_types(made_up, settings)
        if len(found) > 1:
            _core.fail(
                "BadOption",
                "formula",
                f"one of {len(found)} results",
                "ask for one result at a time",
            )
        like, _, dtype, components = found[0]
        self.layout = call.layout
        self.dtype = np.dtype(dtype)
        self.components = () if components < 0 else (components,)
        if like:  # a gradient has the shape of its argument
            own = np.shape(self.given[like])
            self.components = own[1:] if self.axes[like] else own

    def _chunks(self, axis: str) -> tuple[int, ...]:
        """The chunks of an axis: those of the first array that has some."""
        total = self.lengths[axis]
        on_axis = [
            self.given[name] for name, own in self.axes.items() if own == axis
        ]
        own = next((v.chunks[0] for v in on_axis if _is_lazy(v)), None)
        if axis != self.layout["reduced"]:
            return own or _even(total, self._most_rows())
        ends = np.cumsum(own or _even(total, _MOST_POINTS))
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
        names, operands = [], []
        for number, (name, axis) in enumerate(self.axes.items()):
            if axis not in axes:
                continue
            value = self.given[name]
            names.append(name)
            if not _has_shape(value):
                operands += [value, None]
                continue
            value = value if _is_lazy(value) else _lazy(value)
            whole = dict.fromkeys(range(value.ndim), -1)
            value = value.rechunk({**whole, 0: chunks[axis]} if axis else whole)
            indices = [
                f"{axis or number}",
                *(f"{number}.{d}" for d in range(1, value.ndim)),
            ]
            operands += [value, indices[: value.ndim]]
        return names, operands

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
            reduction=self.reduction,
            names=names,
            axes=axes,
            lengths=self.lengths,
            concatenate=True,
            align_arrays=False,
            dtype=object,
            meta=_no_states(len(axes)),
            token="tilefold-partial",
        )
        return states, axes

    def _reduced(self, states: da.Array, axis: int, join: Any) -> da.Array:
        """States joined along an axis, by a tree of tasks."""
        join = partial(join, by=self.reduction)
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
        width = {f"components.{d}": n for d, n in enumerate(self.components)}
        return da.blockwise(
            _finalised,
            (*rows, *width),
            merged,
            rows,
            *operands,
            reduction=self.reduction,
            names=names,
            concatenate=True,
            align_arrays=False,
            new_axes=width,
            dtype=self.dtype,
            meta=np.empty((0,) * (len(rows) + len(width)), self.dtype),
            token="tilefold-reduce",
        )


def _partial(
    places: tuple[slice, ...],
    *operands: Any,
    reduction: Reduction,
    names: list[str],
    axes: tuple[str, ...],
    lengths: dict[str, int],
) -> State:
    """The state of a pair of chunks."""
    where = {
        axis: (place.start, lengths[axis])
        for axis, place in zip(axes, places, strict=True)
    }
    arguments = dict(zip(names, operands, strict=True))
    return reduction.partial(arguments, i=where.get("i"), j=where.get("j"))


def _finalised(
    state: State, *operands: Any, reduction: Reduction, names: list[str]
) -> Any:
    """The results of a chunk of rows."""
    arguments = dict(zip(names, operands, strict=True))
    return np.asarray(reduction.finalise(state, arguments))


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


def _described(name: str, value: Any, axis: str) -> Any:
    """A value that has a shape and a dtype, or a number."""
    if hasattr(value, "to_dask_array"):
        value = value.to_dask_array(lengths=True)
    if getattr(value, "chunks", None) is not None and not _is_lazy(value):
        value = _lazy(value)
    if isinstance(value, int | float) and not axis:
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
    if axis and value.ndim > 2:
        _core.fail(
            "BadOption",
            f"'{name}'",
            f"an array of {value.ndim} dimensions, which has batches",
            "call tilefold.dask.reduce for each batch",
        )
    return value


def _zeros_like(value: Any) -> Any:
    """An array of one number, of the shape and dtype of another."""
    return np.broadcast_to(np.zeros((), value.dtype), value.shape)


def _even(total: int, most: int) -> tuple[int, ...]:
    """Chunks of at most `most` points."""
    whole, rest = divmod(total, most)
    return (most,) * whole + ((rest,) if rest or not whole else ())
