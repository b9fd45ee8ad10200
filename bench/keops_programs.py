# bench/keops_programs.py - what KeOps's tutorials and examples compute.
"""Each program once, for `pykeops` and for `tilefold.compat.pykeops`.

`compute(k, *data)` takes the module `pykeops.numpy` or `pykeops.torch` and
gives the results; `exact(*data)` computes them densely, of float64. The data
are the tutorials' own kind, drawn from one seed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.sparse.linalg import aslinearoperator, eigsh

if TYPE_CHECKING:
    from collections.abc import Callable


def normal(*shapes: tuple[int, ...]) -> Callable[..., Any]:
    def make(random: Any, few: bool) -> tuple[Any, ...]:
        return tuple(random.normal(size=_cut(each, few)) for each in shapes)

    return make


def uniform(*shapes: tuple[int, ...]) -> Callable[..., Any]:
    def make(random: Any, few: bool) -> tuple[Any, ...]:
        return tuple(random.random(_cut(each, few)) for each in shapes)

    return make


def _cut(shape: tuple[int, ...], few: bool) -> tuple[int, ...]:
    return tuple(n // 20 if few and n >= 500 else n for n in shape)


def squared_distances(x: Any, y: Any) -> Any:
    return ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)


def lazy_distances(k: Any, x: Any, y: Any) -> Any:
    """|x_i − y_j|² as the tutorials write it."""
    x_i, y_j = k.LazyTensor(x[:, None, :]), k.LazyTensor(y[None, :, :])
    return ((x_i - y_j) ** 2).sum(-1)


# tutorials/a_LazyTensors


def nearest(k: Any, x: Any, y: Any) -> Any:
    return lazy_distances(k, x, y).argmin(dim=1).ravel()


def nearest_exact(x: Any, y: Any) -> Any:
    return squared_distances(x, y).argmin(1)


def laplacian(k: Any, x: Any, y: Any, b: Any) -> Any:
    x.requires_grad_()
    product = (-lazy_distances(k, x, y).sqrt()).exp() @ b
    return _two_gradients(product, x)


def laplacian_exact(x: Any, y: Any, b: Any) -> Any:
    x.requires_grad_()
    return _two_gradients((-squared_distances(x, y).sqrt()).exp() @ b, x)


def _two_gradients(product: Any, x: Any) -> Any:
    options = {"create_graph": True}
    [first] = torch.autograd.grad((product**2).sum(), [x], **options)
    # The tutorial's exp of gradients overflows where points are many.
    [second] = torch.autograd.grad(first.sin().sum(), [x])
    return product, first, second


def batches(k: Any, x: Any, scale: Any, y: Any, s: Any) -> Any:
    x_i, l_i = k.LazyTensor(x), k.LazyTensor(scale)
    y_j, factor = k.LazyTensor(y), k.LazyTensor(s)
    squares = ((l_i * x_i - y_j) ** 2).sum(-1)
    return (-1.6 * squares / (1 + factor**2)).sum(dim=3)


def batches_exact(x: Any, scale: Any, y: Any, s: Any) -> Any:
    squares = ((scale * x - y) ** 2).sum(-1, keepdim=True)
    return (-1.6 * squares / (1 + s**2)).sum(dim=3)


def reductions(k: Any, x: Any, y: Any) -> Any:
    x_i, y_j = k.LazyTensor(x[:, None, :]), k.LazyTensor(y[None, :, :])
    apart = x_i - y_j
    squares = (apart**2).sum(-1)
    return [
        squares.sum(dim=1),
        apart.sum(axis=0),
        squares.logsumexp(dim=0),
        squares.logsumexp(dim=1, weight=apart**2),
        squares.min(dim=0),
        squares.argmin(dim=1),
        apart.max(dim=0),
        apart.argmax(dim=1),
        *squares.min_argmin(dim=0),
        *apart.max_argmax(dim=1),
        squares.Kmin(K=5, dim=0),
        apart.Kmin(K=7, dim=0),
        squares.sumsoftmaxweight(apart, dim=1),
    ]


def reductions_exact(x: Any, y: Any) -> Any:
    apart = x[:, None] - y[None]
    squares = (apart**2).sum(-1)
    soft = torch.softmax(squares, dim=1)
    weighted = squares[..., None] + (apart**2).log()
    return [
        squares.sum(1),
        apart.sum(0),
        squares.logsumexp(0),
        weighted.logsumexp(1),
        squares.amin(0),
        squares.argmin(1),
        apart.amax(0),
        apart.argmax(1),
        squares.amin(0),
        squares.argmin(0),
        apart.amax(1),
        apart.argmax(1),
        squares.sort(0).values[:5].T,
        apart.sort(0).values[:7].permute(1, 0, 2),
        torch.einsum("ij,ijd->id", soft, apart),
    ]


def ridge(k: Any, x: Any, b: Any) -> Any:
    x.requires_grad_()
    solution = (-lazy_distances(k, x, x)).exp().solve(b, alpha=0.1)
    return solution, *torch.autograd.grad((solution**2).sum(), [x])


def ridge_exact(x: Any, b: Any) -> Any:
    x.requires_grad_()
    system = (-squared_distances(x, x)).exp() + 0.1 * torch.eye(len(x))
    solution = torch.linalg.solve(system, b)
    return solution, *torch.autograd.grad((solution**2).sum(), [x])


def helpers(k: Any, x: Any, y: Any, b: Any, sigmas: Any) -> Any:
    lazy = k.LazyTensor
    x_i, y_j, b_j = k.Vi(x), k.Vj(y), k.Vj(b)
    squares = lazy.sum((x_i - y_j) ** 2)
    kernel = lazy.exp(-squares / sigmas**2).sum()
    symbols = lazy.sum((k.Vi(0, 3) - k.Vj(1, 3)) ** 2)
    several = lazy.exp(-symbols / k.Pm(3, 4) ** 2).sum() * k.Vj(2, 4)
    return (
        (kernel * b_j).sum_reduction(axis=1),
        several.sum_reduction(axis=1)(x, y, b, sigmas),
        (abs(x_i | y_j) ** 1.5).sumsoftmaxweight(x_i, axis=1),
        (x_i[:2] * y_j[1:] - x_i[1:] * y_j[:2]).sqnorm2().sum(axis=1),
    )


def helpers_exact(x: Any, y: Any, b: Any, sigmas: Any) -> Any:
    squares = squared_distances(x, y)[..., None]
    product = torch.exp(-squares / sigmas**2).sum(-1) @ b
    soft = torch.softmax((x @ y.T).abs() ** 1.5, dim=1).sum(1, keepdim=True)
    x_i, y_j = x[:, None], y[None]
    crossed = x_i[..., :2] * y_j[..., 1:] - x_i[..., 1:] * y_j[..., :2]
    return product, product, soft * x, (crossed**2).sum((-1, -2))


# tutorials/kmeans, knn, interpolation, gaussian_mixture, backends


def kmeans(k: Any, x: Any) -> Any:
    centres = x[:50].copy()
    for _ in range(10):
        labels = lazy_distances(k, x, centres).argmin(dim=1).astype(int).ravel()
        counts = np.bincount(labels, minlength=50).astype(x.dtype)
        for axis in range(x.shape[1]):
            sums = np.bincount(labels, weights=x[:, axis], minlength=50)
            centres[:, axis] = sums / counts
    return centres


def kmeans_exact(x: Any) -> Any:
    centres = x[:50].clone()
    for _ in range(10):
        chosen = torch.nn.functional.one_hot(
            squared_distances(x, centres).argmin(1)
        )
        chosen = chosen.double()
        centres = chosen.T @ x / chosen.sum(0)[:, None]
    return centres


def classes(k: Any, grid: Any, x: Any) -> Any:
    squares = lazy_distances(k, grid, x)
    return [squares.argKmin(count, dim=1) for count in (1, 3, 10, 20, 50)]


def classes_exact(grid: Any, x: Any) -> Any:
    order = squared_distances(grid, x).topk(50, largest=False)[1]
    return [order[:, :count] for count in (1, 3, 10, 20, 50)]


def kriging(k: Any, x: Any, b: Any, t: Any) -> Any:
    inner = (-lazy_distances(k, x, x).sqrt() / 0.1).exp()
    outer = (-lazy_distances(k, t, x).sqrt() / 0.1).exp()
    return outer @ inner.solve(b, alpha=10)


def kriging_exact(x: Any, b: Any, t: Any) -> Any:
    system = (-squared_distances(x, x).sqrt() / 0.1).exp() + 10 * torch.eye(
        len(x)
    )
    outer = (-squared_distances(t, x).sqrt() / 0.1).exp()
    return outer @ torch.linalg.solve(system, b)


def mixture(k: Any, x: Any, means: Any, roots: Any, w: Any) -> Any:
    for each in (means, roots, w):
        each.requires_grad_()
    gamma = _precisions(roots)
    distances = k.Vi(x).weightedsqdist(k.Vj(means), k.Vj(gamma))
    likelihood = (-distances).logsumexp(dim=1, weight=k.Vj(w.exp()))
    return _mixture_gradients(likelihood, means, roots, w)


def mixture_exact(x: Any, means: Any, roots: Any, w: Any) -> Any:
    for each in (means, roots, w):
        each.requires_grad_()
    apart = x[:, None] - means[None]
    matrices = _precisions(roots).reshape(-1, 2, 2)
    distances = torch.einsum("ijk,jkl,ijl->ij", apart, matrices, apart)
    likelihood = (w.reshape(1, -1) - distances).logsumexp(1)
    return _mixture_gradients(likelihood, means, roots, w)


def _precisions(roots: Any) -> Any:
    return (roots @ roots.transpose(1, 2)).reshape(-1, 4) / 2


def _mixture_gradients(likelihood: Any, *parameters: Any) -> Any:
    mean = likelihood.mean()
    return mean, *torch.autograd.grad(mean, parameters)


def ring(random: Any, few: bool) -> tuple[Any, ...]:
    t = np.linspace(0, 2 * np.pi, 200 if few else 1000, endpoint=False)
    x = np.stack([0.4 + 0.06 * t * np.cos(t), 0.5 + 0.3 * np.sin(t)], axis=1)
    return ((x + 0.01 * random.normal(size=x.shape)) / 0.05,)


def spectrum(k: Any, x: Any) -> Any:
    kernel = (-lazy_distances(k, x, x) / 2).exp()
    start = np.ones(len(x), dtype=x.dtype)
    return eigsh(aslinearoperator(kernel), k=5, v0=start)[0]


def spectrum_exact(x: Any) -> Any:
    return torch.linalg.eigvalsh((-squared_distances(x, x) / 2).exp())[-5:]


# tutorials/surface_registration


def _flow(product: Callable[..., Any], q: Any, p: Any) -> Any:
    """Geodesic shooting of points by Ralston's rule, and a gradient of it."""
    p.requires_grad_()
    q.requires_grad_()

    def slopes(momenta: Any, points: Any) -> tuple[Any, Any]:
        energy = 0.5 * (momenta * product(points, points, momenta)).sum()
        by_p, by_q = torch.autograd.grad(
            energy, (momenta, points), create_graph=True
        )
        return -by_q, by_p

    state = (p, q)
    step = 0.25
    for _ in range(4):
        first = slopes(*state)
        inner = [
            s + (2 * step / 3) * d for s, d in zip(state, first, strict=True)
        ]
        second = slopes(*inner)
        state = tuple(
            s + (step / 4) * (d + 3 * e)
            for s, d, e in zip(state, first, second, strict=True)
        )
    return state[1], *torch.autograd.grad((state[1] ** 2).sum(), [p])


def shooting(k: Any, q: Any, p: Any) -> Any:
    x, y, b = k.Vi(0, 3), k.Vj(1, 3), k.Vj(2, 3)
    kernel = (-x.sqdist(y) * 0.5).exp()
    return _flow((kernel * b).sum_reduction(axis=1), q, p)


def shooting_exact(q: Any, p: Any) -> Any:
    return _flow(
        lambda x, y, b: (-squared_distances(x, y) * 0.5).exp() @ b, q, p
    )


# examples


def formula(k: Any, p: Any, x: Any, y: Any) -> Any:
    text = "Square((X|Y)) * ((Elem(P, 0) * X) + (Elem(P, 1) * Y))"
    return k.Genred(text, ["P = Pm(2)", "X = Vi(3)", "Y = Vj(3)"], axis=1)(
        p, x, y
    )


def formula_exact(p: Any, x: Any, y: Any) -> Any:
    scores = (x @ y.T) ** 2
    return p[0] * scores.sum(1, keepdim=True) * x + p[1] * scores @ y


def anisotropic(k: Any, x: Any, y: Any, b: Any, weights: Any) -> Any:
    one, diagonal = weights[0, :1] ** 2, weights[:, :2] ** 2
    full = weights[:, [0, 1, 1, 3]] ** 2
    return [
        (-k.Vi(x).weightedsqdist(k.Vj(y), each)).exp() @ b
        for each in (k.Pm(one), k.Vj(diagonal), k.Vj(full))
    ]


def anisotropic_exact(x: Any, y: Any, b: Any, weights: Any) -> Any:
    apart = x[:, None] - y[None]
    diagonal, full = weights[:, :2] ** 2, weights[:, [0, 1, 1, 3]] ** 2
    distances = [
        weights[0, 0] ** 2 * (apart**2).sum(-1),
        (diagonal * apart**2).sum(-1),
        torch.einsum("ijk,jkl,ijl->ij", apart, full.reshape(-1, 2, 2), apart),
    ]
    return [(-each).exp() @ b for each in distances]


def vector_weights(k: Any, x: Any, y: Any, a: Any, p: Any, b: Any) -> Any:
    aliases = ["x = Vi(1)", "y = Vj(1)", "a = Vj(1)", "p = Pm(1)", "b = Vj(3)"]
    y.requires_grad_()
    result = k.Genred(
        "Square(p-a)*Exp(x+y)",
        aliases,
        reduction_op="LogSumExp",
        axis=1,
        formula2="b",
    )(x, y, a, p, b)
    return result, *torch.autograd.grad(result.sum(), [y])


def vector_weights_exact(x: Any, y: Any, a: Any, p: Any, b: Any) -> Any:
    y.requires_grad_()
    scores = ((p - a.T) ** 2) * torch.exp(x + y.T)
    result = (scores[..., None] + b.log()).logsumexp(1)
    return result, *torch.autograd.grad(result.sum(), [y])


def softmax(k: Any, x: Any, y: Any, b: Any) -> Any:
    aliases = ["x = Vi(3)", "y = Vj(3)", "b = Vj(2)"]
    return k.Genred(
        "SqDist(x,y)",
        aliases,
        reduction_op="SumSoftMaxWeight",
        axis=1,
        formula2="b",
    )(2 * x, 2 * y, b)


def softmax_exact(x: Any, y: Any, b: Any) -> Any:
    return torch.softmax(squared_distances(2 * x, 2 * y), dim=1) @ b


def deconvolution(k: Any, x: Any, b: Any) -> Any:
    aliases = ["x = Vi(2)", "y = Vj(2)", "b = Vj(2)", "g = Pm(1)"]
    solve = k.KernelSolve("Exp(- g * SqDist(x,y)) * b", aliases, "b", axis=1)
    x.requires_grad_()
    g = torch.tensor([50.0], dtype=x.dtype)
    result = solve(x, x, b, g, alpha=0.01)
    return result, *torch.autograd.grad(result.sum(), [x])


def deconvolution_exact(x: Any, b: Any) -> Any:
    x.requires_grad_()
    system = (-50 * squared_distances(x, x)).exp() + 0.01 * torch.eye(len(x))
    result = torch.linalg.solve(system, b)
    return result, *torch.autograd.grad(result.sum(), [x])


def neighbours(k: Any, x: Any) -> Any:
    aliases = ["x = Vi(2)", "y = Vj(2)"]
    return k.Genred(
        "SqDist(x,y)", aliases, reduction_op="ArgKMin", axis=1, opt_arg=3
    )(x, x)


def neighbours_exact(x: Any) -> Any:
    return torch.cat(
        [
            squared_distances(rows, x).topk(3, largest=False)[1]
            for rows in x.split(1000)
        ]
    )


def sparse(k: Any, x: Any, y: Any, b: Any) -> Any:
    c = importlib.import_module(k.__name__ + ".cluster")
    points, ranges, centroids, places = [], [], [], []
    for each in (x, y):
        labels = c.grid_cluster(each, 0.05)
        found = c.cluster_ranges_centroids(each, labels)
        ranges.append(found[0])
        centroids.append(found[1])
        both, _ = c.sort_clusters((each, np.arange(len(each))), labels)
        points.append(both[0])
        places.append(both[1])
    apart = (centroids[0][:, None] - centroids[1][None]) ** 2
    kernel = (-lazy_distances(k, points[0] / 0.05, points[1] / 0.05) / 2).exp()
    kernel.ranges = c.from_matrix(*ranges, apart.sum(-1) < 0.35**2)
    sums = kernel @ b[places[1]]
    # In the order of x, for the comparison.
    result = np.empty_like(sums)
    result[places[0]] = sums
    return result


def sparse_exact(x: Any, y: Any, b: Any) -> Any:
    return (-squared_distances(x, y) / (2 * 0.05**2)).exp() @ b
