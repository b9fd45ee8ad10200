# python_bindings/tilefold/jax/solves.py - linear systems with kernels, traced.
"""`solve`: (K + ridge·I) x = b under JAX's transformations.

The solver is the library's, called by the program; its derivatives are those
of `jax.lax.custom_linear_solve`: systems with the same matrix.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlencode

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap

from tilefold import _core
from tilefold.jax.call_text import call_of
from tilefold.jax.calls import call as call_formula
from tilefold.jax.log_determinants import estimated
from tilefold.jax.lowering import SOLVE_TARGET
from tilefold.pair_term import PairTerm
from tilefold.roles import Role, bare
from tilefold.slices import I, J
from tilefold.solve import (
    LogdetInfo,
    SolveInfo,
    require_counts,
    require_system,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tilefold.kernel_matrix import Kernel

__all__ = ["inv_quad_logdet", "solve"]

MOST_FACTORED = 2000  # points whose matrix is factored, as outside of JAX


def solve(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """What `tilefold.solve.solve` gives, traced."""
    pair = kernel._pair
    _check(options)
    require_system(kernel, [side])
    if pair.is_complex:
        return _of_hermitian(kernel, side, ridge, options)
    if jnp.iscomplexobj(side):
        return _of_parts(kernel, jnp.asarray(side), ridge, options)
    name = pair.formula._unused_name()
    product = pair.around("sum", kernel._columns, weights=name)
    arguments = {key: _array(value) for key, value in pair.arguments.items()}

    def multiplied(vector: Any) -> Any:
        found = times(vector)
        return found.astype(vector.dtype) + ridge_of * vector

    def times(vector: Any) -> Any:
        given = {**arguments, name: vector}
        return call_formula(product, given, dict(pair.settings))

    dtype = jax.eval_shape(times, jnp.asarray(side)).dtype
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
    converged = (residuals <= options["rtol"]).all()
    info = SolveInfo(counts[0], residuals, converged, counts[1])
    return x, info, ""


def _of_parts(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """Of complex right-hand sides: their parts are columns of one system."""
    columns = side.reshape(len(side), -1)
    count = columns.shape[1]
    both = jnp.concatenate([columns.real, columns.imag], 1)
    x, info, warning = solve(kernel, both, ridge, options)
    norms = (both**2).sum(0)
    squares = info.residuals**2 * norms
    whole = norms[:count] + norms[count:]
    left = squares[:count] + squares[count:]
    residuals = jnp.sqrt(left / jnp.where(whole > 0, whole, 1))
    found = lax.complex(x[:, :count], x[:, count:]).reshape(side.shape)
    return (
        found,
        info._replace(residuals=residuals.reshape(side.shape[1:])),
        warning,
    )


def _of_hermitian(
    kernel: Kernel, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """Of complex values: the real symmetric system of twice the points.

    [[Re K, -Im K], [Im K, Re K]] times the real part of x above its imaginary
    part is the same of b.
    """
    pair = kernel._upright()
    formula = pair.formula
    if formula._reads_index(I) or formula._reads_index(J):
        _refuse("index symbols")
    points = pair.points[0]
    arguments = {}
    for key, value in pair.arguments.items():
        axes = getattr(value, "axes", formula._axes_of(key)[1])
        array = jnp.asarray(bare(value))
        if axes:
            array = jnp.concatenate([array, array])
        arguments[key] = Role(array, axes) if isinstance(value, Role) else array
    half = formula._unused_name("half")
    twice = pair.inside(
        f"where({half}_i == {half}_j, real(operand), "
        f"(2*{half}_i - 1)*imag(operand))"
    )
    dtype = jnp.zeros((), pair.library_dtype()).real.dtype
    arguments[half] = jnp.repeat(jnp.array([0, 1], dtype), points)
    real = type(kernel)(PairTerm(twice, arguments, pair.settings))
    side = jnp.asarray(side)
    above = jnp.concatenate([side.real, side.imag])
    x, info, warning = solve(real, above, ridge, options)
    return lax.complex(x[:points], x[points:]), info, warning


def _refuse(what: str) -> NoReturn:
    _core.fail(
        "BadOption",
        "K",
        f"one of complex values with {what}, in a system that JAX traces",
        "solve it outside, or pass real values",
    )


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
    fixed = (lax.stop_gradient(ridge), *values)

    def native(b: Any) -> Any:
        x, residuals, counts = _solved(text, b, *fixed)
        floats = jax.dtypes.canonicalize_dtype(np.float64)
        ints = jax.dtypes.canonicalize_dtype(np.int64)
        return x, (
            lax.convert_element_type(residuals, floats),
            lax.convert_element_type(counts, ints),
        )

    return native


def _solved(text: str, *operands: Any) -> Any:
    """x, residuals and counts of b, the ridge and the kernel's arrays.

    Several b of one system, as `vmap` and the Jacobians by b have them, are
    columns that one product with the matrix serves; several systems are solved
    one after the other.
    """
    run = custom_vmap(functools.partial(_run, text))

    @run.def_vmap
    def _of_several(_: int, is_several: Sequence[bool], *operands: Any) -> Any:
        if any(is_several[1:]):
            return _one_by_one(run, is_several, operands), (True,) * 3
        b, *fixed = operands
        columns = jnp.moveaxis(b, 0, -1)
        points, count = columns.shape[0], math.prod(columns.shape[1:])
        x, residuals, counts = run(columns.reshape(points, count), *fixed)
        found = (
            jnp.moveaxis(x.reshape(columns.shape), -1, 0),
            jnp.moveaxis(residuals.reshape(columns.shape[1:]), -1, 0),
            counts,
        )
        return found, (True, True, False)

    return run(*operands)


def _one_by_one(
    run: Callable[..., Any], is_several: Sequence[bool], operands: Sequence[Any]
) -> Any:
    """The results for each of those that are several."""

    def one(chosen: Any) -> Any:
        rest = iter(chosen)
        return run(
            *(
                next(rest) if several else operand
                for several, operand in zip(is_several, operands, strict=True)
            )
        )

    return lax.map(
        one,
        [v for v, several in zip(operands, is_several, strict=True) if several],
    )


def _run(text: str, b: Any, ridge: Any, *values: Any) -> Any:
    """The library's solver."""
    columns = b.shape[1:]
    x, residuals, counts = jax.ffi.ffi_call(
        SOLVE_TARGET,
        [
            _struct(b.shape, b.dtype),
            _struct(columns or (1,), np.float64),
            _struct((3,), np.int64),
        ],
    )(*values, b, ridge, system=text)
    return x, residuals.reshape(columns), counts


_struct: Any = jax.ShapeDtypeStruct  # its stubs have no types


def inv_quad_logdet(
    kernel: Kernel,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> tuple[Any, Any, Any, str]:
    """What `tilefold.solve.inv_quad_logdet` gives, traced."""
    own = kernel._pair.library_dtype()
    if not jnp.issubdtype(own, jnp.inexact):  # the matrix is of whole numbers
        own = jnp.result_type(float)
    dtype = jnp.zeros((), own).real.dtype
    columns, value = jnp.zeros((), dtype), jnp.zeros((), dtype)
    info = None
    if options is not None:
        value, info = _logdet(kernel, ridge, options)
    if side is not None:
        x, _, _ = solve(kernel, side, ridge, solving)
        columns = (jnp.asarray(side, x.dtype).conj() * x).sum(0).real
    return columns, value.astype(dtype), info, ""


def _logdet(
    kernel: Kernel, ridge: Any, options: dict[str, Any]
) -> tuple[Any, LogdetInfo]:
    """Of a factor, or of many points an estimate; and how it went."""
    require_system(kernel)
    require_counts(options, probes=2, maxiter=1)
    points = kernel.shape[-1]
    if points > MOST_FACTORED:
        if kernel._pair.is_complex:
            _core.fail(
                "BadOption",
                "logdet",
                f"of {points} points of complex values, in a function that JAX "
                "traces",
                f"take at most {MOST_FACTORED} points, or call it outside",
            )
        return estimated(kernel, ridge, options, solve)
    dense = kernel.dense()
    if not jnp.issubdtype(dense.dtype, jnp.inexact):
        dense = dense.astype(float)
    matrix = dense + ridge * jnp.eye(points, dtype=dense.dtype)
    diagonal = jnp.diagonal(jnp.linalg.cholesky(matrix)).real
    return 2 * jnp.log(diagonal).sum(), LogdetInfo(0.0, 0, 0, 0)
