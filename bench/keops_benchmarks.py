# bench/keops_benchmarks.py - what KeOps's own benchmarks compute.
"""As bench/keops_programs.py: `compute(k, *data)` takes the module
`pykeops.numpy` or `pykeops.torch`, and `exact(*data)` computes the same
densely, of float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg

from bench.keops_programs import lazy_distances, squared_distances


def gauss(k: Any, x: Any, y: Any, b: Any) -> Any:
    return (-lazy_distances(k, x, y)).exp() @ b


def gauss_exact(x: Any, y: Any, b: Any) -> Any:
    return (-squared_distances(x, y)).exp() @ b


def gradient(k: Any, x: Any, y: Any, b: Any) -> Any:
    x.requires_grad_()
    return torch.autograd.grad(gauss(k, x, y, b).sum(), [x])


def gradient_exact(x: Any, y: Any, b: Any) -> Any:
    x.requires_grad_()
    return torch.autograd.grad(gauss_exact(x, y, b).sum(), [x])


def high_dimension_exact(x: Any, y: Any, b: Any) -> Any:
    # By products: an array of all differences would take 20 GB.
    squares = (x * x).sum(-1)[:, None] + (y * y).sum(-1) - 2 * (x @ y.T)
    return (-squares).exp() @ b


def high_dimension(k: Any, x: Any, y: Any, b: Any) -> Any:
    size = x.shape[-1]
    aliases = [f"X = Vi({size})", f"Y = Vj({size})", "B = Vj(1)"]
    product = k.generic_sum("Exp(X|Y) * B", "A = Vi(1)", *aliases)
    by_x = (-(x * x).sum(-1)).exp()[..., None]
    by_y = (-(y * y).sum(-1)).exp()[..., None]
    return by_x * product(2 * x, y, b * by_y)


def _radial(k: Any, x: Any, y: Any, radius: Any) -> list[Any]:
    """Gauss, Laplace, Cauchy and inverse multiquadric kernels."""
    squares = k.Pm(1 / radius**2) * k.Vi(x).sqdist(k.Vj(y))
    return [
        (-squares).exp(),
        (-squares.sqrt()).exp(),
        (1 + squares).power(-1),
        (1 + squares).sqrt().power(-1),
    ]


_RADIAL = (
    lambda squares: (-squares).exp(),
    lambda squares: (-squares.sqrt()).exp(),
    lambda squares: 1 / (1 + squares),
    lambda squares: (1 + squares).rsqrt(),
)


def radial(k: Any, x: Any, y: Any, b: Any, radius: Any) -> Any:
    return [kernel @ b for kernel in _radial(k, x, y, radius)]


def radial_exact(x: Any, y: Any, b: Any, radius: Any) -> Any:
    return [
        torch.cat(
            [
                kernel(squared_distances(rows, y) / radius**2) @ b
                for rows in x.split(1000)
            ]
        )
        for kernel in _RADIAL
    ]


def radial_gradients(
    k: Any, x: Any, y: Any, b: Any, radius: Any, a: Any
) -> Any:
    x.requires_grad_()
    return [
        torch.autograd.grad((a * (kernel @ b)).sum(), [x])[0]
        for kernel in _radial(k, x, y, radius)
    ]


def radial_gradients_exact(x: Any, y: Any, b: Any, radius: Any, a: Any) -> Any:
    def gradient(kernel: Any, rows: Any, given: Any) -> Any:
        rows = rows.clone().requires_grad_()
        product = kernel(squared_distances(rows, y) / radius**2) @ b
        return torch.autograd.grad((given * product).sum(), [rows])[0]

    parts = list(zip(x.split(1000), a.split(1000), strict=True))
    return [
        torch.cat([gradient(kernel, *part) for part in parts])
        for kernel in _RADIAL
    ]


def clouds(k: Any, x: Any, y: Any, b: Any) -> Any:
    """Gaussian products of several clouds at once."""
    x_i, y_j = k.LazyTensor(x[:, :, None]), k.LazyTensor(y[:, None])
    kernel = (-((x_i - y_j) ** 2).sum(-1)).exp()
    return (kernel * k.LazyTensor(b[:, None])).sum(dim=2)


def accumulated(k: Any, x: Any, y: Any, b: Any) -> Any:
    """One sum by each way to accumulate it."""
    terms = lazy_distances(k, x, y) * k.LazyTensor(b[None])
    return [
        terms.sum(dim=1, dtype_acc=dtype, sum_scheme=scheme)
        for dtype, scheme in (
            ("float32", "direct_sum"),
            ("float32", "block_sum"),
            ("float32", "kahan_scheme"),
            ("float64", "direct_sum"),
        )
    ]


def accumulated_exact(x: Any, y: Any, b: Any) -> Any:
    return [squared_distances(x, y) @ b] * 4


_GAMMA, _RIDGE = 1 / (2 * 0.1**2), 0.8


def _inverse(k: Any) -> Any:
    aliases = ["x = Vi(3)", "y = Vj(3)", "a = Vj(1)", "g = Pm(1)"]
    return k.KernelSolve("Exp(- g * SqDist(x,y)) * a", aliases, "a", axis=1)


def inverse(k: Any, x: Any, b: Any) -> Any:
    gamma = torch.full((1,), _GAMMA, dtype=x.dtype)
    return _inverse(k)(x, x, b, gamma, alpha=torch.full_like(gamma, _RIDGE))


def inverse_exact(x: Any, b: Any) -> Any:
    system = (-_GAMMA * squared_distances(x, x)).exp() + _RIDGE * torch.eye(
        len(x)
    )
    return torch.linalg.solve(system, b)


def inverse_scipy(k: Any, x: Any, b: Any) -> Any:
    """The same system by KernelSolve, and by SciPy."""
    gamma = np.full(1, _GAMMA, x.dtype)
    scaled = gamma**0.5 * x
    kernel = aslinearoperator((-lazy_distances(k, scaled, scaled)).exp())
    system = LinearOperator(
        kernel.shape,
        lambda a: kernel.matvec(a.ravel()) + x.dtype.type(_RIDGE) * a.ravel(),
        dtype=x.dtype,
    )
    solution = _inverse(k)(x, x, b, gamma, alpha=_RIDGE)
    return solution, cg(system, b[:, 0])[0]


def inverse_scipy_exact(x: Any, b: Any) -> Any:
    return (inverse_exact(x, b),) * 2


def metrics(k: Any, queries: Any, points: Any) -> Any:
    """Nearest points by four distances, of symbolic variables."""
    size = points.shape[1]
    x, y = k.Vi(0, size), k.Vj(1, size)
    squares = ((x - y) ** 2).sum(-1)
    distances = (
        squares,
        (x - y).abs().sum(-1),
        -(x | y),
        squares / (x[0] * y[0]),
    )
    return [each.argKmin(10, dim=1)(queries, points) for each in distances]


def metrics_exact(queries: Any, points: Any) -> Any:
    def nearest(distances: Any) -> Any:
        return distances.topk(10, largest=False)[1]

    found = []
    for x in queries.split(1000):
        squares = squared_distances(x, points)
        halves = x[:, :1] * points[:, 0]
        apart = torch.cdist(x, points, p=1)
        each = squares, apart, -(x @ points.T), squares / halves
        found.append([nearest(one) for one in each])
    return [torch.cat(parts) for parts in zip(*found, strict=True)]


def sinkhorn(k: Any, x: Any, y: Any) -> Any:
    """The dual potentials of two clouds after ten steps, in logarithms."""
    blur = 0.05
    size = (len(x), len(y))
    costs = lazy_distances(k, x, y) / 2
    f, g = x.new_zeros(size[0], 1), x.new_zeros(size[1], 1)
    for _ in range(10):
        g_j = k.LazyTensor(g[None] / blur - np.log(size[1]))
        f = -blur * (g_j - costs / blur).logsumexp(dim=1).reshape(-1, 1)
        f_i = k.LazyTensor(f[:, None] / blur - np.log(size[0]))
        g = -blur * (f_i - costs / blur).logsumexp(dim=0).reshape(-1, 1)
    return f, g


def sinkhorn_exact(x: Any, y: Any) -> Any:
    blur = 0.05
    costs = squared_distances(x, y) / (2 * blur)
    f, g = x.new_zeros(len(x), 1), x.new_zeros(len(y), 1)
    for _ in range(10):
        scores = g.T / blur - np.log(len(y)) - costs
        f = -blur * scores.logsumexp(1, keepdim=True)
        scores = f / blur - np.log(len(x)) - costs
        g = -blur * scores.logsumexp(0)[:, None]
    return f, g
