# python_bindings/tilefold/jax/solves.py - linear systems with kernels, traced.
"""`solve`: (K + ridge·I) x = b under JAX's transformations.

The solver is the library's, called by the program; its derivatives are those
of `jax.lax.custom_linear_solve`: systems with the same matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilefold import _core
from tilefold.jax.call_text import call_of
from tilefold.jax.calls import call as call_formula
from tilefold.jax.lowering import SOLVE_TARGET
from tilefold.roles import Role, bare
from tilefold.solve import LogdetInfo, SolveInfo

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilefold.kernel import Kernel

__all__ = ["inv_quad_logdet", "solve"]

MOST_FACTORED = 2000  # points whose matrix is factored, as outside of JAX


def solve(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """What `tilefold.solve.solve` gives, traced."""
    pair = kernel._pair
    _check(options)
    if pair.is_complex or jnp.iscomplexobj(side):
        _core.fail(
            "BadOption",
            "b",
            "one of complex numbers, in a system that JAX traces",
            "solve for the real and the imaginary parts",
        )
    name = pair.formula._unused_name()
    product = pair.around("sum", kernel._columns, weights=name)
    arguments = {key: _array(value) for key, value in pair.arguments.items()}

    def multiplied(vector: Any) -> Any:
        found = call_formula(
            product, **{**arguments, name: vector}, **pair.settings
        )
        return found.astype(vector.dtype) + ridge_of * vector

    dtype = jax.eval_shape(
        lambda v: call_formula(
            product, **{**arguments, name: v}, **pair.settings
        ),
        jnp.asarray(side),
    ).dtype
    b = jnp.asarray(side, dtype)
    ridge_of = jnp.asarray(ridge, dtype)
    native = _solver(pair, product, arguments, name, ridge_of, options)
    x, (residuals, counts) = lax.custom_linear_solve(
        multiplied,
        b,
        lambda _, v: native(v),
        transpose_solve=lambda _, v: native(v),
        symmetric=True,
        has_aux=True,
    )
    info = SolveInfo(counts[0], residuals, counts[2] != 0, counts[1])
    return x, info, ""


_CHOICES = {
    "method": ("cg", "minres", "auto"),
    "preconditioner": (
        "auto", None, "none", "cholesky", "pivoted_cholesky", "nystrom"
    ),
}  # fmt: skip


def _check(options: dict[str, Any]) -> None:
    """Refuses names that are none when the call is traced."""
    for name, choices in _CHOICES.items():
        if options[name] not in choices:
            given = ", ".join(map(repr, choices))
            _core.fail("BadOption", name, repr(options[name]), f"pass {given}")


def _array(value: Any) -> Any:
    """An argument as an array of JAX."""
    if isinstance(value, Role):
        return Role(_array(value.value), value.axes)
    return jnp.asarray(value)


def _solver(
    pair: Any,
    product: Any,
    arguments: dict[str, Any],
    name: str,
    ridge: Any,
    options: dict[str, Any],
) -> Callable[[Any], Any]:
    """The library's solver, as a function of b."""
    names = (*arguments, name)
    axes = tuple(
        value.axes if isinstance(value, Role) else -1
        for value in arguments.values()
    )
    call = call_of(product, names, (*axes, -1), 0)
    said = {
        "call": call.text,
        "pair": pair.formula.text,
        "side": name,
        "preconditioner": options["preconditioner"] or "none",
        **{
            key: options[key]
            for key in ("rtol", "maxiter", "method", "rank")
            if options[key] is not None
        },
    }
    text = urlencode(said)
    values = [lax.stop_gradient(bare(value)) for value in arguments.values()]

    def native(b: Any) -> Any:
        columns = b.shape[1:]
        x, residuals, counts = jax.ffi.ffi_call(
            SOLVE_TARGET,
            [
                _struct(b.shape, b.dtype),
                _struct(columns or (1,), np.float64),
                _struct((3,), np.int64),
            ],
            vmap_method="sequential",
        )(
            *values,
            b,
            lax.stop_gradient(ridge),
            system=text,
        )
        floats = jax.dtypes.canonicalize_dtype(np.float64)
        ints = jax.dtypes.canonicalize_dtype(np.int64)
        residuals = lax.convert_element_type(residuals, floats)
        return x, (
            residuals.reshape(columns),
            lax.convert_element_type(counts, ints),
        )

    return native


_struct: Any = jax.ShapeDtypeStruct  # its stubs have no types


def inv_quad_logdet(
    kernel: Kernel,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> tuple[Any, Any, Any, str]:
    """What `tilefold.solve.inv_quad_logdet` gives, traced."""
    dtype = kernel._pair.library_dtype()
    columns, value = jnp.zeros((), dtype), jnp.zeros((), dtype)
    info = None
    if options is not None:
        points = kernel.shape[-1]
        if points > MOST_FACTORED:
            _core.fail(
                "BadOption",
                "logdet",
                f"of {points} points, in a function that JAX traces",
                f"take at most {MOST_FACTORED}, or call it outside",
            )
        dense = kernel.dense()
        matrix = dense + ridge * jnp.eye(points, dtype=dense.dtype)
        factor = jnp.linalg.cholesky(matrix)
        diagonal = jnp.diagonal(factor).real
        value = 2 * jnp.log(diagonal).sum()
        info = LogdetInfo(0.0, 0, 0, 0)
    if side is not None:
        x, _, _ = solve(kernel, side, ridge, solving)
        columns = (jnp.asarray(side, x.dtype) * x).sum(0)
    return columns, value.astype(dtype), info, ""
