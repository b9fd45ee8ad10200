# python_bindings/tilefold/jax/tiled_operations.py - operations in jax.numpy.
"""What each operation of a graph is in jax.numpy: `FUNCTIONS`, by its name.

Values are arrays (points of i, points of j, components…), of extent 1 along an
axis that a value is not on. Operands of one function have as many dimensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BY_COMPONENT", "FUNCTIONS", "REFUSED", "level"]

# jax.scipy.special has none of a real order.
REFUSED = frozenset(("besselj", "bessely", "besseli", "besselk"))


def level(values: list[Any]) -> list[Any]:
    """Values with as many dimensions of components as the most has."""
    most = max(value.ndim for value in values)
    return [
        value.reshape(value.shape + (1,) * (most - value.ndim))
        for value in values
    ]


def _remainder(a: Any, b: Any) -> Any:
    if jnp.issubdtype(a.dtype, jnp.integer):
        return jnp.where(b == 0, 0, jnp.mod(a, jnp.where(b == 0, 1, b)))
    return jnp.mod(a, b)


def _quotient(a: Any, b: Any) -> Any:
    if jnp.issubdtype(a.dtype, jnp.integer):
        return jnp.where(b == 0, 0, a // jnp.where(b == 0, 1, b))
    return jnp.floor_divide(a, b)


def _inverse(a: Any) -> Any:
    return jnp.where(a == 0, 0, 1 / jnp.where(a == 0, 1, a))


def _log_add_exp(a: Any, b: Any) -> Any:
    apart = jnp.abs(jnp.where(a == b, 0, a - b))
    return jnp.maximum(a, b) + jnp.log1p(jnp.exp(-apart))


def _polygamma(order: Any, x: Any) -> Any:
    """Of a whole order, by the zeta function of Hurwitz."""
    is_whole = (order >= 0) & (jnp.floor(order) == order)
    safe = jnp.where(is_whole & (order > 0), order, 1)
    sign = jnp.where(safe % 2 == 0, -1, 1)
    above = (
        sign * jnp.exp(special.gammaln(safe + 1)) * special.zeta(safe + 1, x)
    )
    found = jnp.where(order == 0, special.digamma(x), above)
    return jnp.where(is_whole, found, jnp.nan)


# ---- random numbers ----------------------------------------------------------


def _words(number: Any) -> tuple[Any, Any]:
    """The low and the high 32 bits of whole numbers."""
    low = number.astype(jnp.uint32)
    if number.dtype.itemsize < 8:
        return low, jnp.where(number < 0, 0xFFFFFFFF, 0).astype(jnp.uint32)
    return low, (number >> 32).astype(jnp.uint32)


def _product(a: int, b: Any) -> tuple[Any, Any]:
    """The low and the high 32 bits of a product, in halves of 16 bits."""
    a_low, a_high = jnp.uint32(a & 0xFFFF), jnp.uint32(a >> 16)
    b_low, b_high = b & 0xFFFF, b >> 16
    low = a_low * b_low
    middle = a_high * b_low + (low >> 16)
    other = a_low * b_high + (middle & 0xFFFF)
    return jnp.uint32(a) * b, a_high * b_high + (middle >> 16) + (other >> 16)


def _philox(seed: Any, i: Any, j: Any) -> list[Any]:
    """Philox4x32-10 (Salmon et al., 2011), as compiler/ir/integer.h has it."""
    x = [*_words(i), *_words(j)]
    key = list(_words(seed))
    for _ in range(10):
        a_low, a_high = _product(0xD2511F53, x[0])
        b_low, b_high = _product(0xCD9E8D57, x[2])
        x = [b_high ^ x[1] ^ key[0], b_low, a_high ^ x[3] ^ key[1], a_low]
        key = [
            key[0] + jnp.uint32(0x9E3779B9),
            key[1] + jnp.uint32(0xBB67AE85),
        ]
    return x


def _random(numbers: Callable[..., Any]) -> Callable[..., Any]:
    """A function of three whole numbers; NaN where one is not whole."""

    def function(*operands: Any) -> Any:
        widest = jax.dtypes.canonicalize_dtype(jnp.int64)
        is_whole: Any = True
        counters = []
        for operand in operands:
            if jnp.issubdtype(operand.dtype, jnp.floating):
                is_whole &= jnp.floor(operand) == operand
            counters.append(operand.astype(widest))
        words = _philox(*counters)
        return jnp.where(is_whole, numbers(*words[:2]), jnp.nan)

    return function


def _uniform(word: Any) -> Any:
    wide = jax.dtypes.canonicalize_dtype(jnp.float64)
    return (word >> 8).astype(wide) * 2.0**-24


def _normal(first: Any, second: Any) -> Any:
    """By Box and Muller's method."""
    radius = jnp.sqrt(-2 * jnp.log(1 - _uniform(first)))
    return radius * jnp.cos(2 * jnp.pi * _uniform(second))


# ---- of components -----------------------------------------------------------


def _matrix_vector(a: Any, b: Any) -> Any:
    return (a * b[..., None, :]).sum(-1)


def _vector_matrix(a: Any, b: Any) -> Any:
    return (a[..., :, None] * b).sum(-2)


def _outer(a: Any, b: Any) -> Any:
    table = a[..., :, None] * b[..., None, :]
    return table.reshape(*table.shape[:-2], a.shape[-1] * b.shape[-1])


def _cross(a: Any, b: Any) -> Any:
    def rolled(value: Any, by: int) -> Any:
        return jnp.roll(value, by, -1)

    return rolled(a, -1) * rolled(b, 1) - rolled(a, 1) * rolled(b, -1)


def _chosen(table: Any, index: Any) -> Any:
    """The rows of a table (…, R, C); NaN where there is none."""
    rows = table.shape[-2]
    number = index.astype(jax.dtypes.canonicalize_dtype(jnp.int64))
    is_there = (index == number) & (number >= 0) & (number < rows)
    number = jnp.clip(number, 0, rows - 1)
    shape = jnp.broadcast_shapes(table.shape[:2], number.shape)
    if table.shape[:2] == (1, 1):
        found = jnp.take(table[0, 0], number, axis=0)
    else:
        wide = jnp.broadcast_to(table, shape + table.shape[2:])
        place = jnp.broadcast_to(number, shape)[..., None, None]
        found = jnp.take_along_axis(wide, place, axis=-2)[..., 0, :]
    return jnp.where(is_there[..., None], found, jnp.nan)


def _gather(table: Any, index: Any) -> Any:
    return _chosen(table[..., None], index)[..., 0]


def _gather_element(table: Any, row: Any, column: Any) -> Any:
    return _gather(_chosen(table, row), column)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "neg": lambda a: -a,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "mod": _remainder,
    "floordiv": _quotient,
    "pow": jnp.power,
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "log": jnp.log,
    "log2": jnp.log2,
    "log10": jnp.log10,
    "log1p": jnp.log1p,
    "expm1": jnp.expm1,
    "sqrt": jnp.sqrt,
    "rsqrt": lax.rsqrt,
    "pinv": _inverse,
    "abs": jnp.abs,
    "sign": jnp.sign,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.rint,
    "trunc": jnp.trunc,
    "minimum": jnp.minimum,
    "maximum": jnp.maximum,
    "where": lambda c, a, b: jnp.where(c != 0, a, b),
    "less": lambda a, b: a < b,
    "lessequal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "notequal": lambda a, b: a != b,
    "and": lambda a, b: (a != 0) & (b != 0),
    "or": lambda a, b: (a != 0) | (b != 0),
    "not": lambda a: a == 0,
    "rand": _random(lambda first, _: _uniform(first)),
    "randn": _random(_normal),
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "asin": jnp.arcsin,
    "acos": jnp.arccos,
    "atan": jnp.arctan,
    "atan2": jnp.arctan2,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "tanh": jnp.tanh,
    "asinh": jnp.arcsinh,
    "acosh": jnp.arccosh,
    "atanh": jnp.arctanh,
    "hypot": jnp.hypot,
    "cbrt": jnp.cbrt,
    "erf": special.erf,
    "erfinv": special.erfinv,
    "erfc": special.erfc,
    "sigmoid": special.expit,
    "softplus": lambda a: _log_add_exp(a, jnp.zeros_like(a)),
    "logaddexp": _log_add_exp,
    "silu": lambda a: jnp.where(a > -1000, a, 0) * special.expit(a),
    "gelu": lambda a: jnp.where(a > -100, a, 0) * special.ndtr(a),
    "gamma": special.gamma,
    "lgamma": special.gammaln,
    "polygamma": _polygamma,
    "dot": lambda a, b: (a * b).sum(-1),
    "sqdist": lambda a, b: ((a - b) ** 2).sum(-1),
    "sqnorm": lambda a: (a * a).sum(-1),
    "compsum": lambda a: a.sum(-1),
    "compmax": lambda a: a.max(-1),
    "compmin": lambda a: a.min(-1),
    "cross": _cross,
    "matvec": _matrix_vector,
    "vecmat": _vector_matrix,
    "outer": _outer,
    "gather": _gather,
    "gatherrow": _chosen,
    "gatherelement": _gather_element,
}

# Those of single components, whose operands may have fewer of them.
BY_COMPONENT = frozenset(
    name for name in FUNCTIONS if name not in (
        "dot", "sqdist", "sqnorm", "compsum", "compmax", "compmin", "cross",
        "matvec", "vecmat", "outer", "gather", "gatherrow", "gatherelement",
    )
)  # fmt: skip
