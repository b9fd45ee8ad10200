# python_bindings/tilefold/jax/tiled_reductions.py - reductions tile by tile.
"""The monoids of reductions in jax.numpy: `MONOIDS`, by the reduction's name.

A state is a tuple of arrays (rows, 1, …). `start` makes that of no term,
`step` adds a tile of terms to one, and `finish` makes the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MONOIDS", "Terms"]

_limits: Any = jnp.iinfo  # its stubs have no types


class Terms(NamedTuple):
    """A tile of what is reduced.

    `values` are the operands, (rows, columns, …); `kept` says where there are
    points; `numbers` are those of the pairs, for indices; `over` are the
    dimensions that are reduced; `k` is that of the K smallest.
    """

    values: tuple[Any, ...]
    kept: Any
    numbers: Any
    over: tuple[int, ...]
    k: int
    dtype: Any


class Monoid(NamedTuple):
    """The functions of a reduction."""

    start: Callable[[Terms], tuple[Any, ...]]
    step: Callable[[tuple[Any, ...], Terms], tuple[Any, ...]]
    finish: Callable[[tuple[Any, ...], Any], Any]


def _shape(terms: Terms, operand: int = 0) -> tuple[int, ...]:
    """The shape of a state."""
    shape = list(terms.values[operand].shape)
    full = jnp.broadcast_shapes(shape[:2], terms.kept.shape)
    shape[:2] = [1 if d in terms.over else full[d] for d in (0, 1)]
    return tuple(shape)


def _whole(terms: Terms, operand: int = 0) -> Any:
    """An operand with all points of the tile, and where it counts."""
    value = terms.values[operand]
    shape = jnp.broadcast_shapes(value.shape[:2], terms.kept.shape)
    value = jnp.broadcast_to(value, shape + value.shape[2:])
    kept = terms.kept.reshape(terms.kept.shape + (1,) * (value.ndim - 2))
    return value, kept


def _fill(terms: Terms, by: Any, operand: int = 0) -> Any:
    value, kept = _whole(terms, operand)
    return jnp.where(kept, value, jnp.asarray(by, value.dtype))


def _compensated(sums: tuple[Any, Any], more: Any) -> tuple[Any, Any]:
    """A sum and what rounding left of it (Knuth's two-sum)."""
    total, rest = sums
    found = total + more
    part = found - total
    return found, rest + ((total - (found - part)) + (more - part))


def _sum_start(terms: Terms) -> tuple[Any, ...]:
    zero = jnp.zeros(_shape(terms), terms.dtype)
    return zero, zero


def _sum_step(state: tuple[Any, ...], terms: Terms) -> tuple[Any, ...]:
    more = _fill(terms, 0).astype(terms.dtype)
    more = more.sum(terms.over, keepdims=True, dtype=terms.dtype)
    if jnp.issubdtype(terms.dtype, jnp.floating):
        return _compensated((state[0], state[1]), more)
    return state[0] + more, state[1]


def _sum_finish(state: tuple[Any, ...], _: Any) -> Any:
    total, rest = state
    # Of a sum that is infinite the rest is NaN.
    return total + jnp.where(jnp.isfinite(total), rest, 0).astype(total.dtype)


def _prod_step(state: tuple[Any, ...], terms: Terms) -> tuple[Any, ...]:
    more = _fill(terms, 1).astype(terms.dtype)
    return (state[0] * more.prod(terms.over, keepdims=True),)


def _end(dtype: Any, sign: int) -> Any:
    """The value that no other is beyond: for -1 the least."""
    if dtype == jnp.bool_:
        return sign > 0
    if jnp.issubdtype(dtype, jnp.integer):
        info = _limits(dtype)
        return info.max if sign > 0 else info.min
    return sign * jnp.inf


def _extreme(sign: int) -> Monoid:
    """The largest for 1, the smallest for -1; NaN if any is."""
    reduce = jnp.max if sign > 0 else jnp.min
    join = jnp.maximum if sign > 0 else jnp.minimum

    def start(terms: Terms) -> tuple[Any, ...]:
        dtype = terms.values[0].dtype
        return (jnp.full(_shape(terms), _end(dtype, -sign), dtype),)

    def step(state: tuple[Any, ...], terms: Terms) -> tuple[Any, ...]:
        found = _fill(terms, _end(terms.values[0].dtype, -sign))
        return (join(state[0], reduce(found, terms.over, keepdims=True)),)

    return Monoid(start, step, lambda state, _: state[0])


def _sorted(state: tuple[Any, ...], terms: Terms) -> Any:
    """The K first of a state and a tile, by value and then by number.

    NaN comes last; the last dimension counts the K.
    """
    keys = _fill(terms, _end(terms.values[0].dtype, 1))
    keys, numbers = jnp.broadcast_arrays(
        keys,
        terms.numbers.reshape(terms.numbers.shape + (1,) * (keys.ndim - 2)),
    )
    kept = jnp.broadcast_to(_whole(terms)[1], keys.shape)
    numbers = jnp.where(kept, numbers, _last(numbers.dtype))
    moved = [
        jnp.moveaxis(each, terms.over, range(-len(terms.over), 0))
        for each in (keys, numbers)
    ]
    moved = [
        each.reshape(*each.shape[: each.ndim - len(terms.over)], -1)
        for each in moved
    ]
    old_keys, old_numbers = state
    joined = [
        jnp.concatenate([old, new], -1)
        for old, new in zip((old_keys, old_numbers), moved, strict=True)
    ]
    is_there = joined[1] != _last(joined[1].dtype)
    is_nan = jnp.isnan(joined[0])
    order = jnp.where(is_there, is_nan.astype(jnp.int32), 2)
    plain = jnp.where(is_nan | ~is_there, 0, joined[0])
    _, _, numbers, keys = lax.sort(
        [order, plain, joined[1], joined[0]], num_keys=3
    )
    return keys[..., : terms.k], numbers[..., : terms.k]


def _last(dtype: Any) -> Any:
    return _limits(dtype).max


def _smallest(finish: Callable[..., Any]) -> Monoid:
    """The K smallest values, and where they are."""

    def start(terms: Terms) -> tuple[Any, ...]:
        rest = [
            extent
            for d, extent in enumerate(_shape(terms))
            if d not in terms.over
        ]
        shape = (*rest, terms.k)
        wide = jax.dtypes.canonicalize_dtype(jnp.int64)
        dtype = terms.values[0].dtype
        return (
            jnp.full(shape, _end(dtype, 1), dtype),
            jnp.full(shape, _last(wide), wide),
        )

    def step(state: tuple[Any, ...], terms: Terms) -> tuple[Any, ...]:
        return tuple(_sorted(state, terms))

    return Monoid(start, step, finish)


def _first(sign: int) -> Monoid:
    """Where the smallest is for 1, the largest for -1; a NaN comes first."""
    reduce = jnp.argmin if sign > 0 else jnp.argmax

    def start(terms: Terms) -> tuple[Any, ...]:
        dtype = terms.values[0].dtype
        wide = jax.dtypes.canonicalize_dtype(jnp.int64)
        shape = _shape(terms)
        return (
            jnp.full(shape, _end(dtype, sign), dtype),
            jnp.full(shape, -1, wide),
        )

    def step(state: tuple[Any, ...], terms: Terms) -> tuple[Any, ...]:
        found = _fill(terms, _end(terms.values[0].dtype, sign))
        flat, numbers = _in_line(found, terms)
        kept, _ = _in_line(
            jnp.broadcast_to(_whole(terms)[1], found.shape), terms
        )
        # Points that are none come after all that are.
        order = jnp.argsort(~kept, axis=-1, stable=True)
        flat = jnp.take_along_axis(flat, order, -1)
        numbers = jnp.take_along_axis(numbers, order, -1)
        any_kept = kept.any(-1)
        place = reduce(flat, -1)[..., None]
        value = jnp.take_along_axis(flat, place, -1)[..., 0]
        number = jnp.take_along_axis(numbers, place, -1)[..., 0]
        value, number, any_kept = (
            each.reshape(state[0].shape) for each in (value, number, any_kept)
        )
        return _better(state, (value, number), any_kept, sign)

    return Monoid(start, step, lambda state, _: state[1])


def _in_line(value: Any, terms: Terms) -> tuple[Any, Any]:
    """What is reduced as one last dimension, and the numbers beside it."""
    numbers = jnp.broadcast_to(
        terms.numbers.reshape(terms.numbers.shape + (1,) * (value.ndim - 2)),
        value.shape,
    )
    lines = []
    for each in (value, numbers):
        moved = jnp.moveaxis(each, terms.over, range(-len(terms.over), 0))
        lead = moved.shape[: moved.ndim - len(terms.over)]
        lines.append(moved.reshape(*lead, -1))
    return lines[0], lines[1]


def _better(
    old: tuple[Any, ...], new: tuple[Any, ...], any_new: Any, sign: int
) -> tuple[Any, ...]:
    """Of two values the first by order, of equal ones the lower number."""
    (a, first), (b, second) = old, new
    is_less = (b < a) if sign > 0 else (b > a)
    a_nan, b_nan = jnp.isnan(a), jnp.isnan(b)
    is_equal = (a == b) | (a_nan & b_nan)
    takes = jnp.where(
        a_nan | b_nan,
        b_nan & (~a_nan | (second < first)),
        is_less | (is_equal & (second < first)),
    )
    takes = any_new & (takes | (first < 0))
    return jnp.where(takes, b, a), jnp.where(takes, second, first)


def _weighted_start(terms: Terms) -> tuple[Any, ...]:
    shape = _shape(terms)
    sums = [jnp.zeros(shape, terms.values[0].dtype)]
    if len(terms.values) > 1:
        full = jnp.broadcast_shapes(_shape(terms)[:2], _shape(terms, 1)[:2])
        sums.append(
            jnp.zeros(full + terms.values[1].shape[2:], terms.values[0].dtype)
        )
    return (jnp.full(shape, -jnp.inf, terms.values[0].dtype), *sums)


def _weighted_step(state: tuple[Any, ...], terms: Terms) -> tuple[Any, ...]:
    """Sums of exp(f - m) and exp(f - m) v, and the running m."""
    found = _fill(terms, -jnp.inf)
    most = jnp.maximum(state[0], found.max(terms.over, keepdims=True))
    base = jnp.where(jnp.isfinite(most) | jnp.isnan(most), most, 0)
    # Infinite values of one sign leave weights of 0 or NaN, as kernels do.
    base = jnp.where(most == jnp.inf, most, base)
    scale = jnp.where(state[0] == -jnp.inf, 0, jnp.exp(state[0] - base))
    weights = jnp.where(found == -jnp.inf, 0, jnp.exp(found - base))
    sums = [state[1] * scale + weights.sum(terms.over, keepdims=True)]
    if len(terms.values) > 1:
        v = _fill(terms, 0, 1).astype(found.dtype)
        extra = (1,) * (v.ndim - found.ndim)
        wide = weights.reshape(weights.shape + extra)
        own = scale.reshape(scale.shape + extra)
        sums.append(state[2] * own + (wide * v).sum(terms.over, keepdims=True))
    return (most, *sums)


def _log_sum(state: tuple[Any, ...], _: Any) -> Any:
    most, *sums = state
    total = sums[-1]
    base = jnp.where(most == -jnp.inf, 0, most)
    return jnp.where(most == -jnp.inf, -jnp.inf, base + jnp.log(total))


def _soft_max(state: tuple[Any, ...], _: Any) -> Any:
    _, total, values = state
    return values / total.reshape(
        total.shape + (1,) * (values.ndim - total.ndim)
    )


def _k_values(state: tuple[Any, ...], _: Any) -> Any:
    """Infinite where there are fewer; of integers, too, in float64."""
    found, numbers = state
    if not jnp.issubdtype(found.dtype, jnp.floating):
        found = found.astype(jax.dtypes.canonicalize_dtype(jnp.float64))
    return jnp.where(numbers == _last(numbers.dtype), jnp.inf, found)


def _k_numbers(state: tuple[Any, ...], _: Any) -> Any:
    return jnp.where(state[1] == _last(state[1].dtype), -1, state[1])


def _sum(finish: Callable[..., Any]) -> Monoid:
    return Monoid(_sum_start, _sum_step, finish)


MONOIDS: dict[str, Monoid] = {
    "sum": _sum(_sum_finish),
    "count": _sum(_sum_finish),
    "mean": _sum(lambda state, n: _sum_finish(state, n) / n),
    "prod": Monoid(
        lambda terms: (jnp.ones(_shape(terms), terms.dtype),),
        _prod_step,
        lambda state, _: state[0],
    ),
    "max": _extreme(1),
    "min": _extreme(-1),
    "any": _extreme(1),
    "all": _extreme(-1),
    "argmax": _first(-1),
    "argmin": _first(1),
    "logsumexp": Monoid(_weighted_start, _weighted_step, _log_sum),
    "softmax": Monoid(_weighted_start, _weighted_step, _soft_max),
    "kmin": _smallest(_k_values),
    "argkmin": _smallest(_k_numbers),
}
