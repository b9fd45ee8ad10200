# python_bindings/tilefold/jax/function_values.py - values of the programs that
# JAX makes of functions.
"""`Known`, what does not depend on the points; others are `Tracer`s.

A value has the components of its array, in their order; one that is the same
in all of them is a scalar, whatever the shape of the array.
"""

from __future__ import annotations

import functools
import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import numpy as np

from tilefold import _core
from tilefold.functions import concatenated
from tilefold.jax.jax_internals import bind_params
from tilefold.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Known", "bound", "is_truth", "joined", "refuse", "spread", "traced"]


def refuse(what: str, cure: str) -> NoReturn:
    """Raises ArgumentError for a function."""
    _core.fail("BadOption", "formula", f"a function of JAX's {what}", cure)


class Known:
    """What does not depend on the points: an array, as one has its shape.

    `name`: wished for in the formula; "" where the function spells it out.
    """

    def __init__(self, value: Any, name: str = "") -> None:
        self.value = value
        self.name = name

    @property
    def is_concrete(self) -> bool:
        """Whether its numbers are there, which JAX does not trace."""
        return not isinstance(self.value, jax.core.Tracer)

    @functools.cached_property
    def traced(self) -> Tracer:
        """A parameter, or a number in the text."""
        value, size = self.value, math.prod(np.shape(self.value))
        if not self.name and self.is_concrete and size:
            numbers = np.ravel(np.asarray(value))
            if (numbers == numbers[0]).all() or (numbers != numbers).all():
                return _spelled(numbers[0])
        if np.ndim(value):
            value = value.reshape(() if size == 1 else -1)
        return Tracer.parameter(value, self.name or "p")


def _spelled(number: Any) -> Tracer:
    """A number in the text, float32 with the digits that tell it."""
    if np.iscomplexobj(number):
        parts = [_spelled(number.real), _spelled(number.imag)]
        return Tracer.made("({0} + im*{1})", parts, 0)
    is_narrow = number.dtype == np.float32
    found: Tracer = Tracer.of(
        float(str(number)) if is_narrow else number.item()
    )
    return found


def traced(value: Tracer | Known) -> Tracer:
    """A value that others are made of."""
    return value.traced if isinstance(value, Known) else value


def spread(value: Tracer, size: int) -> Tracer:
    """A vector, also of what is the same in all components."""
    if value.rank:
        return value
    vector: Tracer = concatenated([value] * size)
    return vector


def joined(parts: list[Tracer]) -> Tracer:
    """Values side by side."""
    whole: Tracer = parts[0] if len(parts) == 1 else concatenated(parts)
    return whole


def bound(
    equation: Any, values: Sequence[Any], **settings: Any
) -> Sequence[Any]:
    """What a primitive gives of arrays, now if they are there."""
    primitive = equation.primitive
    functions, params = bind_params(primitive, {**equation.params, **settings})
    is_traced = any(isinstance(value, jax.core.Tracer) for value in values)
    with nullcontext() if is_traced else jax.ensure_compile_time_eval():
        found = primitive.bind(*functions, *values, **params)
    return found if primitive.multiple_results else [found]


def is_truth(atom: Any) -> bool:
    """Whether an operand of an equation is true or false."""
    return bool(atom.aval.dtype == np.bool_)
