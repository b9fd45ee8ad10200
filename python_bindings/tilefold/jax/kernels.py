# python_bindings/tilefold/jax/kernels.py - lazy matrices as pytrees.
"""`kernel` and `solve`; a `tilefold.Kernel` is a pytree of its arrays.

It goes into a jitted function, and comes out of one, as its arrays do; its
formula is static.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from tilefold.errors import Error
from tilefold.jax.solves import solve as traced_solve
from tilefold.kernel_matrix import Kernel, kernel
from tilefold.pair_term import PairTerm
from tilefold.roles import Role, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["kernel", "solve"]


def solve(
    K: Kernel,  # noqa: N803  (as it is called everywhere)
    b: Any,
    ridge: Any = 0.0,
    *,
    rtol: float = 1e-6,
    maxiter: int | None = None,
    preconditioner: str | None = "auto",
    method: str = "cg",
    rank: int | None = None,
) -> jax.Array:
    """Solves ``(K + ridge·I) x = b`` for a symmetric K, under JAX.

    ``Kernel.solve`` comes here by itself for arrays of JAX. It may be
    differentiated to any order, by b, the ridge and the kernel's arrays, and
    mapped: ``vmap`` over b alone makes columns of one system, over what else
    there is one system after the other. Its solver runs on the CPU.

    Parameters
    ----------
    K : Kernel
        Shape (N, N), symmetric, which is not checked.
    b : jax.Array
        Shape (N,) or (N, E).
    ridge : float, default 0.0
        What is added to the diagonal.
    rtol, maxiter : float and int
        As of ``Kernel.solve``: 1e-6 and ``min(10 N, 1000)``.
    preconditioner : {"auto", "cholesky", "nystrom", None}, default "auto"
        As of ``Kernel.solve``.
    method : {"cg", "minres", "auto"}, default "cg"
        As of ``Kernel.solve``.
    rank : int, optional
        As of ``Kernel.solve``.

    Returns
    -------
    jax.Array
        x, of the shape of b.

    Raises
    ------
    ShapeError, ArgumentError
        As ``Kernel.solve`` raises them.

    See Also
    --------
    tilefold.Kernel.solve : which comes here by itself.
    tilefold.jax.kernel : the matrix, of arrays of JAX.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> x = jnp.linspace(0.0, 1.0, 20)
    >>> K = tilefold.jax.kernel("exp(-|x_i - x_j|)", x=x)
    >>> solution = tilefold.jax.solve(K, jnp.ones(20), ridge=1.0)
    >>> bool(jnp.allclose(K @ solution + solution, 1, atol=1e-4))
    True
    """
    options = {
        "rtol": rtol,
        "maxiter": maxiter,
        "preconditioner": preconditioner,
        "method": method,
        "rank": rank,
    }
    found: jax.Array = traced_solve(K, b, ridge, options)[0]
    return found


class _Static:
    """What is static of a kernel, equal where all of it is."""

    def __init__(self, kernel: Kernel) -> None:
        pair = kernel._pair
        self.formula = pair.formula
        self.names = tuple(pair.arguments)
        self.roles = tuple(
            value.axes if isinstance(value, Role) else None
            for value in pair.arguments.values()
        )
        self.settings = {
            name: value
            for name, value in pair.settings.items()
            if name != "ranges"
        }
        self.transposed = kernel._transposed
        text, steps, session = self.formula.__reduce__()[1]
        options = self.settings.get("options")
        told = options and options.__reduce__()[0].keywords
        self._key = (
            text,
            repr(steps),
            session and id(session),
            self.names,
            self.roles,
            self.transposed,
            repr(told),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _flatten(kernel: Kernel) -> tuple[tuple[Any, ...], _Static]:
    pair = kernel._pair
    values = tuple(bare(value) for value in pair.arguments.values())
    return (*values, pair.settings.get("ranges")), _Static(kernel)


def _unflatten(static: _Static, leaves: Sequence[Any]) -> Kernel:
    *values, ranges = leaves
    arguments = {
        name: value if axes is None else Role(value, axes)
        for name, value, axes in zip(
            static.names, values, static.roles, strict=True
        )
    }
    # Sizes are those of the arrays; lists of ranges may not be known yet.
    pair = _pair(static.formula, arguments, dict(static.settings))
    if ranges is not None:
        pair.settings["ranges"] = ranges
    return Kernel(pair, static.transposed)


def _pair(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> PairTerm:
    """A pair term; JAX also makes trees of what are no arrays."""
    known = (np.ndarray, np.generic, jax.Array, int, float, complex)
    if all(isinstance(bare(value), known) for value in arguments.values()):
        try:
            return PairTerm(formula, arguments, settings)
        except Error:
            pass  # several, one after the other, as vmap hands them over
    pair = PairTerm.__new__(PairTerm)
    pair.formula, pair.arguments, pair.settings = formula, arguments, settings
    return pair


jax.tree_util.register_pytree_node(Kernel, _flatten, _unflatten)
