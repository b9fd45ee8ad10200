# python_bindings/tilefold/jax/types.py - what a call gives, without a run.
"""`results_of`: shapes and types of the results of a call."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax import dtypes

from tilefold import _core
from tilefold.jax.jax_internals import has_x64, is_symbolic
from tilefold.roles import Role

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

I, J = 1, 2  # noqa: E741  (the bits of axes)


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
    found = call.formula._result_types(arguments, settings)
    points = _points(call, shapes)
    batch = _batch(call, shapes)
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
    counts = [n for n in points.values() if not is_symbolic(n)]
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
    if any(is_symbolic(extent) for shape in shapes for extent in shape):
        settings["batch_rank"] = 0
        shapes = [
            _few(call, k, shape[call.batch :]) for k, shape in enumerate(shapes)
        ]
    arguments: dict[str, Any] = {}
    for k, (name, shape) in enumerate(zip(call.names, shapes, strict=False)):
        zero = np.zeros((), types[k])
        value: Any = np.broadcast_to(zero, [int(extent) for extent in shape])
        axes = call.said.axes[k]
        arguments[name] = value if axes < 0 else Role(value, axes)
    return arguments, settings


def _few(call: Call, k: int, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """A shape with few points, where their number is a symbol."""
    axes = call.axes(k)
    if axes and shape:
        return (3 if axes == J else 2, *shape[1:])
    return shape


def _points(call: Call, shapes: tuple[Any, ...]) -> dict[int, Any]:
    """The points on each axis."""
    points: dict[int, Any] = {I: 1, J: 1}
    said_by: dict[int, str] = {}
    for k, shape in enumerate(shapes):
        axes = call.axes(k)
        for axis in (I, J):
            if not axes & axis or len(shape) <= call.batch:
                continue
            extent = shape[call.batch]
            if axis in said_by and points[axis] != extent:
                _core.fail(
                    "LengthMismatch",
                    said_by[axis],
                    points[axis],
                    "i" if axis == I else "j",
                    f"{call.names[k]}' has {extent}",
                )
            points[axis] = extent
            said_by[axis] = call.names[k]
    return points


def _batch(call: Call, shapes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The dimensions of the batch, as all operands together have them."""
    extents: list[Any] = [1] * call.batch
    ranges = call.said.ranges or ()
    if ranges:
        extents[-len(ranges) :] = ranges
    for name, shape in zip(call.names, shapes, strict=True):
        for d, extent in enumerate(shape[: call.batch]):
            if _is_one(extents[d]):
                extents[d] = extent
            elif not _is_one(extent) and extent != extents[d]:
                _core.fail(
                    "BatchMismatch",
                    tuple(extents),
                    "the others",
                    shape[: call.batch],
                    name,
                )
    return tuple(extents)


def _is_one(extent: Any) -> bool:
    return not is_symbolic(extent) and extent == 1
