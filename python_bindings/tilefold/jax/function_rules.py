# python_bindings/tilefold/jax/function_rules.py - primitives with a rule of
# their own.
"""`RULES`: what an equation gives of traced values, by its primitive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from tilefold.jax.function_values import is_truth, refuse
from tilefold.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RULES"]


def _converted(equation: Any, values: list[Tracer]) -> Any:
    """Values of another type, which a formula has not."""
    before = equation.invars[0].aval
    after = equation.outvars[0].aval.dtype
    (value,) = values
    if is_truth(equation.invars[0]):
        is_same = after == np.bool_
        return value if is_same else Tracer.apply("where", [value, 1, 0], {})
    if after == np.bool_:
        return Tracer.apply("ne", [value, 0], {})
    was, kind = (
        next(
            k
            for k in (jnp.integer, jnp.floating, jnp.complexfloating)
            if jnp.issubdtype(dtype, k)
        )
        for dtype in (before.dtype, after)
    )
    if was is kind:
        is_narrower = jnp.promote_types(before.dtype, after) != after
        if is_narrower and not before.weak_type:
            refuse(
                f"that makes {after} of {before.dtype}",
                "pass arrays of that type",
            )
        return value
    if kind is jnp.integer:
        return Tracer.apply("trunc", [value], {})
    return (
        Tracer.apply("real", [value], {})
        if was is jnp.complexfloating
        else value
    )


def _quotient(equation: Any, values: list[Tracer]) -> Any:
    """Of whole numbers it is rounded towards 0."""
    if not jnp.issubdtype(equation.invars[0].aval.dtype, jnp.integer):
        return Tracer.apply("div", values, {})
    a, b = values
    size = abs(a) // abs(b)
    return Tracer.apply("where", [(a < 0) == (b < 0), size, -size], {})


def _power(equation: Any, values: list[Tracer]) -> Any:
    return Tracer.apply("pow", [*values, equation.params["y"]], {})


def _rounded(equation: Any, values: list[Tracer]) -> Any:
    """Halves go to even numbers, or away from 0."""
    (value,) = values
    if int(equation.params["rounding_method"]):
        return Tracer.apply("rint", [value], {})
    whole = Tracer.apply("trunc", [value], {})
    sign = Tracer.apply("sign", [value], {})
    step = Tracer.apply("where", [abs(value - whole) >= 0.5, sign, 0], {})
    return whole + step


def _one_of(equation: Any, values: list[Tracer]) -> Any:
    """By a truth value, or by a number."""
    which, *cases = values
    if is_truth(equation.invars[0]):
        return Tracer.apply("where", [which, *cases[::-1]], {})
    chosen = cases[-1]
    for k in reversed(range(len(cases) - 1)):
        chosen = Tracer.apply("where", [which <= k, cases[k], chosen], {})
    return chosen


def _clamped(_: Any, values: list[Tracer]) -> Any:
    low, value, high = values
    return Tracer.apply("clip", [value, low, high], {})


def _complex(_: Any, values: list[Tracer]) -> Any:
    real, imaginary = values
    return real.made("({0} + im*{1})", values, max(real.rank, imaginary.rank))


RULES: dict[str, Callable[[Any, list[Tracer]], Any]] = {
    "clamp": _clamped,
    "complex": _complex,
    "convert_element_type": _converted,
    "div": _quotient,
    "integer_pow": _power,
    "round": _rounded,
    "select_n": _one_of,
}
