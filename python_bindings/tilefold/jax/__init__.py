# python_bindings/tilefold/jax/__init__.py - tilefold in JAX.
"""Formulas of JAX's arrays: under jit, grad, vmap and all else.

Nothing has to be called: `tilefold.reduce`, formulas and kernels come here by
themselves where an array is JAX's, or a tracer.
"""

from __future__ import annotations

try:
    import jax
    import jaxlib  # noqa: F401
except ModuleNotFoundError as error:
    missing = "tilefold.jax needs jax: pip install 'tilefold[jax]'"
    raise ModuleNotFoundError(missing, name="jax") from error

_OLDEST = (0, 6)

if tuple(map(int, jax.__version__.split(".")[:2])) < _OLDEST:
    old = f"tilefold.jax needs a newer jax than {jax.__version__}"
    raise ImportError(f"{old}: pip install -U 'tilefold[jax]'", name="jax")

from tilefold.jax.calls import reduce  # noqa: E402
from tilefold.jax.kernels import kernel, solve  # noqa: E402
from tilefold.jax.lowering import (  # noqa: E402
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
