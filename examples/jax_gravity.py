# examples/jax_gravity.py - what moved the stars: a simulation, fitted.
"""Finds the mass of stars and how soft their gravity is from where they went.

    a_i = Σ_j G (x_j - x_i) / (|x_j - x_i|² + ε²)^{3/2}

The stars are moved by leapfrog in a `jax.lax.scan` (Hockney and Eastwood 1988,
§ 4.4), and log G and log ε are found by Gauss and Newton's method, with the
derivative of the whole simulation by `jax.jacfwd`. Each force is one formula,
and no step stores a matrix of pairs: the second table says what a program keeps
for the gradient of the misfit, and what it keeps with the pairs in jax.numpy.

Usage: python examples/jax_gravity.py
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import tilefold.jax

if TYPE_CHECKING:
    from collections.abc import Callable

FORCE = tilefold.compile("sum_j G*(x_j - x_i)*rsqrt(|x_j - x_i|² + e²)^3")
STEPS, STEP = 40, 0.02
TRUE = np.log([0.02, 0.3])  # of G and ε


def force(x: Any, G: Any, e: Any) -> Any:
    """The acceleration of each star, (N, 3)."""
    return FORCE(x=x, G=G, e=e)


def dense_force(x: Any, G: Any, e: Any) -> Any:
    """The same with all pairs in memory."""
    apart = x[None, :] - x[:, None]
    weights = ((apart**2).sum(-1) + e**2) ** -1.5
    return G * jnp.einsum("ij,ijd->id", weights, apart)


def simulate(θ: Any, x: Any, v: Any, force: Callable[..., Any] = force) -> Any:
    """Where stars are after all steps; θ holds log G and log ε."""
    G, e = jnp.exp(θ)

    def step(state: Any, _: Any) -> Any:
        x, v = state
        v = v + STEP / 2 * force(x, G, e)
        x = x + STEP * v
        return (x, v + STEP / 2 * force(x, G, e)), None

    return jax.lax.scan(step, (x, v), None, STEPS)[0][0]


def misfit(θ: Any, x: Any, v: Any, seen: Any, **how: Any) -> Any:
    """Half the mean square of how far stars are from where they were seen."""
    return ((simulate(θ, x, v, **how) - seen) ** 2).mean() / 2


def stars(count: int) -> tuple[Any, Any]:
    """Positions and velocities, (N, 3) each."""
    random = np.random.default_rng(5)
    x, v = random.standard_normal((2, count, 3))
    return jnp.asarray(x), jnp.asarray(0.3 * v)


def fit(θ: Any, x: Any, v: Any, seen: Any, steps: int = 5) -> list[Any]:
    """The iterates, from θ on."""

    @jax.jit
    def improved(θ: Any) -> Any:
        def apart(θ: Any) -> Any:
            return (simulate(θ, x, v) - seen).ravel()

        step, *_ = jnp.linalg.lstsq(jax.jacfwd(apart)(θ), apart(θ))
        return θ - step

    found = [θ]
    for _ in range(steps):
        found.append(improved(found[-1]))
    return found


def kept(count: int, force: Callable[..., Any]) -> float:
    """MiB that a program keeps beyond its arrays for the gradient."""
    x, v = stars(count)
    gradient = jax.grad(partial(misfit, force=force))
    program = jax.jit(gradient).lower(TRUE, x, v, x).compile()
    memory: Any = program.memory_analysis()
    return float(memory.temp_size_in_bytes / 2**20)


def main() -> None:
    """Fits 300 stars, and prints what 500 would take."""
    jax.config.update("jax_enable_x64", True)
    x, v = stars(300)
    seen = simulate(TRUE, x, v)
    print("       G        ε     misfit")
    for θ in fit(jnp.log(jnp.array([0.015, 0.4])), x, v, seen):
        G, e = np.exp(θ)
        print(f"{G:8.5f} {e:8.5f}   {misfit(θ, x, v, seen):.2e}")
    print("stars   kept by a formula   with pairs (MiB)")
    for count in (250, 500):
        sizes = [kept(count, each) for each in (force, dense_force)]
        print(f"{count:5} {sizes[0]:19.2f} {sizes[1]:12.1f}")


if __name__ == "__main__":
    main()
