# python_bindings/tilefold/jax/lowering.py - what a call becomes in a program.
"""`native`: the call of the library, as a foreign function of XLA."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import jax
from jax import lax

from tilefold import _core
from tilefold.jax.jax_internals import is_divided
from tilefold.jax.partition import partitioned
from tilefold.jax.types import results_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilefold.jax.call_text import Call

__all__ = ["SOLVE_TARGET", "TARGET", "native", "register"]

TARGET = "tilefold.reduce.v1"
SOLVE_TARGET = "tilefold.solve.v1"


@functools.cache
def register() -> None:
    """Tells XLA the library's functions, for programs that call them.

    ``import tilefold.jax`` does it. A process that only runs a program which
    ``jax.export`` has written calls it, so that the program finds its target.

    See Also
    --------
    tilefold.jax.reduce : whose programs it is for.

    Examples
    --------
    >>> tilefold.jax.register()
    >>> tilefold.jax.TARGET
    'tilefold.reduce.v1'
    """
    for place, handler in _core._ffi_handlers().items():
        target, platform = place
        jax.ffi.register_ffi_target(target, handler, platform=platform)


register()

_STRUCT: Any = jax.ShapeDtypeStruct  # its stubs have no types


def call_library(*operands: Any, call: Call) -> list[Any]:
    """The results, as the library computes them on one device."""
    specs = results_of(
        call,
        [operand.shape for operand in operands],
        [operand.dtype for operand in operands],
    )
    results = jax.ffi.ffi_call(
        TARGET,
        [_STRUCT(spec.shape, spec.native) for spec in specs],
    )(*operands, call=call.text)
    return [
        lax.convert_element_type(result, spec.dtype)
        for result, spec in zip(results, specs, strict=True)
    ]


def native(ctx: Any) -> Callable[..., list[Any]]:
    """The rule for the devices of a program that is being lowered."""
    return _divided if is_divided(ctx) else call_library


def _divided(*operands: Any, call: Call) -> list[Any]:
    """The results, of arrays that lie on several devices."""
    return partitioned(call_library, call, operands)
