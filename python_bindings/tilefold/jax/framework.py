# python_bindings/tilefold/jax/framework.py - what is asked of JAX's arrays.
"""Functions of `tilefold.frameworks.Framework`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from tilefold import _core
from tilefold.jax.calls import call
from tilefold.jax.elements import elements
from tilefold.jax.function_reader import read
from tilefold.jax.jax_internals import CONCRETE_ARRAY
from tilefold.jax.solves import inv_quad_logdet, solve
from tilefold.result_types import is_symbol
from tilefold.result_types import with_few_points as few_points
from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

__all__ = [
    "call",
    "concrete",
    "described",
    "dtype",
    "elements",
    "holds",
    "inv_quad_logdet",
    "read",
    "real_numbers",
    "records",
    "solve",
    "unrecorded",
    "with_few_points",
]


def holds(values: Iterable[Any]) -> bool:
    """Whether some of the values are JAX's arrays, or tracers."""
    return any(
        type(value) is CONCRETE_ARRAY or isinstance(bare(value), jax.Array)
        for value in values
    )


def records(values: Iterable[Any]) -> bool:
    """Whether JAX traces what is computed of the values."""
    return any(isinstance(bare(value), jax.core.Tracer) for value in values)


def unrecorded() -> AbstractContextManager[Any]:
    """Where JAX records nothing: it is the values that are traced."""
    return nullcontext()


def described(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, arrays of the same shapes for tracers."""
    return {name: _described(value) for name, value in arguments.items()}


def _described(value: Any) -> Any:
    """An array of NumPy's that takes no memory, for a tracer."""
    if isinstance(value, Role):
        return Role(_described(value.value), value.axes)
    if not isinstance(value, jax.core.Tracer):
        return value
    return _stand_in(value, value.shape)


def with_few_points(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Any, Any]] | None:
    """Arrays of few points, and N and M, where sizes are symbols; else None."""
    if not any(map(_has_symbols, map(bare, arguments.values()))):
        return None
    return few_points(formula, arguments, settings.get("batch_rank"), _stand_in)


def _has_symbols(value: Any) -> bool:
    """Whether it has sizes that a program is exported for."""
    return isinstance(value, jax.core.Tracer) and any(
        map(is_symbol, value.shape)
    )


def _stand_in(value: Any, shape: tuple[Any, ...]) -> Any:
    """What is like a value, of another shape and without memory."""
    if jax.export.is_symbolic_dim(value):
        return 1
    if any(map(is_symbol, shape)):
        _core.fail(
            "BadOption",
            "a batch of a kernel",
            "of a size that is a symbol",
            "make the kernel of one of the batch, and map that: jax.vmap",
        )
    array = value if hasattr(value, "dtype") else np.asarray(value)
    if not shape and not isinstance(value, jax.core.Tracer):
        return value
    return np.broadcast_to(np.zeros((), array.dtype), shape)


def concrete(numbers: Any) -> Any:
    """Whole numbers; those of a tracer are not known."""
    if isinstance(numbers, jax.core.Tracer):
        _core.fail(
            "BadOption",
            "K[…]",
            "read by an array that JAX traces",
            "index by numbers or lists, or the points: kernel(…, x=x[rows])",
        )
    return numbers


def dtype(name: str) -> Any:
    """JAX's element type of a name, such as "float32", in its width."""
    return jax.dtypes.canonicalize_dtype(jnp.dtype(name))


def real_numbers(values: Any, dtype: Any) -> Any:
    """An array of numbers: of float32 where `dtype` is, else of float64."""
    narrow = jnp.dtype(dtype) in (jnp.dtype("float32"), jnp.dtype("complex64"))
    wide = jax.dtypes.canonicalize_dtype(np.float64)
    return jnp.asarray(values, np.float32 if narrow else wide)
