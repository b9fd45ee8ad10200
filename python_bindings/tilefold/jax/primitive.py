# python_bindings/tilefold/jax/primitive.py - a call as a primitive of JAX.
"""`bind(call, operands)`: the one primitive, and its rules.

Derivatives of a formula are formulas, so that each rule binds the primitive
again: forward over reverse over forward is one more step of the derivation.
Nothing is kept for a backward pass but the arguments.

Every operand has the same number of dimensions of a batch, of extent 1 where
it is the same in all of it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import dtypes, lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tilefold.jax import tiled
from tilefold.jax.jax_internals import (
    alike,
    devices_while_lowering,
    merged,
    mesh_of,
    spec_of,
)
from tilefold.jax.lowering import native
from tilefold.jax.types import I, J, is_float, results_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilefold.jax.call_text import Call

__all__ = ["MOST_PROGRAMS", "bind"]

# Of calls outside of jit, which XLA keeps with 1.5 MiB each.
MOST_PROGRAMS = 128

_CALL: Any = Primitive("tilefold")
_CALL.multiple_results = True

# Whether an operand is one of those that a call is transposed by.
_is_linear: Any = ad.is_undefined_primal


def bind(call: Call, operands: Sequence[Any]) -> list[Any]:
    """The results of a call."""
    return list(_CALL.bind(*alike(operands), call=call))


@functools.lru_cache(maxsize=MOST_PROGRAMS)
def _compiled(call: Call) -> Any:
    def tilefold(*operands: Any) -> Any:
        return _CALL.bind(*operands, call=call)

    # jax.debug_nans names it, where it would look into another function.
    tilefold.__qualname__ = _CALL.name
    tilefold._apply_primitive = True  # type: ignore[attr-defined]
    return jax.jit(tilefold)


@_CALL.def_impl  # type: ignore[untyped-decorator]
def _run(*operands: Any, call: Call) -> list[Any]:
    # A primitive is compiled under jax.disable_jit, too, as JAX's own are.
    with jax.disable_jit(False):
        return list(_compiled(call)(*operands))


# ---- types -------------------------------------------------------------------


@_CALL.def_abstract_eval  # type: ignore[untyped-decorator]
def _abstract(*avals: Any, call: Call) -> list[Any]:
    specs = results_of(
        call, [aval.shape for aval in avals], [aval.dtype for aval in avals]
    )
    return [
        merged(avals, spec.shape, spec.dtype, _split_over(call, avals, spec))
        for spec in specs
    ]


def _split_over(call: Call, avals: Sequence[Any], spec: Any) -> Any:
    """The explicit axes of a mesh that a result is split over, or None."""
    if all(mesh_of(aval) is None for aval in avals):
        return None
    if spec.like >= 0:
        return spec_of(avals[spec.like])
    entries: list[Any] = [None] * len(spec.shape)
    for k, aval in enumerate(avals[: len(call.names)]):
        split = spec_of(aval)
        for d in range(call.batch):
            entries[d] = entries[d] or split[d]
        place = call.batch
        for axis in (I, J):
            if not spec.axes & axis:
                continue
            if call.axes(k) == axis and len(split) > call.batch:
                entries[place] = entries[place] or split[call.batch]
            place += 1
    return _each_once(entries)


def _each_once(entries: Sequence[Any]) -> tuple[Any, ...]:
    """Without axes that an earlier dimension is split over."""
    seen: set[Any] = set()
    kept: list[Any] = []
    for entry in entries:
        names = entry if isinstance(entry, tuple) else (entry,)
        is_new = entry is not None and seen.isdisjoint(names)
        kept.append(entry if is_new else None)
        seen.update(names)
    return tuple(kept)


# ---- derivatives -------------------------------------------------------------


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, call: Call
) -> tuple[list[Any], list[Any]]:
    results = bind(call, primals)
    moving = [
        k
        for k, tangent in enumerate(tangents[: len(call.names)])
        if type(tangent) is not ad.Zero and tangent.dtype != dtypes.float0
    ]
    if not moving or not any(is_float(result.dtype) for result in results):
        return results, [_zero(result) for result in results]
    derived = call.tangent([call.names[k] for k in moving])
    count = len(call.names)
    found = bind(
        derived,
        [
            *primals[:count],
            *(tangents[k] for k in moving),
            *primals[count:],
        ],
    )
    return results, [
        lax.convert_element_type(tangent, result.dtype)
        if is_float(result.dtype)
        else _zero(result)
        for result, tangent in zip(results, found, strict=True)
    ]


def _zero(result: Any) -> Any:
    return ad.Zero(jax.typeof(result).to_tangent_aval())


ad.primitive_jvps[_CALL] = _jvp


def _transpose(
    cotangents: Sequence[Any], *operands: Any, call: Call
) -> list[Any]:
    linear = [k for k, value in enumerate(operands) if _is_linear(value)]
    found: list[Any] = [None] * len(operands)
    if all(type(cotangent) is ad.Zero for cotangent in cotangents):
        for k in linear:
            found[k] = ad.Zero(operands[k].aval)
        return found
    moves = call.moves
    places = {call.names[k]: k for k in linear}
    if moves and set(places) == set(moves.values()):
        gradients = _by_moving(call, operands, cotangents)
    else:
        gradients = _by_linear(call, operands, cotangents, list(places))
    for name, gradient in gradients.items():
        found[places[name]] = gradient
    return found


def _by_moving(
    call: Call, operands: Sequence[Any], cotangents: Sequence[Any]
) -> dict[str, Any]:
    """The gradients by the tangents of the last step.

    They are those of the call before it by the arguments that move.
    """
    base, tangents = call.base(), set(call.moves.values())
    avals = {
        name: operands[call.names.index(seed)].aval
        for name, seed in call.moves.items()
    }
    values = [
        _of_batch(value, avals[name].shape[: call.batch])
        if name in avals
        else value
        for name, value in zip(call.names, operands, strict=False)
        if name not in tangents
    ]
    lists = operands[len(call.names) :]
    found = _gradients(base, [*values, *lists], cotangents, list(avals))
    return {
        call.moves[name]: _as(gradient, avals[name])
        for name, gradient in zip(avals, found, strict=True)
    }


def _by_linear(
    call: Call,
    operands: Sequence[Any],
    cotangents: Sequence[Any],
    names: Sequence[str],
) -> dict[str, Any]:
    """The gradients of a formula that is linear in some arguments.

    They do not depend on these.
    """
    values = [
        jnp.zeros(value.aval.shape, value.aval.dtype)
        if _is_linear(value)
        else value
        for value in operands
    ]
    avals = [operands[call.names.index(name)].aval for name in names]
    found = _gradients(call, values, cotangents, names)
    return {
        name: _as(gradient, aval)
        for name, gradient, aval in zip(names, found, avals, strict=True)
    }


def _gradients(
    call: Call,
    operands: Sequence[Any],
    cotangents: Sequence[Any],
    names: Sequence[str],
) -> list[Any]:
    """The gradients by arguments.

    In JAX's convention that of complex numbers is the conjugate of the
    formula's.
    """
    count = len(call.names)
    specs = results_of(
        call,
        [value.shape for value in operands],
        [value.dtype for value in operands],
    )
    given = [
        jnp.zeros(spec.shape, spec.dtype if is_float(spec.dtype) else float)
        if type(cotangent) is ad.Zero or not is_float(spec.dtype)
        else _conjugate(cotangent)
        for cotangent, spec in zip(cotangents, specs, strict=True)
    ]
    derived = call.gradient(names, [spec.axes for spec in specs])
    found = bind(derived, [*operands[:count], *given, *operands[count:]])
    return [_conjugate(gradient) for gradient in found]


def _conjugate(value: Any) -> Any:
    is_complex = jnp.issubdtype(value.dtype, jnp.complexfloating)
    return lax.conj(value) if is_complex else value


def _of_batch(value: Any, batch: Sequence[Any]) -> Any:
    """An operand with at least these dimensions of a batch."""
    shape = tuple(
        extent if own == 1 else own
        for own, extent in zip(value.shape, batch, strict=False)
    )
    return jnp.broadcast_to(value, (*shape, *value.shape[len(batch) :]))


def _as(gradient: Any, aval: Any) -> Any:
    """A gradient of the type of what it is by."""
    summed = tuple(
        d
        for d, (own, extent) in enumerate(
            zip(gradient.shape, aval.shape, strict=True)
        )
        if own != extent
    )
    if summed:
        gradient = gradient.sum(summed, keepdims=True)
    return lax.convert_element_type(gradient, aval.dtype)


ad.primitive_transposes[_CALL] = _transpose


# ---- vmap --------------------------------------------------------------------


def _batched(
    operands: Sequence[Any], dims: Sequence[Any], *, call: Call
) -> tuple[list[Any], list[int]]:
    """One more dimension of the batch, before all others.

    An argument whose gradient is a result is repeated: its gradient is one for
    each of the batch, not their sum.
    """
    count = len(call.names)
    size = next(
        value.shape[dim]
        for value, dim in zip(operands, dims, strict=True)
        if dim is not None
    )
    repeated = {name for name in call.likes if name}
    lifted = []
    for k in range(count):
        value, dim = operands[k], dims[k]
        if dim is not None:
            lifted.append(jnp.moveaxis(value, dim, 0))
        elif call.names[k] in repeated:
            lifted.append(jnp.broadcast_to(value[None], (size, *value.shape)))
        else:
            lifted.append(value[None])
    lists, ranges = operands[count:], call.said.ranges
    if ranges is not None and any(dim is not None for dim in dims[count:]):
        between = (1,) * (call.batch - len(ranges))
        ranges = (size, *between, *ranges)
        lists = [
            _one_after_the_other(value, dim, size)
            for value, dim in zip(lists, dims[count:], strict=True)
        ]
    results = bind(call.in_batch(ranges), [*lifted, *lists])
    return results, [0] * len(results)


def _one_after_the_other(value: Any, dim: Any, size: int) -> Any:
    """The lists of ranges of a batch, as one list."""
    if dim is None:
        value = jnp.broadcast_to(value[None], (size, *value.shape))
    else:
        value = jnp.moveaxis(value, dim, 0)
    return value.reshape(-1)


batching.primitive_batchers[_CALL] = _batched


# ---- lowering ----------------------------------------------------------------


def _lowered(rule: Any) -> Any:
    return mlir.lower_fun(rule, multiple_results=True)


def _native(ctx: Any, *operands: Any, call: Call) -> Any:
    is_tiled = call.said.backend == "tiled"
    rule = tiled.evaluate if is_tiled else native(ctx)
    return _lowered(rule)(ctx, *operands, call=call)


for _platform in ("cpu", "cuda"):
    mlir.register_lowering(_CALL, _native, platform=_platform)
mlir.register_lowering(_CALL, _lowered(tiled.evaluate))
devices_while_lowering(_CALL)
