# python_bindings/tilefold/jax/__init__.py - tilefold in JAX.
"""Formulas of JAX's arrays: under jit, grad, vmap and all else.

Nothing has to be called: `tilefold.reduce`, formulas and kernels come here by
themselves where an array is JAX's, or a tracer.
"""

from __future__ import annotations

from tilefold.needed import require

require("jax")

from tilefold.jax.calls import reduce
from tilefold.jax.kernels import kernel, solve
from tilefold.jax.lowering import (
    SOLVE_TARGET,
    TARGET,
    register,
)

__all__ = [
    "SOLVE_TARGET",
    "TARGET",
    "kernel",
    "reduce",
    "register",
    "solve",
]
