# python_bindings/tilefold/jax/tiled_graph.py - a formula's graph in jax.numpy.
"""`Graph`: the nodes of `Formula._program`, and their values as arrays.

A value is an array (points of i, points of j, components…), of extent 1 along
an axis that it is not on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import dtypes, lax

from tilefold import _core, graph_text
from tilefold.jax.tiled_operations import (
    BY_COMPONENT,
    FUNCTIONS,
    REFUSED,
    level,
)
from tilefold.jax.types import I, J

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["DTYPES", "Graph", "Node"]

DTYPES = {
    "f64": jnp.float64,
    "f32": jnp.float32,
    "i64": jnp.int64,
    "bool": jnp.bool_,
}


class Node(graph_text.Node):
    """A value of a graph, evaluated by JAX."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """Its element type, in JAX's width."""
        return jax.dtypes.canonicalize_dtype(DTYPES[self.type[0]])


class Graph:
    """A graph, and the arrays that it is evaluated of."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.arguments = [name for name, _ in data["arguments"]]
        self.literals = data["literals"]
        self.nodes = [Node(*node) for node in data["nodes"]]
        self.result: int = data["result"]
        for node in self.nodes:
            if node.op in REFUSED:
                _core.fail(
                    "BadOption",
                    "backend",
                    f"one without {node.op}",
                    "compute it on the CPU or with CUDA",
                )

    def reductions(self) -> list[int]:
        """The nodes that reduce."""
        return [k for k, node in enumerate(self.nodes) if node.op == "reduce"]

    def needed(
        self, roots: Iterable[int], known: Mapping[int, Any]
    ) -> list[int]:
        """What must be computed for some values, in order."""
        found: set[int] = set()
        left = [root for root in roots if root not in known]
        while left:
            node = left.pop()
            if node not in found and node not in known:
                found.add(node)
                left.extend(self.nodes[node].operands)
        return sorted(found)

    def evaluate(
        self,
        roots: Sequence[int],
        known: dict[int, Any],
        arrays: Mapping[Any, Any],
        first: Mapping[int, Any],
    ) -> dict[int, Any]:
        """`known`, and the values of `roots` and what they need."""
        known = dict(known)
        for k in self.needed(roots, known):
            node = self.nodes[k]
            operands = [known[operand] for operand in node.operands]
            known[k] = self._value(node, operands, arrays, first)
        return known

    def _value(
        self,
        node: Node,
        operands: list[Any],
        arrays: Mapping[Any, Any],
        first: Mapping[int, Any],
    ) -> Any:
        if node.op == "argument":
            name = self.arguments[node.attributes[0]]
            found = arrays[name, node.axes if node.axes in (I, J) else 0]
            if node.rank == 2 and found.ndim < 4:  # of one row, or one number
                found = found.reshape(*found.shape[:2], *node.type[3:])
            return found.astype(node.dtype)
        if node.op == "literal":
            slot, sign, _ = node.attributes
            number = -self.literals[slot] if sign < 0 else self.literals[slot]
            return jnp.full((1, 1), _number(number, node.dtype), node.dtype)
        if node.op == "constant":
            return jnp.full((1, 1), _number(node.value, node.dtype), node.dtype)
        if node.op == "index":
            count = arrays["#", node.axes]
            shape = (count, 1) if node.axes == I else (1, count)
            numbers = jnp.arange(count, dtype=node.dtype)
            return (numbers + first[node.axes].astype(node.dtype)).reshape(
                shape
            )
        if node.op in _STRUCTURE:
            return _STRUCTURE[node.op](node, *operands)
        return _applied(node, operands)


# Its stubs have no types.
_BARRIER: Any = lax.optimization_barrier


def _number(value: float, dtype: Any) -> float:
    """A number of a formula, the nearest that its type holds."""
    if not jnp.issubdtype(dtype, jnp.integer):
        held = np.finfo(dtypes.canonicalize_dtype(dtype))
        if math.isfinite(value) and abs(value) > float(held.max):
            _core.fail(
                "BadOption",
                "jax_enable_x64",
                "off, where the formula has numbers that float64 alone holds",
                'set jax.config.update("jax_enable_x64", True), or pass arrays '
                "of float32",
            )
        return value
    limits = np.iinfo(dtype)
    return max(min(int(value), limits.max), limits.min)


def _applied(node: Node, operands: list[Any]) -> Any:
    """An operation of ops.def, of operands as it converts them."""
    if node.op in BY_COMPONENT:
        operands = level([_shaped(node, each) for each in operands])
    if node.op == "where":
        operands[1:] = [each.astype(node.dtype) for each in operands[1:]]
    elif node.dtype == jnp.bool_ or node.op in ("rand", "randn"):
        if node.op in ("less", "lessequal", "equal", "notequal"):
            operands = list(jnp.broadcast_arrays(*operands))
    elif node.op.startswith("gather"):
        operands[0] = operands[0].astype(node.dtype)
    else:
        operands = [each.astype(node.dtype) for each in operands]
    found = FUNCTIONS[node.op](*operands).astype(node.dtype)
    if node.op == "mul" and node.axes != I + J:
        # Thresholds of a search are computed twice, here and beside each pair:
        # a compiler may join one of the products with a sum, and round once.
        return _BARRIER(found)
    return found


# ---- structure ---------------------------------------------------------------


def _shaped(node: Node, value: Any) -> Any:
    """An operand; a matrix beside vectors of as many components is one."""
    shape = node.type[3 : 3 + node.rank]
    is_whole = math.prod(value.shape[2:]) == math.prod(shape)
    if not node.rank or value.ndim == 2 or not is_whole:
        return value
    return value.reshape(*value.shape[:2], *shape)


def _vector(value: Any) -> Any:
    return value[..., None] if value.ndim == 2 else value


def _slice(node: Node, value: Any) -> Any:
    first, last, is_scalar = node.attributes
    flat = (
        value
        if value.ndim < 4
        else value.reshape(*value.shape[:2], math.prod(value.shape[2:]))
    )
    found = _vector(flat)[..., first:last]
    return found[..., 0] if is_scalar else found


def _submatrix(node: Node, value: Any) -> Any:
    first, rows, columns = node.attributes
    row, column = divmod(first, value.shape[-1])
    found = value[..., row : row + rows, column : column + columns]
    if rows == 1 or columns == 1:
        return found.reshape(*value.shape[:2], rows * columns)
    return found


def _concat(_: Node, a: Any, b: Any) -> Any:
    a, b = _vector(a), _vector(b)
    points = jnp.broadcast_shapes(a.shape[:2], b.shape[:2])
    dtype = jnp.promote_types(a.dtype, b.dtype)
    return jnp.concatenate(
        [
            jnp.broadcast_to(each, points + each.shape[2:]).astype(dtype)
            for each in (a, b)
        ],
        -1,
    )


def _broadcast(node: Node, value: Any) -> Any:
    return jnp.broadcast_to(
        value[..., None], (*value.shape, node.attributes[0])
    )


def _power(node: Node, value: Any) -> Any:
    return lax.integer_pow(value.astype(node.dtype), node.attributes[0])


_STRUCTURE: dict[str, Any] = {
    "slice": _slice,
    "submatrix": _submatrix,
    "concat": _concat,
    "broadcast": _broadcast,
    "intpow": _power,
    "iota": lambda node: jnp.arange(node.attributes[0], dtype=node.dtype)[
        None, None
    ],
}
