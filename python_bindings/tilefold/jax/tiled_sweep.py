# python_bindings/tilefold/jax/tiled_sweep.py - a graph tile by tile of pairs.
"""`Sweep`: a graph, evaluated tile by tile.

`lax.map` goes over tiles of the axis that is kept, `lax.scan` over those of the
axis that is reduced, with the states of the reductions carried along.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tilefold import _core
from tilefold.jax.tiled_graph import Graph, Node
from tilefold.jax.tiled_reductions import MONOIDS, Terms
from tilefold.jax.types import I, J

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Sweep"]

# Points of a tile, of the axis that is kept and of the one that is reduced.
TILE = (256, 512)


class Folding:
    """The monoid of a formula's own: terms are added one after the other."""

    def __init__(self, node: Node) -> None:
        accumulate, _ = node.more[2]
        self.graph = Graph(accumulate)

    def start(self, terms: Terms) -> tuple[Any, ...]:
        value, initial = terms.values[:2]
        shape = jnp.broadcast_shapes(
            value.shape[:2], terms.kept.shape, initial.shape[:2]
        )
        shape = tuple(1 if d in terms.over else n for d, n in enumerate(shape))
        state = jnp.broadcast_to(initial, shape + initial.shape[2:])
        return (state.astype(terms.dtype),)

    def step(self, state: tuple[Any, ...], terms: Terms) -> tuple[Any, ...]:
        value = terms.values[0]
        points = jnp.broadcast_shapes(value.shape[:2], terms.kept.shape)
        value = jnp.broadcast_to(value, points + value.shape[2:])
        kept = jnp.broadcast_to(terms.kept, points)

        def in_line(each: Any) -> Any:
            if terms.over == (0,):
                return each[:, None]
            if terms.over == (1,):
                return jnp.moveaxis(each, 1, 0)[:, :, None]
            return each.reshape(-1, 1, 1, *each.shape[2:])

        def add(state: Any, given: Any) -> Any:
            term, counts = given
            found = self._added(state, term, terms)
            counts = counts.reshape(counts.shape + (1,) * (state.ndim - 2))
            return jnp.where(counts, found, state), None

        return (lax.scan(add, state[0], (in_line(value), in_line(kept)))[0],)

    def _added(self, state: Any, term: Any, terms: Terms) -> Any:
        arrays: dict[Any, Any] = {}
        given = {"left": state, "right": term}
        if len(terms.values) > 2:
            given["given"] = terms.values[2]
        for name, value in given.items():
            for axis in (0, I, J):
                arrays[name, axis] = value
        zero = jnp.zeros((), jnp.int32)
        graph = self.graph
        found = graph.evaluate([graph.result], {}, arrays, {I: zero, J: zero})
        result = found[graph.result].astype(state.dtype)
        return jnp.broadcast_to(result, state.shape)

    def finish(self, state: tuple[Any, ...], _: Any) -> Any:
        return state[0]


class _Tiles(NamedTuple):
    """How an axis is cut: `pieces` tiles of `size` points, `total` in all."""

    size: int
    pieces: int
    total: int

    @classmethod
    def of(cls, total: int, most: int) -> _Tiles:
        size = max(min(total, most), 1)
        return cls(size, -(-total // size), total)

    def cut(self, arrays: Mapping[Any, Any], axis: int) -> dict[Any, Any]:
        """Arrays on an axis as (tiles, …); the last tile is filled up."""
        dimension = 0 if axis == I else 1
        found = {}
        for key, value in arrays.items():
            widths = [(0, 0)] * value.ndim
            widths[dimension] = (0, self.pieces * self.size - self.total)
            filled = jnp.pad(value, widths)
            shape = list(value.shape)
            shape[dimension : dimension + 1] = [self.pieces, self.size]
            found[key] = jnp.moveaxis(filled.reshape(shape), dimension, 0)
        return found

    def first(self) -> Any:
        """The number of the first point of each tile."""
        wide = jax.dtypes.canonicalize_dtype(jnp.int64)
        return jnp.arange(self.pieces, dtype=wide) * self.size


def _on(arrays: Mapping[Any, Any], axis: int) -> dict[Any, Any]:
    return {key: value for key, value in arrays.items() if key[1] == axis}


class Sweep:
    """One graph, and the arrays of one batch that it is evaluated of."""

    def __init__(
        self,
        graph: Graph,
        arrays: Mapping[Any, Any],
        points: Mapping[int, int],
    ) -> None:
        self.graph = graph
        self.arrays = dict(arrays)
        self.points = points
        self.reduced = 0
        for k in graph.reductions():
            node = graph.nodes[k]
            self.reduced = node.attributes[1]
            if node.more[1] != "all":
                _core.fail(
                    "BadOption",
                    "ranges",
                    "given to a backend without them",
                    "compute it on the CPU or with CUDA, or write a mask",
                )
        nodes = graph.nodes
        self.has_fold = any(
            nodes[k].more[2] is not None for k in graph.reductions()
        )

    def run(self) -> Any:
        """The result, (points of i, points of j, …)."""
        zero = jnp.zeros((), jax.dtypes.canonicalize_dtype(jnp.int64))
        if not self.reduced:
            arrays = self.arrays | {("#", a): self.points[a] for a in (I, J)}
            found = self.graph.evaluate(
                [self.graph.result], {}, arrays, {I: zero, J: zero}
            )
            return found[self.graph.result]
        kept = (I | J) & ~self.reduced
        if self.graph.nodes[self.graph.result].axes & kept:
            return self._kept(kept)
        return self._reduce({}, {I: zero, J: zero}, _on(self.arrays, 0))

    def _kept(self, axis: int) -> Any:
        """Tile by tile of the axis that is kept."""
        tiles = _Tiles.of(self.points[axis], self._tile(axis))
        cut = tiles.cut(_on(self.arrays, axis), axis)
        rest = _on(self.arrays, 0)
        zero = jnp.zeros((), tiles.first().dtype)

        def one(given: Any) -> Any:
            first, own = given
            firsts = {axis: first, I + J - axis: zero}
            return self._reduce(own | {("#", axis): tiles.size}, firsts, rest)

        found = lax.map(one, (tiles.first(), cut))
        dimension = 0 if axis == I else 1
        found = jnp.moveaxis(found, 0, dimension)
        shape = list(found.shape)
        shape[dimension : dimension + 2] = [tiles.pieces * tiles.size]
        return lax.slice_in_dim(
            found.reshape(shape), 0, tiles.total, axis=dimension
        )

    def _tile(self, axis: int) -> int:
        """The most points of a tile, fewer where values are long."""
        wide = max(
            math.prod(node.type[3:]) if node.axes == I | J else 1
            for node in self.graph.nodes
        )
        if self.has_fold and self.reduced & axis:
            return max(self.points[axis], 1)
        most = TILE[1 if self.reduced & axis else 0]
        return most if self.reduced & axis else max(most // max(wide, 1), 8)

    def _reduce(
        self,
        own: Mapping[Any, Any],
        first: Mapping[int, Any],
        rest: Mapping[Any, Any],
    ) -> Any:
        """The result for a tile of the kept axis, or for none."""
        arrays = {**rest, **own}
        graph = self.graph
        heads = graph.reductions()
        known: dict[int, Any] = {}
        before = [
            k
            for k in graph.needed(
                [o for h in heads for o in graph.nodes[h].operands], {}
            )
            if graph.nodes[k].axes & self.reduced == 0
        ]
        known = graph.evaluate(before, {}, arrays, first)
        scan = _Scan(self, known, arrays, first)
        states = scan.run(heads)
        for head, value in zip(heads, states, strict=True):
            node = graph.nodes[head]
            known[head] = value.astype(node.dtype)
        return graph.evaluate([graph.result], known, arrays, first)[
            graph.result
        ]


class _Scan:
    """The reductions of a sweep over tiles of what is reduced."""

    def __init__(
        self,
        sweep: Sweep,
        known: dict[int, Any],
        arrays: Mapping[Any, Any],
        first: Mapping[int, Any],
    ) -> None:
        self.sweep, self.known = sweep, known
        self.arrays, self.first = arrays, first
        self.over = tuple(axis for axis in (I, J) if sweep.reduced & axis)
        self.tiles = {
            axis: _Tiles.of(sweep.points[axis], sweep._tile(axis))
            for axis in self.over
        }

    def run(self, heads: Sequence[int]) -> list[Any]:
        """The results of the reductions."""
        count = math.prod(tiles.total for tiles in self.tiles.values())
        xs = [
            (
                self.tiles[axis].first(),
                self.tiles[axis].cut(_on(self.sweep.arrays, axis), axis),
            )
            for axis in self.over
        ]

        def tile(*given: Any) -> list[Terms]:
            return self._terms(heads, dict(zip(self.over, given, strict=True)))

        example = tile(*(jax.tree.map(_some, x) for x in xs))
        states = [
            self._monoid(head).start(terms)
            for head, terms in zip(heads, example, strict=True)
        ]

        def step(states: Any, given: Sequence[Any]) -> Any:
            return [
                self._monoid(head).step(state, terms)
                for head, state, terms in zip(
                    heads, states, tile(*given), strict=True
                )
            ]

        if len(xs) == 1:
            states, _ = lax.scan(
                lambda s, x: (step(s, [x]), None), states, xs[0]
            )
        else:

            def outer(states: Any, x: Any) -> Any:
                return lax.scan(
                    lambda s, y: (step(s, [x, y]), None), states, xs[1]
                )[0], None

            states, _ = lax.scan(outer, states, xs[0])
        return [
            self._finished(head, state, count)
            for head, state in zip(heads, states, strict=True)
        ]

    def _monoid(self, head: int) -> Any:
        node = self.sweep.graph.nodes[head]
        if node.more[2] is not None:
            return Folding(node)
        return MONOIDS[node.more[0]]

    def _finished(self, head: int, state: Any, count: int) -> Any:
        node = self.sweep.graph.nodes[head]
        found = self._monoid(head).finish(state, count)
        if node.more[0] not in ("kmin", "argkmin"):
            return found
        # Of the dimensions of points, those that are reduced are gone.
        for axis in self.over:
            found = jnp.expand_dims(found, 0 if axis == I else 1)
        return found

    def _terms(
        self, heads: Sequence[int], given: Mapping[int, Any]
    ) -> list[Terms]:
        """The operands of the reductions for one tile."""
        graph = self.sweep.graph
        arrays, first = dict(self.arrays), dict(self.first)
        for axis, (start, own) in given.items():
            arrays.update(own)
            arrays["#", axis] = self.tiles[axis].size
            first[axis] = start
        operands = [o for head in heads for o in graph.nodes[head].operands]
        known = graph.evaluate(operands, self.known, arrays, first)
        kept, numbers = self._points(first)
        return [
            Terms(
                tuple(known[o] for o in graph.nodes[head].operands),
                kept,
                numbers,
                tuple(0 if axis == I else 1 for axis in self.over),
                graph.nodes[head].attributes[2],
                graph.nodes[head].dtype,
            )
            for head in heads
        ]

    def _points(self, first: Mapping[int, Any]) -> tuple[Any, Any]:
        """Where a tile has points, and their numbers, row after row."""
        kept: Any = jnp.ones((1, 1), bool)
        numbers: Any = jnp.zeros((1, 1), self.tiles[self.over[0]].first().dtype)
        for axis in self.over:
            tiles = self.tiles[axis]
            shape = (tiles.size, 1) if axis == I else (1, tiles.size)
            own = (
                first[axis] + jnp.arange(tiles.size, dtype=numbers.dtype)
            ).reshape(shape)
            kept = kept & (own < tiles.total)
            is_row = len(self.over) > 1 and axis == I
            numbers = numbers + own * (self.tiles[J].total if is_row else 1)
        return kept, numbers


def _some(value: Any) -> Any:
    """One of several, or zeros where there is none."""
    return (
        value[0] if value.shape[0] else jnp.zeros(value.shape[1:], value.dtype)
    )
