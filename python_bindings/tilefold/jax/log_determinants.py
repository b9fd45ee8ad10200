# python_bindings/tilefold/jax/log_determinants.py - log-determinants, traced.
"""`estimated`: log det(K + ridge·I) under JAX's transformations.

S. Ubaru, J. Chen and Y. Saad, Fast estimation of tr(f(A)) via stochastic
Lanczos quadrature, 2017, as in runtime/solve/log_determinant.cpp; with probes
of the covariance of a preconditioner P by rows that are spread evenly. The
derivative is that of the truth, estimated by the same probes:
tr(A⁻¹ dA) is the mean of (A⁻¹ z)ᵀ dA (P⁻¹ z), to any order.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilefold import _core
from tilefold.solve import LogdetInfo, require_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilefold.kernel_matrix import Kernel

    Solve = Callable[..., tuple[Any, Any, Any]]

__all__ = ["estimated"]

_USUAL_RANK = 100
_STAGES = (20, 60)  # steps after which the quadrature is looked at
_MOST_STEPS = 200
_SMALL_PART = 0.1  # of the probes' error that the quadrature may leave

_CHOICES = ("auto", "nystrom", None, "none")


def estimated(
    kernel: Kernel, ridge: Any, options: dict[str, Any], solve: Solve
) -> tuple[Any, LogdetInfo]:
    """The estimate, and how it went; `solve` is that of solves.py."""
    _check(options)
    leaves, tree = jax.tree.flatten(kernel)
    dtype = jnp.zeros((), kernel._pair.library_dtype()).real.dtype
    probes = options["probes"]
    most = min(options["maxiter"] or _MOST_STEPS, kernel.shape[-1])

    def times(leaves: Any, ridge: Any, vectors: Any) -> Any:
        kernel = jax.tree.unflatten(tree, leaves)
        return (kernel @ vectors).astype(dtype) + ridge * vectors

    def begun(leaves: Any, ridge: Any) -> tuple[Any, Any, Any]:
        kernel = jax.tree.unflatten(tree, leaves)
        p = _Preconditioner.of(kernel, ridge, _rank(kernel, options), dtype)
        key = jax.random.key(options["seed"])
        return p, *_probes(key, p, (kernel.shape[-1], probes))

    @jax.custom_jvp
    def value(leaves: Any, ridge: Any) -> tuple[Any, Any, Any]:
        p, z, w = begun(leaves, ridge)
        product = functools.partial(times, leaves, ridge)
        return _quadrature(product, p, (z, w), ridge, most)

    @value.defjvp
    def _moved(primals: Any, tangents: Any) -> tuple[Any, Any]:
        found = value(*primals)
        _, z, w = begun(*lax.stop_gradient(primals))
        u = solve(jax.tree.unflatten(tree, primals[0]), z, primals[1], _SOLVING)
        _, along = jax.jvp(
            lambda leaves, ridge: times(leaves, ridge, w), primals, tangents
        )
        tangent = ((u[0] * along).sum() / probes).astype(dtype)
        steps = np.zeros((), jax.dtypes.float0)
        return found, (tangent, jnp.zeros((), dtype), steps)

    result, error, steps = value(leaves, jnp.asarray(ridge, dtype))
    error = lax.stop_gradient(error)
    return result, LogdetInfo(error, probes, steps, _rank(kernel, options))


_SOLVING = {
    "rtol": 1e-6,
    "maxiter": None,
    "preconditioner": "auto",
    "method": "cg",
    "rank": None,
}


def _rank(kernel: Kernel, options: dict[str, Any]) -> int:
    """Rows of the preconditioner; 0 where there is none."""
    if options["preconditioner"] in (None, "none"):
        return 0
    return min(_USUAL_RANK, kernel.shape[-1])


def _check(options: dict[str, Any]) -> None:
    """Refuses settings that are none when the call is traced."""
    if options["preconditioner"] not in _CHOICES:
        _core.fail(
            "BadOption",
            "preconditioner",
            f"{options['preconditioner']!r} in a function that JAX traces",
            "pass 'nystrom', or call it outside",
        )
    require_counts(options, probes=2, maxiter=1)


class _Preconditioner(NamedTuple):
    """P = L Lᵀ + shift·I; `halved` is L (shift + Lᵀ L)^-½."""

    factor: Any
    halved: Any
    shift: Any
    logdet: Any

    @classmethod
    def of(
        cls, kernel: Kernel, ridge: Any, rank: int, dtype: Any
    ) -> _Preconditioner:
        """That of rows spread evenly; of rank 0, P is 1."""
        points = kernel.shape[-1]
        if rank == 0:
            empty = jnp.zeros((points, 0), dtype)
            return cls(empty, empty, jnp.ones((), dtype), jnp.zeros((), dtype))
        rows = np.arange(rank) * points // rank
        columns = kernel[:, rows].dense().astype(dtype)
        core = columns[rows]
        values, vectors = jnp.linalg.eigh((core + core.T) / 2)
        noise = 4 * rank * np.finfo(dtype).eps * jnp.abs(values).max()
        kept = values > noise
        scale = jnp.where(kept, lax.rsqrt(jnp.where(kept, values, 1)), 0)
        factor = columns @ (vectors * scale)
        squares = (factor**2).sum()
        left = jnp.maximum(kernel.diag().astype(dtype).sum() - squares, 0)
        least = 4 * np.finfo(dtype).eps
        shift = jnp.where(ridge > 0, ridge, left / points)
        shift = jnp.maximum(shift, least * squares)
        gram = factor.T @ factor + shift * jnp.eye(rank, dtype=dtype)
        inner = jnp.linalg.cholesky(gram)
        logs = 2 * jnp.log(jnp.diagonal(inner)).sum()
        halved = jax.scipy.linalg.solve_triangular(
            inner, factor.T, lower=True
        ).T
        logdet = logs + (points - rank) * jnp.log(shift)
        return cls(factor, halved, shift, logdet)

    def inverse(self, vectors: Any) -> Any:
        """P⁻¹ vectors, by Woodbury's identity."""
        if self.factor.shape[1] == 0:
            return vectors
        inner = self.halved.T @ vectors
        return (vectors - self.halved @ inner) / self.shift


def _probes(
    key: Any, p: _Preconditioner, shape: tuple[int, int]
) -> tuple[Any, Any]:
    """Random z of covariance P, and P⁻¹ z; of signs where P is 1."""
    rank, dtype = p.factor.shape[1], p.factor.dtype
    if rank == 0:
        z = jax.random.rademacher(key, shape, dtype)
        return z, z
    first, second = jax.random.split(key)
    inner = jax.random.normal(first, (rank, shape[1]), dtype)
    z = jnp.sqrt(p.shift) * jax.random.normal(second, shape, dtype)
    z = z + p.factor @ inner
    return z, p.inverse(z)


class _Lanczos(NamedTuple):
    """`w` is P⁻¹ v; `diagonal` and `beside` hold T of each probe.

    Rows that are not there yet are those of the identity.
    """

    v: Any
    w: Any
    before: Any
    beta: Any
    diagonal: Any
    beside: Any

    def step(
        self, times: Callable[[Any], Any], p: _Preconditioner, k: Any
    ) -> _Lanczos:
        """Row k of each T."""
        lives = self.beta > 0
        scale = jnp.where(lives, 1 / jnp.where(lives, self.beta, 1), 0)
        v, w = self.v * scale, self.w * scale
        beta = jnp.where(k > 0, self.beta, 0)
        u = times(w) - self.before * beta
        alpha = (w * u).sum(0)
        u = u - v * alpha
        inner = p.inverse(u)
        squares = (u * inner).sum(0)
        diagonal = self.diagonal.at[k].set(jnp.where(lives, alpha, 1))
        noise = np.finfo(u.dtype).eps * jnp.abs(diagonal).max()
        lives = lives & ~(squares <= noise**2)
        beta_next = jnp.where(lives, jnp.sqrt(jnp.where(lives, squares, 1)), 0)
        beside = self.beside.at[k].set(beta)
        return _Lanczos(u, inner, v, beta_next, diagonal, beside)


def _quadrature(
    times: Callable[[Any], Any],
    p: _Preconditioner,
    probes: tuple[Any, Any],
    ridge: Any,
    most: int,
) -> tuple[Any, Any, Any]:
    """The value, its error and the steps, in as few stages as suffice.

    NaN where the matrix is not symmetric: what is found is of no matrix then.
    """
    z, w = probes
    is_symmetric = _is_symmetric(times, z)
    least = (1 - 4 * np.finfo(z.dtype).eps) * ridge / p.shift

    def stage(
        state: _Lanczos, begin: int, end: int
    ) -> tuple[_Lanczos, tuple[Any, ...]]:
        state = lax.fori_loop(
            begin, end, lambda k, state: state.step(times, p, k), state
        )
        return state, (*_looked(state, p, end, least), jnp.asarray(end))

    ends = [*(n for n in _STAGES if n < most), most]
    zeros = jnp.zeros((most, z.shape[1]), z.dtype)
    beta = jnp.sqrt((z * w).sum(0))
    state = _Lanczos(z, w, jnp.zeros_like(z), beta, zeros + 1, zeros)
    state, found = stage(state, 0, ends[0])
    for begin, end in itertools.pairwise(ends):
        state, found = lax.cond(
            found[2],
            lambda state, found: (state, found),
            lambda state, _, b=begin, e=end: stage(state, b, e),
            state,
            found,
        )
    value, error, _, steps = found
    return jnp.where(is_symmetric, value, jnp.nan), error, steps


def _is_symmetric(times: Callable[[Any], Any], like: Any) -> Any:
    """Whether v·(A w) is w·(A v) of random v and w, but for roundings."""
    key = jax.random.key(0)
    vectors = jax.random.normal(key, (len(like), 2), like.dtype)
    images = times(vectors)
    sides = (vectors * images[:, ::-1]).sum(0)
    lengths = [jnp.sqrt((each**2).sum(0)) for each in (vectors, images)]
    size = (lengths[0] * lengths[1][::-1]).sum()
    tolerance = max(1e-8, 1e3 * float(np.finfo(like.dtype).eps))
    return ~(jnp.abs(sides[0] - sides[1]) > tolerance * size)


def _looked(
    state: _Lanczos, p: _Preconditioner, steps: int, least: Any
) -> tuple[Any, Any, Any]:
    """The value and its error by now, and whether that is enough.

    `least` is a lower bound of all eigenvalues, or 0.
    """
    points, probes = state.v.shape
    gauss = points * _logs(state.diagonal[:steps], state.beside[:steps])
    wider = _with_node(state, steps, least)
    gap = jnp.where(state.beta > 0, gauss - points * _logs(*wider), 0)
    bounded = jnp.isfinite(gap).all() & (least > 0)
    middle = jnp.where(bounded, gauss - gap / 2, gauss)
    spread = middle.std(ddof=1) / np.sqrt(probes)
    moved = jnp.where(bounded, jnp.abs(gap.mean()) / 2, 0)
    is_small = bounded & (moved <= _SMALL_PART * spread)
    ended = (state.beta == 0).all() | jnp.isnan(middle).any()
    error = jnp.hypot(spread, moved)
    return middle.mean() + p.logdet, error, is_small | ended


def _logs(diagonal: Any, beside: Any) -> Any:
    """e₁ᵀ log(T) e₁ of each probe; NaN where T is not positive definite."""
    size = len(diagonal)
    rows = jnp.arange(size)
    matrices = jnp.zeros((diagonal.shape[1], size, size), diagonal.dtype)
    matrices = matrices.at[:, rows, rows].set(diagonal.T)
    matrices = matrices.at[:, rows[1:], rows[:-1]].set(beside[1:].T)
    matrices = matrices.at[:, rows[:-1], rows[1:]].set(beside[1:].T)
    values, vectors = jnp.linalg.eigh(matrices)
    above = values > 0
    logs = jnp.where(above, jnp.log(jnp.where(above, values, 1)), jnp.nan)
    return (logs * vectors[:, 0] ** 2).sum(1)


def _with_node(state: _Lanczos, steps: int, node: Any) -> tuple[Any, Any]:
    """T with an eigenvalue at a node below all others."""

    def below(pivot: Any, row: tuple[Any, Any]) -> tuple[Any, None]:
        diagonal, beside = row
        found = diagonal - node - beside**2 / pivot
        return jnp.where(pivot > 0, found, jnp.nan), None

    first = state.diagonal[0] - node
    rows = (state.diagonal[1:steps], state.beside[1:steps])
    pivot, _ = lax.scan(below, first, rows)
    last = jnp.where(pivot > 0, node + state.beta**2 / pivot, jnp.nan)
    return (
        jnp.concatenate([state.diagonal[:steps], last[None]]),
        jnp.concatenate([state.beside[:steps], state.beta[None]]),
    )
