# tests/python/test_tracers.py - what stands for an array while a function is
# traced is refused by its name, wherever it is passed.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

N = 5
X = np.random.default_rng(5).random((N, 3), np.float32)
TEXT = "sum_j exp(-|x_i - x_j|²)"
f = tilefold.compile(TEXT)
CURE = (
    "call tilefold outside of jit, vmap, grad and their like; "
    'f.grad("{0}") and f.jvp("{0}") are its derivatives'
)


def refusal(call) -> str:
    with pytest.raises(tilefold.DTypeError) as caught:
        call()
    assert caught.value.code == "Tracer"
    return str(caught.value)


def of_torch(transform):
    x = torch.tensor(X)
    return lambda call: transform(call)(x)


def vmapped(call):
    return torch.func.vmap(call)(torch.tensor(X).repeat(2, 1, 1))


def faked(call):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        return call(mode.from_tensor(torch.tensor(X)))


TORCH = {
    "grad": of_torch(lambda call: torch.func.grad(lambda x: call(x).sum())),
    "grad twice": of_torch(
        lambda call: torch.func.grad(
            lambda x: torch.func.grad(lambda x: call(x).sum())(x).sum()
        )
    ),
    "jacrev": of_torch(torch.func.jacrev),
    "functionalize": of_torch(torch.func.functionalize),
    "vmap": vmapped,
    "jvp": lambda call: torch.func.jvp(
        call, (torch.tensor(X),), (torch.tensor(X),)
    ),
    "fake": faked,
}
JAX = {
    "jit": lambda call: jax.jit(call)(X),
    "grad": lambda call: jax.grad(lambda x: call(x).sum())(X),
    "vmap": lambda call: jax.vmap(call)(np.stack([X, X])),
    "jvp": lambda call: jax.jvp(call, (X,), (X,)),
    "make_jaxpr": lambda call: jax.make_jaxpr(call)(X),
}
REFUSED = {"fx": torch.fx.symbolic_trace}


@pytest.mark.parametrize("name", REFUSED)
def test_a_tracer_is_refused_by_its_name(name):
    found = refusal(lambda: REFUSED[name](lambda x: f(x=x)))
    first, cure = found.split("\n")
    assert first.startswith("'x' is a tracer, not an array: a")
    assert cure == CURE.format("x")


@pytest.mark.parametrize("name", TORCH)
def test_torch_s_transforms_take_formulas(name):
    """What they give is in test_torch_transforms.py."""
    assert TORCH[name](lambda x: f(x=x)) is not None


@pytest.mark.parametrize("name", JAX)
def test_jax_s_transforms_take_formulas(name):
    """What they give is in test_jax.py."""
    assert JAX[name](lambda x: f(x=x)) is not None


@pytest.mark.parametrize("name", TORCH)
def test_what_is_written_in_place_is_refused_under_torch_s(name):
    out = torch.empty(N)
    calls = [
        lambda x: f.bind(x=x),
        lambda x: f(x=torch.tensor(X), out=x),
        lambda x: f(x=x, out=out),
        lambda x: tilefold.radius_neighbors(x, radius=1.0),
    ]
    for call in calls:
        found = refusal(lambda c=call: TORCH[name](c))
        assert "is a tracer, not an array" in found


def test_tracers_are_refused_wherever_they_are_passed():
    trace = torch.fx.symbolic_trace
    y = np.ones((4, 3), np.float32)
    calls = [
        lambda x: f.grad("x")(x=x, grad=1.0),
        lambda x: f.bind(x=x),
        lambda x: f(x=X, out=x),
        lambda x: f(x=tilefold.Vi(x)),
        lambda x: tilefold.reduce("sum_j |A @ y_j|", y=y, A=x),
        lambda x: tilefold.reduce("sum_j l*y_j", y=y, l=x[0, 0]),
        lambda x: tilefold.kernel("exp(-|x_i - x_j|²)", x=x).sum(1),
        lambda x: tilefold.radius_neighbors(x, radius=1.0),
    ]
    for call in calls:
        assert "is a tracer, not an array" in refusal(lambda c=call: trace(c))


def test_what_is_written_in_place_is_refused_under_jax_s():
    out = np.empty(N, np.float32)
    calls = [
        lambda x: f.bind(x=x),
        lambda x: f(x=X, out=x),
        lambda x: f(x=x, out=out),
        lambda x: tilefold.radius_neighbors(x, radius=1.0),
    ]
    for call in calls:
        found = refusal(lambda c=call: jax.jit(c)(X))
        assert "is a tracer, not an array" in found


def test_a_list_of_tracers_is_refused_too():
    found = refusal(lambda: jax.jit(lambda x: f(x=[x[0], x[1]]))(X))
    assert found.startswith("'x' is a tracer, not an array: a list of tracers")


def test_the_cure_gives_what_the_transforms_would():
    x = torch.tensor(X, requires_grad=True)
    tilefold.reduce(TEXT, x=x).sum().backward()
    mine = f.grad("x")(x=X, grad=1.0)
    np.testing.assert_allclose(mine, x.grad.numpy(), rtol=1e-5)

    def dense(x):
        squares = ((x[:, None] - x[None]) ** 2).sum(-1)
        return jax.numpy.exp(-squares).sum()

    np.testing.assert_allclose(mine, jax.grad(dense)(X), rtol=1e-4, atol=1e-5)


def test_arrays_beside_a_transform_are_arrays():
    """What is not traced is read as ever."""
    found = []
    jax.jit(lambda x: found.append(f(x=X)) or x)(X)
    torch.func.vmap(lambda x: found.append(f(x=torch.tensor(X))) or x)(
        torch.tensor(X)
    )
    for one in found:
        np.testing.assert_allclose(one, f(x=X), rtol=1e-6)
