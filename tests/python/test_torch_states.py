# tests/python/test_torch_states.py - formulas, kernels and systems in whatever
# state PyTorch is: modes, traces, hooks, autocast, tensors of other classes.
from __future__ import annotations

import os

import pytest
import torch
from torch.func import functionalize, grad, jacrev, vmap
from torch.fx.experimental.proxy_tensor import make_fx

import tilefold
import tilefold.torch
from tilefold.torch.elements import Dense
from tilefold.torch.solves import LogDeterminant, Solution
from torch_cases import B, X, Y, assert_same, squares, uniform

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
]

PAIR = "exp(-|x_i - y_j|²)"
f = tilefold.compile(f"sum_j {PAIR} b_j")


def rows(x):
    return f(x=x, y=Y, b=B)


def kernel(x):
    return tilefold.kernel(PAIR, x=x, y=Y)


def square(x):
    return tilefold.kernel("exp(-|x_i - x_j|²)", x=x)


def dense(x):
    return torch.exp(-squares(x, Y))


def matrix(x):
    return torch.exp(-squares(x, x)) + 0.1 * torch.eye(len(x), dtype=x.dtype)


CALLS = {
    "formula": (rows, lambda x: dense(x) @ B),
    "product": (lambda x: kernel(x) @ B, lambda x: dense(x) @ B),
    "values": (lambda x: kernel(x).dense(), dense),
    "solution": (
        lambda x: square(x).solve(B[:4], 0.1, rtol=1e-14),
        lambda x: torch.linalg.inv(matrix(x)) @ B[:4],
    ),
    "logdet": (
        lambda x: square(x).logdet(0.1),
        lambda x: torch.logdet(matrix(x)),
    ),
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


def backward(function, x):
    """The gradient of a number of what a function gives."""
    leaf = x.clone().requires_grad_()
    function(leaf).sin().sum().backward()
    return leaf.grad


CONTEXTS = {
    "anomaly mode": lambda: torch.autograd.detect_anomaly(check_nan=True),
    "saved tensors moved": lambda: torch.autograd.graph.save_on_cpu(),
    "default device": lambda: torch.device("meta"),
    "one thread at a time": lambda: torch.autograd.set_multithreading_enabled(
        False
    ),
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_gradients_in_contexts(call, name):
    found, expected = call
    with CONTEXTS[name]():
        gradient = backward(found, X)
    assert_same(gradient, backward(expected, X), 1e-9)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints(call, reentrant):
    from torch.utils.checkpoint import checkpoint

    found, expected = call
    gradient = backward(
        lambda x: checkpoint(found, x, use_reentrant=reentrant), X
    )
    assert_same(gradient, backward(expected, X), 1e-9)


def test_modes_see_the_operator(call):
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    found, expected = call
    with Dispatch():
        assert_same(backward(found, X), backward(expected, X), 1e-9)
    assert seen.count("tilefold.call.default") >= 2
    with Functions():
        assert_same(found(X), expected(X), 1e-9)


def test_classes_with_a_dispatch_of_their_own(call):
    from torch.testing._internal.two_tensor import TwoTensor

    found, expected = call
    result = found(TwoTensor(X, 2 * X))
    assert_same(result.a, expected(X), 1e-9)
    assert_same(result.b, expected(2 * X), 1e-9)


def test_traces_keep_no_results(call):
    found, expected = call
    for traced in (
        make_fx(functionalize(found))(X),
        make_fx(grad(lambda x: found(x).sum()))(X),
        torch.jit.trace(found, (X,)),
    ):
        is_gradient = traced(X).shape == X.shape
        wanted = grad(lambda x: expected(x).sum()) if is_gradient else expected
        assert_same(traced(1.5 * X), wanted(1.5 * X), 1e-8)


OF_ANY_SIZE = {
    "values": lambda x, y: tilefold.kernel(PAIR, x=x, y=y).dense(),
    "vectors": lambda x, y: tilefold.kernel(
        "exp(-|x_i - y_j|²) (x_i - y_j)", x=x, y=y
    ).dense(),
    "product": lambda x, y: tilefold.kernel(PAIR, x=x, y=y) @ y,
    "mean": lambda x, y: x.sum() * tilefold.kernel(PAIR, x=x, y=y).mean(),
    "solution": lambda x, y: x.sum() * square(y).solve(y, 0.1, rtol=1e-14),
    "logdet": lambda x, y: x.sum() * square(y).logdet(0.1),
}


@pytest.mark.parametrize("name", OF_ANY_SIZE)
def test_gradients_traced_with_sizes_as_symbols(name):
    gradient = grad(lambda *v: OF_ANY_SIZE[name](*v).sin().sum(), (0, 1))
    traced = make_fx(gradient, tracing_mode="symbolic")(X, Y)
    for count in (1, 2, 5):
        at = uniform(count, 3), uniform(count + 2, 3)
        assert_same(traced(*at), gradient(*at), 1e-8)


@pytest.mark.parametrize(
    "trace", [make_fx, lambda f: lambda *values: torch.jit.trace(f, values)]
)
def test_an_index_that_is_traced_is_refused(trace):
    """What it would choose for other numbers would be wrong."""
    index = torch.tensor([0, 2])

    def call(x, index):
        return kernel(x)[index] @ B

    with pytest.raises(tilefold.ArgumentError, match=r"x=x\[rows\]"):
        trace(call)(X, index)
    assert_same(call(X, index), dense(X[index]) @ B)


def test_batched_cotangents(call):
    found, expected = call
    leaf = X.clone().requires_grad_()
    result = found(leaf)
    count = result.numel()
    each = torch.eye(count, dtype=X.dtype).reshape(count, *result.shape)
    (gradients,) = torch.autograd.grad(
        result, leaf, each, is_grads_batched=True
    )
    jacobian = jacrev(expected)(X).reshape(count, *X.shape)
    assert_same(gradients, jacobian, 1e-8)


def test_autocast_narrows_no_system():
    def both(x):
        quadratic, logdet = square(x).inv_quad_logdet(
            B[:4].float(), True, ridge=0.1
        )
        return quadratic + logdet

    narrow = X.float()
    expected = backward(both, narrow)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = backward(both, narrow)
        value = both(narrow)
    assert value.dtype == torch.float32
    assert_same(inside, expected, 1e-5)


def records(requires_grad):
    """A record of each kind, and its values."""
    x = X.clone().requires_grad_(requires_grad)
    solving = {"rtol": 1e-9, "maxiter": None, "preconditioner": None}
    solving |= {"method": "cg", "rank": None}
    options = {"probes": 8, "maxiter": None, "preconditioner": None, "seed": 0}
    ridge = torch.tensor(0.1, dtype=torch.float64)
    pair = tilefold.compile(PAIR)
    yield Dense.of(pair, {"x": x, "y": Y}, {})
    yield Solution.of_kernel(square(x), [B[:4], ridge], solving)
    yield LogDeterminant.of_kernel(square(x), [ridge], options)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_pytorch_s_own_check_of_each_kind_of_call(requires_grad):
    for record, values in records(requires_grad):
        found = torch.library.opcheck(
            torch.ops.tilefold.call, (record.spec(), values)
        )
        assert set(found.values()) == {"SUCCESS"}


def test_inference_mode(call):
    found, expected = call
    with torch.inference_mode():
        result = found(X)
    assert_same(result.clone(), expected(X), 1e-9)


def test_a_solution_that_was_changed_is_told():
    x = X.clone().requires_grad_()
    solution = square(x).solve(B[:4], 0.1)
    solution.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        solution.sum().backward()


def test_no_maps():
    none = torch.zeros(0, dtype=torch.float64)
    assert vmap(lambda r: square(X).solve(B[:4], r))(none).shape == (0, 4)
    assert vmap(lambda r: square(X).logdet(r))(none).shape == (0,)
    assert vmap(rows)(torch.zeros(0, 4, 3)).shape == (0, 4)
    sides = torch.zeros(0, 4, dtype=torch.float64)
    assert vmap(lambda b: square(X).solve(b, 0.1))(sides).shape == (0, 4)


def test_changes_of_arguments_within_a_graph():
    def changed(x):
        first = rows(x)
        x.add_(1)
        return first, rows(x), kernel(x).sum(1)

    torch._dynamo.reset()
    compiled = torch.compile(changed, fullgraph=True, backend="aot_eager")
    x = X.clone()
    assert_same(compiled(x), changed(X.clone()))
    assert_same(x, X + 1)


def test_a_number_of_components_is_noted():
    torch._dynamo.reset()
    call = torch.compile(
        lambda x, y: tilefold.kernel(PAIR, x=x, y=y).sum(1),
        fullgraph=True,
        backend="aot_eager",
        dynamic=True,
    )
    for components in (1, 2, 5):
        x, y = uniform(4, components), uniform(6, components)
        assert_same(call(x, y), torch.exp(-squares(x, y)).sum(1))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_process_computes_gradients():
    expected = backward(rows, X)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int(not torch.equal(backward(rows, X), expected))
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
