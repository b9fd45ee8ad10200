# tests/python/test_keops_torch.py - KeOps's formulas of PyTorch's tensors.
"""Genred and LazyTensor of tensors: gradients, torch.func, batches, out=."""

# ruff: noqa: ARG005 - all references take the same arguments.

from __future__ import annotations

import copy
import functools

import numpy as np
import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

import tilefold
from tilefold.compat.pykeops.torch import (
    Genred,
    KernelSolve,
    LazyTensor,
    Pm,
    Vi,
    Vj,
    generic_logsumexp,
)

M, N = 4, 5
ALIASES = ["x = Vi(3)", "y = Vj(3)", "b = Vj(2)", "g = Pm(1)"]
FORMULA = "Exp(-SqDist(x,y)*g)*b"


@pytest.fixture(name="given")
def _given():
    torch.manual_seed(0)
    shapes = (M, 3), (N, 3), (N, 2), (1,)
    return [torch.rand(shape, dtype=torch.float64) for shape in shapes]


def _dense(x, y, b, g):
    distances = ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)
    return torch.exp(-distances * g[..., None]) @ b


def _lazy(x, y, b, g):
    xi, yj = LazyTensor(x[..., :, None, :]), LazyTensor(y[..., None, :, :])
    return (-((xi - yj) ** 2).sum(-1) * Pm(g)).exp() @ b


CALLS = [Genred(FORMULA, ALIASES, axis=1), _lazy]


@pytest.mark.parametrize("call", CALLS, ids=["Genred", "LazyTensor"])
def test_values_and_gradients(call, given) -> None:
    before = tilefold.stats().runs
    torch.testing.assert_close(call(*given), _dense(*given))
    assert tilefold.stats().runs == before + 1
    single = call(*(one.float() for one in given))
    assert single.dtype == torch.float32
    assert call(*given).is_contiguous()
    for one in given:
        one.requires_grad_()
    assert torch.autograd.gradcheck(call, given)
    assert torch.autograd.gradgradcheck(call, given)
    assert torch.autograd.gradcheck(
        call, given, check_forward_ad=True, check_backward_ad=False
    )


REDUCTIONS = [
    ("LogSumExp", "(x|y)*g", None, lambda s, b: s.logsumexp(1, True)),
    ("LogSumExp", "(x|y)*g", "b", lambda s, b: (s.exp() @ b).log()),
    ("SoftMax", "(x|y)*g", "b", lambda s, b: s.softmax(1) @ b),
    ("Min", "(x|y)*g", None, lambda s, b: s.amin(1, True)),
    ("Max", "(x|y)*g", None, lambda s, b: s.amax(1, True)),
    ("KMin", "(x|y)*g", None, lambda s, b: s.topk(2, 1, False).values),
]


@pytest.mark.parametrize(
    ("name", "formula", "weights", "dense"),
    REDUCTIONS,
    ids=[f"{row[0]}{row[2] or ''}" for row in REDUCTIONS],
)
def test_reductions(name, formula, weights, dense, given) -> None:
    count = 2 if name == "KMin" else None
    call = Genred(
        formula, ALIASES, name, axis=1, formula2=weights, opt_arg=count
    )
    leaves = [one.requires_grad_() for one in given]
    x, y, b, g = leaves
    found, expected = call(*leaves), dense(x @ y.T * g, b)
    torch.testing.assert_close(found, expected)
    cotangent = torch.rand_like(found)
    for one, other in zip(
        torch.autograd.grad(found, leaves, cotangent),
        torch.autograd.grad(
            expected, leaves, cotangent, materialize_grads=True
        ),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_pairs_of_values_and_indices(given) -> None:
    x, y, b, g = given
    x.requires_grad_()
    scores = x @ y.T
    lazy = (Vi(x) * Vj(y)).sum(-1)
    value, place = lazy.Kmin_argKmin(2, dim=1)
    expected = scores.topk(2, 1, largest=False)
    torch.testing.assert_close(value, expected.values)
    torch.testing.assert_close(place, expected.indices)
    assert not place.requires_grad
    found = torch.autograd.grad(value.sum(), x)[0]
    torch.testing.assert_close(
        found, torch.autograd.grad(expected.values.sum(), x)[0]
    )
    value, place = Genred("x*y", ALIASES, "Max_ArgMax", axis=1)(x, y, b, g)
    expected = (x[:, None] * y).max(1)
    torch.testing.assert_close(value, expected.values)
    torch.testing.assert_close(place, expected.indices)


@pytest.mark.parametrize(
    "formula", ["x < y", "Floor(x*y)", "Sign(x)", "ArgMax(x*y)", "Step(x - y)"]
)
def test_gradients_that_are_zero(formula, given) -> None:
    x, y = (one.float().requires_grad_() for one in given[:2])
    found = Genred(formula, ALIASES[:2], axis=1)(x, y)
    assert found.dtype == torch.float32
    for gradient in torch.autograd.grad(found.sum(), (x, y)):
        assert not gradient.any()


def test_arguments_that_are_not_read(given) -> None:
    x, y = (one.requires_grad_() for one in given[:2])
    found = Genred("Exp(x)", ALIASES[:2], axis=1)(x, y)
    by_x, by_y = torch.autograd.grad(found.sum(), (x, y))
    torch.testing.assert_close(by_x, N * x.exp())
    assert not by_y.any()


@pytest.mark.parametrize("call", CALLS, ids=["Genred", "LazyTensor"])
def test_transforms(call, given) -> None:
    x, y, b, g = given
    scalar = lambda f: lambda x: f(x, y, b, g).sin().sum()  # noqa: E731
    of_x = lambda f: lambda x: f(x, y, b, g)  # noqa: E731
    for transform in (
        lambda f: grad(scalar(f))(x),
        lambda f: hessian(scalar(f))(x),
        lambda f: jacrev(of_x(f))(x),
        lambda f: jacfwd(of_x(f))(x),
        lambda f: jvp(of_x(f), (x,), (x.cos(),))[1],
        lambda f: vjp(of_x(f), x)[1](torch.ones(M, 2).double())[0],
        lambda f: vmap(grad(scalar(f)))(torch.stack([x, 2 * x])),
    ):
        torch.testing.assert_close(transform(call), transform(_dense))


def _of_two(call, b, g, x, y):
    return call(x, y, b, g)


@pytest.mark.parametrize("call", CALLS, ids=["Genred", "LazyTensor"])
@pytest.mark.parametrize("in_dims", [(0, 0), (1, None), (2, 1), (None, 2)])
def test_vmap(call, in_dims, given) -> None:
    x, y, b, g = given
    many = [
        one if dim is None else torch.stack([one, 2 * one, -one], dim)
        for one, dim in zip((x, y), in_dims, strict=True)
    ]
    for out_dim in 0, 1:
        found, expected = (
            vmap(functools.partial(_of_two, f, b, g), in_dims, out_dim)(*many)
            for f in (call, _dense)
        )
        torch.testing.assert_close(found, expected)


def test_batches(given) -> None:
    x, y, b, _ = given
    xs = torch.stack([x, 2 * x, -x])[:, None].requires_grad_()
    ys = torch.stack([y, -y]).requires_grad_()
    gs = torch.rand(3, 1, 1, dtype=torch.float64).requires_grad_()
    call = Genred(FORMULA, ALIASES, axis=1)
    found = call(xs, ys, b, gs)
    expected = _dense(xs, ys, b, gs)
    assert found.shape == (3, 2, M, 2)
    torch.testing.assert_close(found, expected)
    for one, other in zip(
        torch.autograd.grad(found.sin().sum(), (xs, ys, gs)),
        torch.autograd.grad(expected.sin().sum(), (xs, ys, gs)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_out_is_recorded(given) -> None:
    leaves = [one.requires_grad_() for one in given]
    out = torch.empty(M, 2, dtype=torch.float64)
    call = Genred(FORMULA, ALIASES, axis=1)
    assert call(*leaves, out=out) is out
    torch.testing.assert_close(out, _dense(*leaves))
    for one, other in zip(
        torch.autograd.grad(out.sin().sum(), leaves),
        torch.autograd.grad(_dense(*leaves).sin().sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_ranges_have_gradients(given) -> None:
    x, y, b, g = given
    x.requires_grad_()
    b.requires_grad_()
    whole = torch.int32
    keep = (
        torch.tensor([[0, 2], [2, M]], dtype=whole),
        torch.tensor([1, 2], dtype=whole),
        torch.tensor([[0, 3], [3, N]], dtype=whole),
    )
    mask = torch.zeros(M, N, dtype=torch.float64)
    mask[:2, :3] = mask[2:, 3:] = 1
    call = Genred(FORMULA, ALIASES, axis=1)
    found = call(x, y, b, g, ranges=(*keep, *keep))
    distances = ((x[:, None] - y) ** 2).sum(-1)
    expected = (torch.exp(-distances * g) * mask) @ b
    torch.testing.assert_close(found, expected)
    for one, other in zip(
        torch.autograd.grad(found.sin().sum(), (x, b)),
        torch.autograd.grad(expected.sin().sum(), (x, b)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_complex_tensors(given) -> None:
    x, y, b, _ = given
    z = torch.view_as_complex(b.contiguous()).reshape(N, 1).requires_grad_()
    phase = (Vi(x) | Vj(y)).exp1j()
    dense = torch.exp(1j * (x @ y.T))
    torch.testing.assert_close(phase @ z, dense @ z)
    found = torch.autograd.grad((phase @ z).abs().sum(), z)
    expected = torch.autograd.grad((dense @ z).abs().sum(), z)
    torch.testing.assert_close(found, expected)
    pairs = Genred("ComplexMult(ComplexExp1j(x|y),b)", ALIASES[:3], axis=1)(
        x, y, b
    )
    torch.testing.assert_close(torch.view_as_complex(pairs), (dense @ z)[:, 0])


def test_systems_have_gradients(given) -> None:
    x, _, _, g = given
    b = torch.rand(M, 2, dtype=torch.float64)
    solve = KernelSolve(FORMULA, ALIASES, "b", axis=1)

    def call(x, b, g):
        return solve(x, x, b, g, alpha=torch.tensor(0.1), eps=1e-13)

    def dense(x, b, g):
        distances = ((x[:, None] - x) ** 2).sum(-1)
        identity = torch.eye(M, dtype=torch.float64)
        return torch.linalg.solve((-distances * g).exp() + 0.1 * identity, b)

    torch.testing.assert_close(call(x, b, g), dense(x, b, g))
    leaves = [one.requires_grad_() for one in (x, b, g)]
    assert torch.autograd.gradcheck(call, leaves)
    kernel = (-((Vi(x) - Vj(x)) ** 2).sum(-1) * Pm(g)).exp()
    found = kernel.solve(b, alpha=0.1, eps=1e-13)
    torch.testing.assert_close(found, dense(x, b, g))
    gradients = torch.autograd.grad(found.sin().sum(), leaves)
    for one, other in zip(
        gradients,
        torch.autograd.grad(dense(x, b, g).sin().sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_shapes_of_other_libraries_around_it(given) -> None:
    x, y, b, g = given
    kernel = (-((Vi(x) - Vj(y)) ** 2).sum(-1) / 2).exp()
    assert torch.Size(kernel.shape) == (M, N)
    assert (g * kernel).shape == (M, N)
    torch.testing.assert_close(
        (torch.tensor(2.0).double() * kernel) @ b, 2 * (kernel @ b)
    )
    parameter = torch.nn.Parameter(x)
    torch.testing.assert_close(Vi(parameter).exp().sum(1).detach(), x.exp())
    root = ((LazyTensor(x[:, None]) - LazyTensor(y[None])) ** 2).sum(-1)
    distances = (root + 1e-20).sqrt()
    torch.testing.assert_close(
        distances.min(dim=1)[:, 0], torch.cdist(x, y).amin(1)
    )
    assert copy.copy(kernel).shape == kernel.shape
    found = generic_logsumexp(
        "( B - (P * (SqDist(X,Y) / IntCst(2)) ) )",
        "A = Vi(1)",
        "X = Vi(3)",
        "Y = Vj(3)",
        "B = Vj(1)",
        "P = Pm(1)",
    )(x, y, b[:, :1].contiguous(), torch.tensor([2.0], dtype=x.dtype))
    expected = (b[:, 0] - torch.cdist(x, y) ** 2).logsumexp(1, True)
    torch.testing.assert_close(found, expected)


def test_random_numbers_of_numpy_beside_tensors(given) -> None:
    x = given[0]
    for scale in np.float64(2), np.float32(2), 2.0, torch.tensor(2.0).double():
        torch.testing.assert_close((Vi(x) * scale).sum(1), 2 * x)
        torch.testing.assert_close((Vi(x) / scale).sum(1), x / 2)
