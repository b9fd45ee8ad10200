# python_bindings/tilefold/jax/jax_internals.py - what of JAX is not public.
"""All that is asked of `jax._src`, whose names move from release to release.

Where a release has no such thing, its older name is used, or nothing is done.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
from jax._src import array, config, core, dispatch
from jax._src import mesh as meshes
from jax.interpreters import mlir

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

__all__ = [
    "CONCRETE_ARRAY",
    "alike",
    "bind_params",
    "devices_while_lowering",
    "function_of",
    "has_x64",
    "is_divided",
    "merged",
    "mesh_of",
    "spec_of",
    "with_64_bits",
    "with_spec",
    "within_one_device",
]

#: The type of arrays that hold values, which no tracer has. To ask a value's
#: type takes a fifth of the time of `isinstance(value, jax.Array)`.
CONCRETE_ARRAY: type = array.ArrayImpl

# Its stubs have no types.
_SPEC: Any = jax.sharding.PartitionSpec

_ALIKE = (
    getattr(core, "auto_insert_reshard", None)
    or getattr(core, "standard_insert_pvary", None)
    or getattr(core, "standard_insert_pbroadcast", None)
)


def alike(values: Sequence[Any]) -> Sequence[Any]:
    """The operands of one primitive, varying alike over the axes of a mesh.

    The transpose of that is the sum over devices which makes the gradients of
    replicated arguments.
    """
    if _ALIKE is None or not values:
        return values
    return tuple(_ALIKE(*values))


def merged(avals: Sequence[Any], shape: Any, dtype: Any, spec: Any) -> Any:
    """The type of a result of operands of these types.

    Axes that are manual in a `shard_map` come from an operand. `spec`: the
    explicit axes of a mesh that each dimension is split over, or None.
    """
    rule = getattr(core, "standard_vma_rule", None)
    if rule is not None:
        rule("tilefold", *avals)
    first = next(
        (aval for aval in avals if mesh_of(aval) is not None), avals[0]
    )
    return first.update(
        shape=tuple(shape),
        dtype=dtype,
        weak_type=False,
        sharding=with_spec(first, len(shape), spec),
    )


def mesh_of(aval: Any) -> Any:
    """The mesh that a type names, or None."""
    mesh = getattr(getattr(aval, "sharding", None), "mesh", None)
    return None if mesh is None or mesh.empty else mesh


def spec_of(aval: Any) -> tuple[Any, ...]:
    """The axes of a mesh that each dimension of a type is split over."""
    if mesh_of(aval) is None:
        return (None,) * len(aval.shape)
    return tuple(aval.sharding.spec)


def with_spec(aval: Any, rank: int, spec: Any) -> Any:
    """The sharding of a type, for another shape."""
    entries = (None,) * rank if spec is None else tuple(spec)
    return jax.sharding.NamedSharding(aval.sharding.mesh, _SPEC(*entries))


def within_one_device() -> AbstractContextManager[Any]:
    """Where what is computed for one device is on no mesh.

    Releases before 0.8 name the mesh in the body of a sum over devices, which
    XLA then does not take for a sum.
    """
    empty = getattr(meshes, "empty_abstract_mesh", None)
    enter = getattr(meshes, "use_abstract_mesh", None)
    if empty is None or enter is None:
        return nullcontext()
    context: AbstractContextManager[Any] = enter(empty)
    return context


def devices_while_lowering(primitive: Any) -> None:
    """Says that the rule of a primitive asks on which devices it will be."""
    dispatch.prim_requires_devices_during_lowering.add(primitive)


def is_divided(ctx: Any) -> bool:
    """Whether XLA is to divide a program among several devices."""
    found = ctx.module_context.axis_context
    is_whole = isinstance(found, mlir.ShardingContext)
    return is_whole and (found.num_devices or 1) > 1


def has_x64() -> bool:
    """Whether JAX has types of 64 bits here, on this thread."""
    config: Any = jax.config
    return bool(config.jax_enable_x64)


def with_64_bits() -> AbstractContextManager[Any]:
    """Where JAX has types of 64 bits, on this thread."""
    context: AbstractContextManager[Any] = config.enable_x64(True)
    return context


def bind_params(
    primitive: Any, params: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """What a primitive is bound with, before and behind its operands.

    Parameters of an equation, of which releases before 0.10 make operands of
    functions.
    """
    found = primitive.get_bind_params(params)
    return found if isinstance(found, tuple) else ((), found)


_HOME = str(Path(jax.__file__).parent)


def function_of(program: Any) -> tuple[str, bool]:
    """The name of the function that a program is of, and whether JAX wrote it.

    A program is one as equations call it, closed or not.
    """
    told = getattr(getattr(program, "jaxpr", program), "debug_info", None)
    name, _, place = getattr(told, "func_src_info", "").partition(" at ")
    return name, place.startswith(_HOME)
