# tests/python/test_torch_module.py - tilefold.torch.Kernel, a module with
# parameters to learn.
from __future__ import annotations

import copy
import pickle

import pytest
import torch

import tilefold
import tilefold.torch
from torch_cases import B, X, Y, assert_same, squares, uniform

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

PAIR = "exp(-|x_i - y_j|²/2l²)"
SUM = "sum_j s*exp(-|x_i - y_j|²/2l²) b_j"
F64 = torch.float64


def module(formula=SUM, **learn):
    return tilefold.torch.Kernel(
        formula, learn=learn or {"l": 0.7}, positive=["l"], dtype=F64
    )


def dense(x, y, l):
    return torch.exp(-squares(x, y) / (2 * l**2))


def test_a_pair_term_is_a_lazy_kernel():
    k = module(PAIR)
    assert isinstance(k(X, Y), tilefold.Kernel)
    assert k(X).shape == (4, 4)
    assert_same(k(X, Y) @ B, dense(X, Y, torch.tensor(0.7, dtype=F64)) @ B)


def test_positive_parameters_are_read_by_their_name():
    k = module(PAIR)
    assert list(dict(k.named_parameters())) == ["raw_l"]
    assert_same(k.l, torch.tensor(0.7, dtype=F64), 1e-14)
    (k(X, Y) @ B).sum().backward()
    l = torch.tensor(0.7, dtype=F64, requires_grad=True)
    raw = l.detach() + torch.log(-torch.expm1(-l.detach()))
    raw.requires_grad_()
    (dense(X, Y, torch.nn.functional.softplus(raw)) @ B).sum().backward()
    assert_same(k.raw_l.grad, raw.grad)


def test_a_reduction_gives_a_tensor_that_learns():
    k = tilefold.torch.Kernel(
        SUM,
        learn={"l": 0.7, "s": uniform()},
        positive=["l"],
        fixed={"b": B},
        dtype=F64,
    )
    assert_same(k(X, Y), k.s * (dense(X, Y, k.l) @ B), 1e-12)
    optimizer = torch.optim.Adam(k.parameters(), lr=0.05)
    goal = dense(X, Y, torch.tensor(1.0, dtype=F64)) @ B
    before = (k(X, Y) - goal).square().sum()
    for _ in range(60):
        optimizer.zero_grad()
        (k(X, Y) - goal).square().sum().backward()
        optimizer.step()
    assert (k(X, Y) - goal).square().sum() < before / 2


def test_the_call_wins_over_what_is_learned():
    k = module(l=0.7, s=2.0)
    one = torch.tensor(1.0, dtype=F64)
    assert_same(k(X, Y, b=B, l=one, s=one), dense(X, Y, one) @ B)


def test_a_shape_is_filled_with_numbers():
    k = tilefold.torch.Kernel(
        "sum_j |A@(x_i - y_j)|", learn={"A": (2, 3)}, dtype=F64
    )
    assert k.A.shape == (2, 3)
    assert k.A.std() > 0
    assert k(X, Y).shape == (4,)


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda k: pickle.loads(pickle.dumps(k)),
        lambda k: (
            module(l=0.1, s=0.1).requires_grad_(False)
            if k.load_state_dict(k.state_dict()) is None
            else k
        ),
    ],
)
def test_copies_compute_the_same(copied):
    k = module(l=0.7, s=2.0)
    assert_same(copied(k)(X, Y, b=B), k(X, Y, b=B))


def test_states_load_into_another_one():
    k, other = module(l=0.7, s=2.0), module(l=0.1, s=0.1)
    other.load_state_dict(k.state_dict())
    assert_same(other(X, Y, b=B), k(X, Y, b=B))


def test_types_and_what_is_printed():
    k = module(l=0.7, s=2.0).to(torch.float32)
    assert k(X.float(), Y.float(), b=B.float()).dtype == torch.float32
    assert "sum_j s*exp" in repr(k)


def test_compiled_and_functional_and_exported():
    k = module(l=0.7, s=2.0)
    torch._dynamo.reset()
    compiled = torch.compile(k, fullgraph=True, backend="aot_eager")
    assert_same(compiled(X, Y, b=B), k(X, Y, b=B))
    state = {name: 2 * value for name, value in k.state_dict().items()}
    found = torch.func.functional_call(k, state, (X, Y), {"b": B})
    other = module(l=0.7, s=2.0)
    other.load_state_dict(state)
    assert_same(found, other(X, Y, b=B))
    program = torch.export.export(k, (X, Y), {"b": B})
    assert_same(program.module()(X, Y, b=B), k(X, Y, b=B))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learn": {"q": 1.0}}, "'q'"),
        ({"fixed": {"q": 1.0}}, "'q'"),
        ({"learn": {"l": 1.0}, "positive": ["s"]}, "'s'"),
        ({"learn": {"l": -1.0}, "positive": ["l"]}, "positive number"),
    ],
)
def test_mistakes_are_told_when_it_is_made(given, message):
    with pytest.raises(tilefold.ArgumentError, match=message):
        tilefold.torch.Kernel(SUM, **given)


def test_a_missing_argument_is_named():
    with pytest.raises(tilefold.ArgumentError, match="'b'"):
        module(l=0.7, s=2.0)(X, Y)


WEIGHTED = "sum_j w_j*exp(-|x_i - y_j|²)"


def test_points_are_arrays_that_the_module_does_not_have():
    k = tilefold.torch.Kernel(WEIGHTED, learn={"w": B}, dtype=F64)
    want = dense(X, Y, torch.tensor(0.5, dtype=F64).sqrt()) @ B
    assert_same(k(X, Y), want)
    assert_same(tilefold.torch.Kernel(WEIGHTED)(X, Y, w=B), want)
    with pytest.raises(tilefold.ArgumentError, match="'y'"):
        k(X)
    fixed = tilefold.torch.Kernel(WEIGHTED, fixed={"y": X}, dtype=F64)
    with pytest.raises(tilefold.ArgumentError, match="'w'"):
        fixed(X)  # which could be the weights, as many as there are points
    assert_same(fixed(X, w=X[:, 0]), fixed(X, X[:, 0]))


def test_points_that_nothing_reads_are_refused():
    one = tilefold.torch.Kernel("exp(-|x_i - x_j|²)")
    assert one(X).shape == (4, 4)
    with pytest.raises(tilefold.ArgumentError, match="no other array on j"):
        one(X, Y)
    whole = tilefold.torch.Kernel("sum_j exp(-|y_j|²)")
    assert_same(whole(Y), whole(y=Y))
    with pytest.raises(tilefold.ArgumentError, match="no other array on i"):
        whole(X, Y)


def test_a_positive_parameter_is_set_by_its_name():
    k = module(PAIR)
    raw = k.raw_l
    k.l = 2.0
    assert k.raw_l is raw
    assert_same(k.l, torch.tensor(2.0, dtype=F64), 1e-14)
    (k(X, Y) @ B).sum().backward()
    assert raw.grad != 0
    with pytest.raises(tilefold.ArgumentError, match="positive number"):
        k.l = 0.0


def test_names_are_greek_letters_or_words():
    text = "exp(-|x_i - y_j|²/2σ²)"
    one = torch.tensor(3.0, dtype=F64)
    for name in ("σ", "sigma"):
        k = tilefold.torch.Kernel(
            text, learn={name: 0.5}, positive=[name], dtype=F64
        )
        assert list(dict(k.named_parameters())) == ["raw_sigma"]
        for given in ({"σ": one}, {"sigma": one}):
            assert_same(k(X, Y, **given) @ B, dense(X, Y, one) @ B)
    k.σ = 2.0
    assert_same(k.σ, k.sigma)
    torch._dynamo.reset()
    call = torch.compile(
        lambda x, y: k(x, y, σ=one) @ B, backend="aot_eager", fullgraph=True
    )
    assert_same(call(X, Y), dense(X, Y, one) @ B)


def test_a_name_of_torch_s_modules_is_refused():
    with pytest.raises(tilefold.ArgumentError, match="another name"):
        tilefold.torch.Kernel("half*|x_i - y_j|", learn={"half": 0.5})


# ---- what cannot be ----------------------------------------------------------


def test_an_argument_changed_before_backward_is_detected():
    f = tilefold.compile(PAIR.join(["sum_j ", ""]))
    x = X.clone().requires_grad_()
    y = Y.clone()
    result = f(x=x, y=y, l=0.5).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()


def test_gradients_of_integers_are_refused_as_torch_does():
    f = tilefold.compile("argmin_j |x_i - y_j|²")
    x = X.clone().requires_grad_()
    result = f(x=x, y=Y)
    assert not result.requires_grad
    with pytest.raises(tilefold.FormulaError, match="no derivative"):
        f.grad("x")(x=x.detach(), y=Y, grad=1.0)


def test_out_beside_a_gradient_is_refused_and_bumps_the_version():
    f = tilefold.compile("sum_j x_i·y_j")
    x = X.clone().requires_grad_()
    with pytest.raises(tilefold.Error, match="'x'"):
        f(x=x, y=Y, out=torch.empty(4, dtype=F64))
    w = torch.ones(4, dtype=F64, requires_grad=True)
    out = torch.ones(4, dtype=F64)
    result = (w * out).sum()
    f(x=X, y=Y, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()


def test_a_double_backward_through_a_compiled_region_is_torch_s_error():
    torch._dynamo.reset()
    f = tilefold.compile("sum_j exp(-|x_i - y_j|²)")
    compiled = torch.compile(
        lambda x: f(x=x, y=Y), backend="aot_eager", fullgraph=True
    )
    x = X.clone().requires_grad_()
    (g,) = torch.autograd.grad(compiled(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError):
        g.sum().backward()
