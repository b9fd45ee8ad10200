# python_bindings/tilefold/jax/tiled.py - calls as tiles of jax.numpy.
"""`evaluate`: a call for platforms that the library has no kernels of.

The formula's graphs are walked tile by tile of pairs: `lax.map` over tiles of
the axis that is kept, `lax.scan` over those of the axis that is reduced, with
the states of the reductions as what is carried. No more than a tile of pairs
is held at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from tilefold import _core
from tilefold.errors import FormulaError
from tilefold.jax.tiled_graph import DTYPES, Graph
from tilefold.jax.tiled_sweep import Sweep
from tilefold.jax.types import I, J, results_of, stand_ins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilefold.jax.call_text import Call

__all__ = ["evaluate", "pair_values"]


def evaluate(*operands: Any, call: Call) -> list[Any]:
    """The results of a call, in tiles."""
    if call.said.ranges is not None:
        _core.fail(
            "BadOption",
            "ranges",
            "given to a backend without them",
            "compute it on the CPU or with CUDA, or write a mask",
        )
    shapes = [operand.shape for operand in operands]
    types = [operand.dtype for operand in operands]
    specs = results_of(call, shapes, types)
    arguments, settings = stand_ins(call, shapes, types)
    program = call.formula._program(arguments, settings)
    batch = jnp.broadcast_shapes(*(shape[: call.batch] for shape in shapes))

    def one(values: Sequence[Any]) -> list[Any]:
        return _of_one(call, program, values)

    if not call.batch:
        results = one(operands)
        return [
            _as(result, spec, spec.shape)
            for result, spec in zip(results, specs, strict=True)
        ]
    flat = [
        jnp.broadcast_to(value, batch + value.shape[call.batch :]).reshape(
            math.prod(batch), *value.shape[call.batch :]
        )
        for value in operands
    ]
    results = lax.map(one, flat)
    found = []
    for result, spec in zip(results, specs, strict=True):
        shape = batch + spec.shape[call.batch :]
        whole = _as(result, spec, shape)
        summed = tuple(
            d for d in range(call.batch) if spec.shape[d] == 1 and batch[d] != 1
        )
        found.append(whole.sum(summed, keepdims=True) if summed else whole)
    return found


def pair_values(call: Call, operands: Sequence[Any]) -> Any:
    """All values of a pair term, (…, N, M) or (…, N, M, E)."""
    arguments, settings = stand_ins(
        call, [o.shape for o in operands], [o.dtype for o in operands]
    )
    data = _pair_graph(call, arguments, settings)
    batch = jnp.broadcast_shapes(*(o.shape[: call.batch] for o in operands))

    def one(values: Sequence[Any]) -> Any:
        arrays, points = _arrays(call, values)
        found = Sweep(Graph(data), arrays, points).run()
        return jnp.broadcast_to(found, (points[I], points[J], *found.shape[2:]))

    flat = [
        jnp.broadcast_to(o, batch + o.shape[call.batch :]).reshape(
            math.prod(batch), *o.shape[call.batch :]
        )
        for o in operands
    ]
    found = jax.vmap(lambda *values: one(values))(*flat)
    return found.reshape(batch + found.shape[1:])


def _pair_graph(
    call: Call, arguments: dict[str, Any], settings: dict[str, Any]
) -> Mapping[str, Any]:
    """The graph of a pair term, or what a maximum of it reduces.

    Of a part of a complex value there is a graph inside a reduction alone.
    """
    formula = call.formula
    data: dict[str, Any]
    try:
        (data,) = formula._program(arguments, settings)["sweeps"]
    except FormulaError:
        around = type(formula)("max_j(operand)")._substitute(
            [("operand", formula, {})]
        )
        (data,) = type(formula)(around)._program(arguments, settings)["sweeps"]
        node = data["nodes"][data["result"]]
        if node[0] != "reduce":
            raise
        value = node[1][0]
        data |= {"nodes": data["nodes"][: value + 1], "result": value}
    return data


def _as(result: Any, spec: Any, shape: Any) -> Any:
    return result.reshape(shape).astype(spec.dtype)


def _of_one(
    call: Call, program: Mapping[str, Any], values: Sequence[Any]
) -> list[Any]:
    """The results of one of a batch."""
    arrays, points = _arrays(call, values)
    left: list[list[tuple[Any, Any]]] = []
    for data in program["sweeps"]:
        graph = Graph(data)
        found = Sweep(graph, arrays, points).run()
        own = graph.nodes[graph.result]
        left.append(_parts(data["leaves"], found, own.rank))
        for (name, _, type_), (value, axes) in zip(
            data["leaves"], left[-1], strict=True
        ):
            arrays[name, axes] = value
            if type_[2] == 0:
                arrays[name, 0] = value
    results: list[Any] = []
    for sweep, part, label, type_ in program["results"]:
        value = _result(left, sweep, part, type_, points)
        if label.endswith("#im"):
            results[-1] = lax.complex(
                results[-1], value.astype(results[-1].dtype)
            )
        else:
            results.append(value)
    return results


def _arrays(
    call: Call, values: Sequence[Any]
) -> tuple[dict[Any, Any], dict[int, int]]:
    """The arguments by their names and axes, and how many points there are."""
    points = {I: 1, J: 1}
    arrays: dict[Any, Any] = {}
    of_points: dict[str, tuple[Any, int]] = {}
    for k, (name, value) in enumerate(zip(call.names, values, strict=False)):
        axes = call.axes(k)
        known = str(call.formula._axes_of(name)[0])
        for part, array in _real_parts(value):
            if not axes:
                arrays[known + part, 0] = _parameter(array)[None, None]
                continue
            points |= {a: array.shape[0] for a in (I, J) if axes & a}
            of_points[known + part] = array, axes
    for name, (array, axes) in of_points.items():
        # Where one array is on both axes, the cotangent of a row is that of a
        # column, too, and a graph reads it on either.
        both = points[I] == points[J]
        for axis in (I, J):
            if both or axes & axis:
                place = 1 if axis == I else 0
                arrays[name, axis] = jnp.expand_dims(array, place)
    for name, axis in (("#i", I), ("#j", J)):
        arrays[name, 0] = jnp.full((1, 1), points[axis])
    return arrays, points


def _real_parts(value: Any) -> list[tuple[str, Any]]:
    if jnp.issubdtype(value.dtype, jnp.complexfloating):
        return [("", value.real), ("#im", value.imag)]
    return [("", value)]


def _parameter(value: Any) -> Any:
    """A parameter as the library reads it: a row of a matrix is a vector."""
    if value.size == 1 and value.ndim:
        return value.reshape(())
    if value.ndim == 2 and value.shape[0] == 1:
        return value[0]
    return value


def _parts(
    leaves: Sequence[Any], found: Any, rank: int
) -> list[tuple[Any, int]]:
    """What a sweep leaves behind, each with its axes."""
    parts = []
    for _, first, (_, own_rank, axes, rows, columns) in leaves:
        value = found
        if rank:
            flat = found.reshape(*found.shape[:2], math.prod(found.shape[2:]))
            count = rows * columns if rows > 0 else flat.shape[-1] - first
            value = flat[..., first : first + count]
            if own_rank == 0:
                value = value[..., 0]
            elif own_rank == 2:
                value = value.reshape(*found.shape[:2], rows, columns)
        parts.append((value, axes))
    return parts


def _result(
    left: Sequence[Sequence[tuple[Any, Any]]],
    sweep: int,
    part: int,
    type_: Any,
    points: Mapping[int, int],
) -> Any:
    """A result with all its points and components."""
    dtype, rank, axes, rows, columns = type_
    kept = tuple(points[a] if axes & a else 1 for a in (I, J))
    known = jax.dtypes.canonicalize_dtype(DTYPES.get(dtype, jnp.float32))
    if sweep < 0:
        value: Any = jnp.zeros((1, 1), known)
    else:
        value = left[sweep][part][0]
    own = () if rank == 0 else (rows,) if rank == 1 else (rows, columns)
    if rank and value.ndim == 2:
        value = value.reshape(value.shape + (1,) * len(own))
    own = tuple(
        value.shape[2 + d] if extent < 0 else extent
        for d, extent in enumerate(own)
    )
    value = jnp.broadcast_to(value, kept + own)
    drop = tuple(d for d, a in enumerate((I, J)) if not axes & a)
    return value.reshape(
        tuple(n for d, n in enumerate(value.shape) if d not in drop)
    )
