# tests/python/test_autograd.py - tensors that require grad, recorded.
from __future__ import annotations

import numpy as np
import pytest
import torch

import tilefold
from gradient_cases import CASES, gaussian

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"


def tensors(*shapes, dtype=torch.float64):
    """Small ones, that require grad."""
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()
        for shape in shapes
    ]


def scale():
    return torch.tensor(0.8, dtype=torch.float64, requires_grad=True)


def shortened(name, value):
    """Five points of an array: gradcheck asks for every number."""
    whole = np.ndim(value) == 0 or name in ("A", "l")
    return value if whole else np.asarray(value)[:5]


@pytest.mark.parametrize("name", CASES)
def test_gradcheck_and_gradgradcheck(name):
    case = CASES[name]
    f = tilefold.compile(case.text)
    names = list(case.arguments)
    values = [
        torch.as_tensor(shortened(name, value)).double().requires_grad_()
        for name, value in case.arguments.items()
    ]

    def call(*values):
        return f(dict(zip(names, values, strict=True)))

    assert torch.autograd.gradcheck(call, values)
    assert torch.autograd.gradgradcheck(call, values)


def test_backward_through_reduce():
    x, y, b = tensors((5, 3), (6, 3), (6,))
    l = scale()
    out = tilefold.reduce(GAUSSIAN, x=x, y=y, b=b, l=l)
    out.square().sum().backward()
    found = [value.grad.clone() for value in (x, y, b, l)]
    for value in (x, y, b, l):
        value.grad = None
    (gaussian(x, y, l) @ b).square().sum().backward()
    for gradient, value in zip(found, (x, y, b, l), strict=True):
        torch.testing.assert_close(gradient, value.grad)


PRODUCTS = {
    "product": lambda k: (k @ torch.arange(6).double()).sin().sum(),
    "transposed product": lambda k: (k.T @ torch.ones(5).double()).sin().sum(),
    "sum": lambda k: k.sum(1).sin().sum(),
    "both axes": lambda k: k.sum(),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_kernels(name):
    x, y = tensors((5, 3), (6, 3))
    l = scale()
    kernel = tilefold.kernel("exp(-|x_i - y_j|²/2l²)", x=x, y=y, l=l)
    found = PRODUCTS[name](kernel)
    wanted = PRODUCTS[name](gaussian(x, y, l))
    for a, w in zip(
        torch.autograd.grad(found, (x, y, l)),
        torch.autograd.grad(wanted, (x, y, l)),
        strict=True,
    ):
        torch.testing.assert_close(a, w)


def test_the_diagonal():
    x, y = tensors((5, 3), (5, 3))
    l = scale()
    kernel = tilefold.kernel("exp(-|x_i - y_j|²/2l²)", x=x, y=y, l=l)
    found = torch.autograd.grad(kernel.diag().sin().sum(), (x, y, l))
    wanted = torch.autograd.grad(
        gaussian(x, y, l).diagonal().sin().sum(), (x, y, l)
    )
    for a, w in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, w)


def test_only_what_requires_grad_is_differentiated():
    x, y = tensors((5, 3), (6, 3))
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile(GAUSSIAN, session=session)
    b = np.ones(6)  # an array beside tensors
    f(x=x, y=y.detach(), b=b, l=0.5).sum().backward()
    assert y.grad is None
    assert session.stats().runs == 2  # forward, and one sweep back


def test_nothing_of_the_matrix_is_saved():
    (x,) = tensors((2000, 3))
    saved = []

    def pack(tensor):
        saved.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = tilefold.reduce("sum_j exp(-|x_i - x_j|²)", x=x)
    assert saved == [6000]
    out.sum().backward()
    assert x.grad.shape == (2000, 3)


def test_declared_roles_are_recorded():
    x, y = tensors((5, 3), (6, 3))
    f = tilefold.compile("sum_j x_i·y_j")
    out = f(x=tilefold.Vi(x), y=tilefold.Vj(y))
    out.sum().backward()
    torch.testing.assert_close(x.grad, y.detach().sum(0).expand(5, 3))


def test_positions_have_no_gradient():
    x, y = tensors((5, 3), (6, 3))
    nearest = tilefold.reduce("argmin_j |x_i - y_j|²", x=x, y=y)
    assert not nearest.requires_grad
    assert nearest.dtype == torch.int64


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32]
)
def test_narrow_tensors_have_narrow_gradients(dtype):
    x, y = tensors((5, 3), (6, 3), dtype=dtype)
    tilefold.reduce("sum_j exp(-|x_i - y_j|²)", x=x, y=y).sum().backward()
    assert x.grad.dtype == dtype
    again = x.detach().double().requires_grad_()
    gaussian(again, y.detach().double(), 2**-0.5).sum().backward()
    torch.testing.assert_close(
        x.grad.double(), again.grad, atol=0.05, rtol=0.02
    )


def test_double_parameters_beside_float_arrays():
    x, y = tensors((5, 3), (6, 3), dtype=torch.float32)
    l = scale()
    tilefold.reduce(
        "sum_j exp(-|x_i - y_j|²/2l²)", x=x, y=y, l=l
    ).sum().backward()
    assert l.grad.dtype == torch.float64


def test_cotangents_of_any_stride():
    x, y = tensors((5, 3), (6, 3))
    out = tilefold.reduce("sum_j exp(-|x_i - y_j|²)", x=x, y=y)
    (dx,) = torch.autograd.grad(out.sum(), x, retain_graph=True)  # stride 0
    flipped = torch.flip(out, [0])
    (again,) = torch.autograd.grad(flipped.sum(), x)
    torch.testing.assert_close(dx, again)


def test_a_tensor_that_requires_grad_is_not_written_into():
    x, y = tensors((5, 3), (6, 3))
    with pytest.raises(tilefold.DTypeError) as caught:
        tilefold.reduce("sum_j x_i·y_j", x=x, y=y, out=torch.zeros(5).double())
    assert caught.value.code == "RequiresGrad"
    assert str(caught.value) == (
        "'x' requires a gradient, which this result does not have\n"
        "pass x.detach(); calls without 'out' have gradients, and so has what "
        "a kernel computes"
    )


ELEMENTS = {
    "all": lambda k: k.dense() if hasattr(k, "dense") else k,
    "transposed": lambda k: k.T.dense() if hasattr(k, "dense") else k.T,
    "a row": lambda k: k[2],
    "a part of a row": lambda k: k[-1, 1:4],
    "a column": lambda k: k[:, 3],
    "a transposed row": lambda k: k.T[1],
    "pairs": lambda k: k[[1, 2, 2], [3, 0, 0]],
    "pairs in a table": lambda k: k[[[1], [2]], [[3, 0]]],
    "an element": lambda k: k[2, 4],
    "a block": lambda k: (
        k[1:4][:, [0, 2]].dense() if hasattr(k, "dense") else k[1:4][:, [0, 2]]
    ),
    "one by one": lambda k: (
        k[2:3, [1]].dense() if hasattr(k, "dense") else k[2:3, [1]]
    ),
    "none": lambda k: k[:0].dense() if hasattr(k, "dense") else k[:0],
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements(name):
    x, y = tensors((5, 3), (6, 3))
    l = scale()
    kernel = tilefold.kernel("exp(-|x_i - y_j|²/2l²)", x=x, y=y, l=l)
    found = ELEMENTS[name](kernel)
    wanted = ELEMENTS[name](gaussian(x, y, l))
    torch.testing.assert_close(found, wanted)
    for a, w in zip(
        torch.autograd.grad(found.sin().sum(), (x, y, l)),
        torch.autograd.grad(wanted.sin().sum(), (x, y, l)),
        strict=True,
    ):
        torch.testing.assert_close(a, w)


DENSE = {
    "numbers": "exp(-|x_i - y_j|²)",
    "vectors": "(x_i - y_j)*exp(-|x_i - y_j|²)",
    "vectors of one component": "[exp(-|x_i - y_j|²)]",
    "index symbols": "(i + 2*j)*exp(-|x_i - y_j|²)",
    "names that are taken": "exp(-|x_i - y_j|²) + G*w with G = 2|x_i|, w = 3",
}


@pytest.mark.parametrize("name", DENSE)
def test_gradcheck_of_all_values(name):
    x, y = tensors((3, 3), (4, 3))

    def values(x, y):
        return tilefold.kernel(DENSE[name], x=x, y=y).dense()

    assert torch.autograd.gradcheck(values, (x, y))
    assert torch.autograd.gradgradcheck(values, (x, y))
    batch = torch.stack([x.detach(), 2 * x.detach()]).requires_grad_()
    assert torch.autograd.gradcheck(values, (batch, y))


def test_one_array_on_both_axes_and_complex_values():
    (x,) = tensors((4, 3))
    for text in ("exp(-|x_i - x_j|²)", "exp(im*x_i·x_j)"):

        def values(x, text=text):
            kernel = tilefold.kernel(text, x=x)
            return kernel.dense(), kernel[1], kernel[[0, 1], [2, 2]]

        assert torch.autograd.gradcheck(values, (x,))
    z = torch.randn(3, dtype=torch.complex128).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: tilefold.kernel("z_i*z_j*z_i", z=z).dense(), (z,)
    )


def test_values_that_have_no_gradient():
    x, y = tensors((5, 3), (6, 3))
    kernel = tilefold.kernel("x_i[0] < y_j[1]", x=x, y=y)
    assert not kernel.dense().requires_grad
    with torch.no_grad():
        same = tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y)
        assert not same.dense().requires_grad


def test_an_input_changed_in_place_before_backward_is_an_error():
    (leaf,) = tensors((5, 3))
    x = leaf * 1
    out = tilefold.reduce("sum_j exp(-|x_i - x_j|²)", x=x)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        out.sum().backward()
