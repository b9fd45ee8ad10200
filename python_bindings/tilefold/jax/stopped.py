# python_bindings/tilefold/jax/stopped.py - values that no derivative reaches.
"""`Stopped`: values of the same arrays, which have no derivatives."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from tilefold.roles import Role, bare, detached
from tilefold.trace_text import Source, nodes_of
from tilefold.tracer import Tracer

__all__ = ["Stopped"]


class Stopped:
    """Makes values of arguments beside those that have derivatives.

    Each array has one beside it; those of libraries that record none stay what
    they are.
    """

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, Any]] = {}

    def __call__(self, value: Tracer) -> Tracer:
        """The value again, through which no derivative goes."""
        made: dict[int, Tracer] = {}
        for node in nodes_of(value):
            operands = [made[id(operand)] for operand in node.operands]
            if operands:
                made[id(node)] = Tracer.made(node.form, operands, node.rank)
            elif node.sources:
                made[id(node)] = self._argument(node)
            else:
                made[id(node)] = node
        return made[id(value)]

    def _argument(self, node: Tracer) -> Tracer:
        (source,) = node.sources.values()
        array = bare(source.value)
        _, beside = self._found.setdefault(
            id(array), (array, _without_derivative(array))
        )
        if beside is array:
            return node
        if isinstance(source.value, Role):
            beside = Role(beside, source.value.axes)
        kept = Source(beside, source.name, source.axis)
        return Tracer.from_source(kept, node.rank)


def _without_derivative(array: Any) -> Any:
    is_jax = isinstance(array, jax.Array)
    return lax.stop_gradient(array) if is_jax else detached(array)
