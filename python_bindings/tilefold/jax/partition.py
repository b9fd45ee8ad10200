# python_bindings/tilefold/jax/partition.py - calls of arrays on many devices.
"""How XLA divides a call among devices.

The points that a formula keeps, and batches, may lie on several devices: each
computes its own, and no array of these is gathered. All others are needed
whole. Of results that are not of those points, such as gradients by the others,
each device finds a part, and the sum of all is the result.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
from jax.experimental.custom_partitioning import (
    SdyShardingRule,
    custom_partitioning,
)

from tilefold.jax.jax_internals import within_one_device
from tilefold.jax.types import I, J, results_of, stand_ins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilefold.jax.call_text import Call

__all__ = ["partitioned"]

# The stubs of these have no types, or narrower ones.
_SPEC: Any = jax.sharding.PartitionSpec
_divide: Any = custom_partitioning
_rule: Any = SdyShardingRule
_sum_over: Any = jax.lax.psum
_POINTS = "points"
_WHOLE = "need_replication_factors"
# A hint, which older releases do not take: what `partition` says holds.
_CAN_NAME_WHOLE = _WHOLE in inspect.signature(_rule).parameters


def partitioned(
    rule: Callable[..., list[Any]], call: Call, operands: Sequence[Any]
) -> list[Any]:
    """The results of a rule for one device, on all of a program's."""
    shapes = tuple(tuple(operand.shape) for operand in operands)
    types = tuple(operand.dtype for operand in operands)
    return list(_division(rule, call, shapes, types)(*operands))


class _Layout(NamedTuple):
    """The name of each dimension of the operands and the results.

    Those that may be divided are `_POINTS`, the points that are kept, and
    "batch0", "batch1"; all others have names of their own.
    """

    operands: tuple[tuple[str, ...], ...]
    results: tuple[tuple[str, ...], ...]

    def whole(self) -> tuple[str, ...]:
        """The dimensions that are needed whole, in order."""
        names = [n for dims in (*self.operands, *self.results) for n in dims]
        return tuple(n for n in dict.fromkeys(names) if n.startswith("whole"))


@functools.lru_cache(maxsize=1024)
def _division(
    rule: Callable[..., list[Any]],
    call: Call,
    shapes: tuple[Any, ...],
    types: tuple[Any, ...],
) -> Any:
    layout = _layout(call, shapes, types)

    def compute(*operands: Any) -> tuple[Any, ...]:
        return tuple(rule(*operands, call=call))

    def specs(given: Sequence[Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for dims, shape in zip(layout.operands, given, strict=True):
            spec = getattr(shape.sharding, "spec", None) or ()
            for name, axes in zip(dims, spec, strict=False):
                if not name.startswith("whole") and axes is not None:
                    found.setdefault(name, axes)
        return _each_once(found)

    def shardings(mesh: Any, of: Any, found: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(
            jax.sharding.NamedSharding(mesh, _SPEC(*map(found.get, dims)))
            for dims in of
        )

    def infer(mesh: Any, operands: Any, _: Any) -> Any:
        return shardings(mesh, layout.results, specs(operands))

    def partition(mesh: Any, operands: Any, _: Any) -> Any:
        found = specs(operands)

        def local(*operands: Any) -> tuple[Any, ...]:
            with within_one_device():
                return _summed(compute(*operands), layout, found)

        results = shardings(mesh, layout.results, found)
        return mesh, local, results, shardings(mesh, layout.operands, found)

    divided = _divide(compute)
    divided.def_partition(
        partition,
        infer_sharding_from_operands=infer,
        sharding_rule=_rule(
            layout.operands,
            layout.results,
            **({_WHOLE: layout.whole()} if _CAN_NAME_WHOLE else {}),
        ),
    )
    return divided


def _each_once(found: dict[str, Any]) -> dict[str, Any]:
    """Without axes of the mesh that another dimension is divided over."""
    seen: set[Any] = set()
    kept = {}
    for name, axes in found.items():
        names = _names(axes)
        if seen.isdisjoint(names):
            kept[name] = axes
            seen.update(names)
    return kept


def _names(axes: Any) -> tuple[Any, ...]:
    return axes if isinstance(axes, tuple) else (axes,)


def _summed(
    results: Sequence[Any], layout: _Layout, found: dict[str, Any]
) -> tuple[Any, ...]:
    """The results of one device, those of other points summed over all."""
    summed = []
    for result, dims in zip(results, layout.results, strict=True):
        over = [
            name
            for dimension, axes in found.items()
            if dimension not in dims
            for name in _names(axes)
        ]
        summed.append(_sum_over(result, tuple(over)) if over else result)
    return tuple(summed)


def _layout(call: Call, shapes: Sequence[Any], types: Sequence[Any]) -> _Layout:
    kept = 0
    if call.said.ranges is None:
        kept = _kept_axis(_origin(call), shapes, types)
    number = iter(range(10**6))

    def whole() -> str:
        return f"whole{next(number)}"

    batched = [
        any(shape[d] != 1 for shape in shapes[: len(call.names)])
        for d in range(call.batch)
    ]
    can_batch = [
        batched[d]
        and not call.said.ranges
        and not any(
            shapes[k][d] == 1
            for k, n in enumerate(call.names)
            if n in call.likes
        )
        for d in range(call.batch)
    ]

    def batch_dims(shape: Any) -> list[str]:
        return [
            f"batch{d}" if can_batch[d] and shape[d] != 1 else whole()
            for d in range(call.batch)
        ]

    operands = []
    for k, shape in enumerate(shapes):
        if k >= len(call.names):
            operands.append(tuple(whole() for _ in shape))
            continue
        dims = batch_dims(shape) if shape else []
        for d in range(len(dims), len(shape)):
            is_point = kept and d == call.batch and call.axes(k) == kept
            dims.append(_POINTS if is_point else whole())
        operands.append(tuple(dims))
    results = []
    for spec in results_of(call, shapes, types):
        if spec.like >= 0:
            results.append(operands[spec.like])
            continue
        dims = batch_dims(spec.shape)
        at = call.batch + (1 if kept == J and spec.axes == I | J else 0)
        for d in range(call.batch, len(spec.shape)):
            is_point = kept and spec.axes & kept and d == at
            dims.append(_POINTS if is_point else whole())
        results.append(tuple(dims))
    return _Layout(tuple(operands), tuple(results))


def _origin(call: Call) -> Call:
    """The call of the formula that was not differentiated yet."""
    seeds = call.seeds
    kept = [k for k, name in enumerate(call.names) if name not in seeds]
    return call.of_formula(kept)


def _kept_axis(call: Call, shapes: Sequence[Any], types: Sequence[Any]) -> int:
    """The axis of which each point has a value of its own, or 0.

    Points that are on both axes are needed whole, and so are those whose
    numbers are read.
    """
    arguments, settings = stand_ins(call, shapes, types)
    sweeps = call.formula._program(arguments, settings)["sweeps"]
    nodes = [node for sweep in sweeps for node in sweep["nodes"]]
    reduced = {node[2][1] for node in nodes if node[0] == "reduce"}
    last = sweeps[-1]["nodes"][sweeps[-1]["result"]]
    for axis in (I, J):
        is_whole = any(
            (node[0] == "index" and node[4][2] & axis) for node in nodes
        ) or any(
            axes == I | J or name == ("#i" if axis == I else "#j")
            for sweep in sweeps
            for name, axes in sweep["arguments"]
        )
        is_sum = last[0] == "reduce" and last[5][0] == "sum"
        is_total = len(sweeps) == 1 and is_sum and reduced == {I | J}
        if not is_whole and (
            is_total or (reduced <= {I + J - axis} and last[4][2] == axis)
        ):
            return axis
    return 0
