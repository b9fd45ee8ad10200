# python_bindings/tilefold/jax/elements.py - values of pair terms, traced.
"""`elements`: values of k(x_i, y_j) one by one, under JAX's transformations.

The graph of the formula is computed in jax.numpy. Its derivative along
tangents is the pair term of the formula's own derivative, linear in them, so
that JAX transposes it; subgradients are the language's, not JAX's.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import dtypes, lax
from jax.custom_derivatives import SymbolicZero

from tilefold import _core
from tilefold.jax.call_text import Call, call_of
from tilefold.jax.tiled import pair_values
from tilefold.jax.types import is_float
from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilefold.pair_term import PairTerm

__all__ = ["elements"]

_SUFFIXES = {0: ("",), 1: ("_i",), 2: ("_j",), 3: ("_i", "_j")}


def elements(pair: PairTerm, query: str, i: Any, j: Any) -> Any:
    """What `PairTerm.evaluate` gives, traced."""
    if pair.settings.get("ranges") is not None:
        _core.fail("RangesOfElements")
    if pair.is_complex:
        real, imaginary = (elements(part, query, i, j) for part in pair.parts())
        return lax.complex(real, imaginary)
    chosen = pair.selected(1, i).selected(2, j)
    if query != "dense":
        return chosen.diagonal()
    return dense(chosen)


def dense(pair: PairTerm) -> Any:
    """All values, of shape (…, N, M) or (…, N, M, E)."""
    names = tuple(pair.arguments)
    values = [jnp.asarray(bare(value)) for value in pair.arguments.values()]
    axes = tuple(
        value.axes if isinstance(value, Role) else -1
        for value in pair.arguments.values()
    )
    batch = len(pair.batch)
    call = call_of(pair.formula, names, axes, batch)
    lifted = [
        value.reshape((1,) * (batch - max(value.ndim - 2, 0)) + value.shape)
        for value in values
    ]
    return _dense(call, *lifted)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _dense(call: Call, *operands: Any) -> Any:
    return pair_values(call, operands)


@functools.partial(_dense.defjvp, symbolic_zeros=True)
def _moved(
    call: Call, primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    value = _dense(call, *primals)
    moving = [
        k
        for k, tangent in enumerate(tangents)
        if not isinstance(tangent, SymbolicZero)
        and tangent.dtype != dtypes.float0
        and is_float(tangent.dtype)
    ]
    if not moving or not is_float(value.dtype):
        aval = jax.typeof(value).to_tangent_aval()
        return value, jnp.zeros(aval.shape, aval.dtype)
    derived = _along(call, moving)
    moved = _dense(derived, *primals, *(tangents[k] for k in moving))
    return value, moved.astype(value.dtype)


@functools.lru_cache(maxsize=1024)
def _derivative(call: Call, moving: tuple[int, ...]) -> Call:
    formula = call.formula
    axes = dict(formula.names)
    terms, names = [], []
    for k in moving:
        name = call.names[k]
        tangent = formula._unused_name(f"tangent_{name}")
        names.append(tangent)
        terms += [
            f"jvp(operand, {name}{on}, {tangent}{on})"
            for on in _SUFFIXES[axes[name] if call.said.axes[k] < 0 else 0]
        ]
    text = type(formula)(" + ".join(terms))._substitute(
        [("operand", formula, {})]
    )
    return call_of(
        type(formula)(text),
        (*call.names, *names),
        (*call.said.axes, *(call.said.axes[k] for k in moving)),
        call.batch,
    )


def _along(call: Call, moving: Sequence[int]) -> Call:
    """The pair term's derivative where some arguments move."""
    return _derivative(call, tuple(moving))
