# python_bindings/tilefold/jax/types.py - what a call gives, without a run.
"""`results_of`: shapes and types of the results of a call."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax import dtypes

from tilefold import _core
from tilefold.jax.jax_internals import has_x64
from tilefold.result_types import (
    Place,
    batch_of,
    few,
    few_columns,
    is_symbol,
    points_of,
)
from tilefold.roles import Role
from tilefold.slices import I, J

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilefold.jax.call_text import Call

__all__ = [
    "I",
    "J",
    "ResultSpec",
    "is_float",
    "results_of",
    "stand_ins",
]


class ResultSpec(NamedTuple):
    """A result: `native` is the type that kernels write, `dtype` JAX's.

    `like`: the number of the operand whose shape it has, or -1; `axes`: those
    it keeps, behind the dimensions of the batch.
    """

    shape: tuple[Any, ...]
    native: Any
    dtype: Any
    like: int
    axes: int


def is_float(dtype: Any) -> bool:
    """Whether values of a type have derivatives."""
    return bool(jax.numpy.issubdtype(dtype, np.inexact))


def results_of(
    call: Call, shapes: Sequence[Any], types: Sequence[Any]
) -> list[ResultSpec]:
    """The results of a call of operands of these shapes and types.

    Fails as the call would: of names, shapes and types, with the formula.
    """
    return _results_of(
        call,
        tuple(map(tuple, shapes)),
        tuple(map(np.dtype, types)),
        has_x64(),
    )


@functools.lru_cache(maxsize=4096)
def _results_of(
    call: Call, shapes: tuple[Any, ...], types: tuple[Any, ...], _: bool
) -> list[ResultSpec]:
    """The same, once for all of them and for the width of JAX's types."""
    shapes = shapes[: len(call.names)]
    arguments, settings = stand_ins(call, shapes, types)
    chosen = call.said.ranges is not None
    found = call.formula._result_types(arguments, settings, chosen)
    places = {
        name: Place(call.axes(k), shape)
        for k, (name, shape) in enumerate(zip(call.names, shapes, strict=True))
    }
    points = points_of(places, call.batch)
    batch = _batch(call, places)
    results = []
    for like, axes, name, components in found:
        native = np.dtype(jax.numpy.dtype(name))
        if like:
            k = call.names.index(like)
            dtype = types[k] if is_float(types[k]) else native
            results.append(ResultSpec(shapes[k], native, dtype, k, axes))
            continue
        kept = tuple(points[axis] for axis in (I, J) if axes & axis)
        own = (components,) if components >= 0 else ()
        dtype = _canonical(native, points)
        results.append(
            ResultSpec((*batch, *kept, *own), native, dtype, -1, axes)
        )
    return results


def _canonical(native: Any, points: dict[int, Any]) -> Any:
    """The type that JAX has for one."""
    dtype = dtypes.canonicalize_dtype(native)
    if dtype == native or native.kind not in "iu":
        return dtype
    counts = [n for n in points.values() if not is_symbol(n)]
    if counts and max(counts) >= 2**31:
        _core.fail(
            "BadOption",
            "jax_enable_x64",
            f"off with {max(counts)} points, whose numbers int32 cannot hold",
            'set jax.config.update("jax_enable_x64", True)',
        )
    return dtype


def stand_ins(
    call: Call, shapes: Sequence[Any], types: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays that take no memory, as operands, and settings of a call."""
    settings: dict[str, Any] = {"batch_rank": call.batch}
    if any(is_symbol(extent) for shape in shapes for extent in shape):
        settings["batch_rank"] = 0
        columns = few_columns([call.axes(k) for k in range(len(shapes))])
        shapes = [
            few(call.axes(k), shape[call.batch :], columns)
            for k, shape in enumerate(shapes)
        ]
    arguments: dict[str, Any] = {}
    for k, (name, shape) in enumerate(zip(call.names, shapes, strict=False)):
        zero = np.zeros((), types[k])
        value: Any = np.broadcast_to(zero, [int(extent) for extent in shape])
        axes = call.said.axes[k]
        arguments[name] = value if axes < 0 else Role(value, axes)
    return arguments, settings


def _batch(call: Call, places: dict[str, Place]) -> tuple[Any, ...]:
    """The dimensions of the batch, as all operands together have them."""
    extents: list[Any] = [1] * call.batch
    ranges = call.said.ranges or ()
    if ranges:
        extents[-len(ranges) :] = ranges
    return batch_of(places, extents)
