# bench/jax_tools.py - JAX under the names of bench/statements.py.
"""Functions of JAX that chains of statements are made of."""

from __future__ import annotations

import jax


class JaxTools:
    """sin, cos, exp, relu and sigmoid."""

    sin = staticmethod(jax.numpy.sin)
    cos = staticmethod(jax.numpy.cos)
    exp = staticmethod(jax.numpy.exp)
    relu = staticmethod(jax.nn.relu)
    sigmoid = staticmethod(jax.nn.sigmoid)
