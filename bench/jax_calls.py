# bench/jax_calls.py - Gaussian sums under JAX's jit, and their gradients.
"""A sum ("call"), or its gradients by x, y and b ("gradient")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.points import Array

    Function = Callable[[Any, Any, Any], Any]  # of x, y and b

DIMENSION = 3
LENGTH = 0.5
ROWS = 64  # that are compared, and of a block of lax.map
BLOCK = 1000  # rows that are held at once in float64


@dataclass(frozen=True)
class JaxProblem:
    """A face, "call" or "gradient", at N × N points of D = 3, float32."""

    face: str
    points: int

    @property
    def pairs(self) -> float:
        """Pairs of points."""
        return float(self.points**2)

    @property
    def sizes(self) -> dict[str, Any]:
        """N, D and the type."""
        return {"N": self.points, "D": DIMENSION, "dtype": "float32"}

    @cached_property
    def arrays(self) -> list[Array]:
        """x, y and b."""
        random = np.random.default_rng(7)
        shapes = [(self.points, DIMENSION)] * 2 + [(self.points,)]
        return [random.random(shape, np.float32) for shape in shapes]

    def error(self, result: Any) -> float:
        """The largest, beside the largest number of each result."""
        exact = self._exact()
        found = result if isinstance(result, tuple) else (result,)
        return max(
            float(np.nan_to_num(_apart(one, other), nan=np.inf))
            for one, other in zip(found, exact, strict=True)
        )

    def _exact(self) -> list[Array]:
        """In float64, some rows at a time."""
        x, y, b = (array.astype(np.float64) for array in self.arrays)
        sums, by_x = [], []
        by_y, by_b = np.zeros_like(y), np.zeros_like(b)
        for first in range(0, len(x), BLOCK):
            apart = x[first : first + BLOCK, None] - y
            kernel = np.exp(-(apart**2).sum(-1) / (2 * LENGTH**2))
            sums.append(kernel @ b)
            weights = kernel * b / LENGTH**2
            by_x.append(-np.einsum("ij,ijd->id", weights, apart))
            by_y += np.einsum("ij,ijd->jd", weights, apart)
            by_b += kernel.sum(0)
        if self.face == "gradient":
            return [np.concatenate(by_x), by_y, by_b]
        return [np.concatenate(sums)]


def _apart(found: Any, exact: Array) -> Any:
    return np.abs(np.asarray(found) - exact).max() / np.abs(exact).max()


def call_of(problem: JaxProblem, function: Function) -> Callable[[], Any]:
    """The call of a jitted function by a face, made once before."""
    import jax

    def total(x: Any, y: Any, b: Any) -> Any:
        return function(x, y, b).sum()

    is_sum = problem.face == "call"
    jitted = jax.jit(function if is_sum else jax.grad(total, (0, 1, 2)))
    x, y, b = map(jax.numpy.asarray, problem.arrays)

    def call() -> Any:
        return jax.block_until_ready(jitted(x, y, b))

    call()
    return call


def dense(x: Any, y: Any, b: Any) -> Any:
    """The sum as one writes it."""
    from jax import numpy as jnp

    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
    return jnp.exp(squares * (-1 / (2 * LENGTH**2))) @ b


def in_blocks(x: Any, y: Any, b: Any) -> Any:
    """The same, some rows at a time, computed again for the gradient."""
    import jax

    def row(point: Any) -> Any:
        return dense(point[None], y, b)[0]

    return jax.lax.map(jax.checkpoint(row), x, batch_size=ROWS)
