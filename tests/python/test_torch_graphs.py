# tests/python/test_torch_graphs.py - lazy kernels in functions that
# torch.compile reads, without a graph break.
from __future__ import annotations

import copy
import operator
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.func import grad, jvp, vmap

import tilefold
import tilefold.torch
from torch_cases import B, X, Y, assert_same, squares, uniform

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

PAIR = "exp(-|x_i - y_j|²/2l²)"
SQUARE = "(1 + i) exp(-|x_i - x_j|²/2)"  # not symmetric
L = uniform() + 0.5
A = uniform(4)


def kernel(x, y=Y, l=L):
    return tilefold.kernel(PAIR, x=x, y=y, l=l)


def square(x):
    return tilefold.kernel("exp(-|x_i - x_j|²/2)", x=x)


def same(call, *arguments, **options):
    """A function compiled whole gives what it gives as it is."""
    torch._dynamo.reset()
    options = {"backend": "aot_eager", "fullgraph": True, **options}
    found = torch.compile(call, **options)(*arguments)
    assert_same(found, call(*arguments), 1e-10)


ASKED = {
    "product": lambda k: k @ B,
    "transposed": lambda k: k.T @ A,
    "from the left": lambda k: A @ k,
    "sum": lambda k: k.sum(1),
    "both": lambda k: k.sum(),
    "mean": lambda k: k.mean(axis=0),
    "maximum": lambda k: k.max(1),
    "places": lambda k: k.argmin(axis=1),
    "best": lambda k: k.topk(2, axis=1),
    "kept": lambda k: k.logsumexp(axis=1, keepdims=True),
    "dense": lambda k: k.dense(),
    "row": lambda k: k[1],
    "block": lambda k: k[1:3, :-1].dense(),
    "dots": lambda k: k[..., 2],
    "list": lambda k: k[[0, 2]] @ B,
    "pairs": lambda k: k[[0, 2], [1, 1]],
    "number": lambda k: (2 * k - 1) @ B,
    "function": lambda k: torch.exp(-k).sum(1),
    "method": lambda k: k.exp().sum(1),
    "torch's sum": lambda k: torch.mean(k, dim=1),
    "torch's product": lambda k: torch.matmul(k, B),
    "two": lambda k: (k * k + k) @ B,
    "array": lambda k: (k * B.numpy()).sum(1),
    "shape": lambda k: B * k.shape[0] + k.ndim + len(k),
    "dtype": lambda k: torch.ones(2, dtype=k.dtype, device=k.device),
}


def test_kernels_are_in_the_graph():
    def all_of_it(x, l):
        k = kernel(x, l=l)
        return [ask(k) for ask in ASKED.values()]

    same(all_of_it, X, L)


SQUARES = {
    "diagonal": lambda k: k.diag(),
    "trace": lambda k: k.trace(),
    "added": lambda k: k.add_diag(B) @ B,
    "solve": lambda k: k.solve(B, 0.1, rtol=1e-13),
    "told": lambda k: B * k.solve(B, 0.1, info=True)[1].converged,
    "logdet": lambda k: k.logdet(0.1),
    "likelihood": lambda k: k.inv_quad_logdet(B, True, ridge=0.1),
}


def test_square_kernels_and_systems():
    same(lambda x: [ask(square(x)) for ask in SQUARES.values()], Y)


def compared(k, w):
    """Operators of a kernel and a tensor, in both orders."""
    pairs = [
        f(*order)
        for f in (operator.sub, operator.truediv, operator.pow, operator.mod)
        for order in ((k, w), (w, k))
    ]
    pairs += [k + w, w * k, k // w, w // k]
    pairs += [k < w, w < k, k >= w, w >= k, k == w, k != w]
    return tuple([pair.sum(1) for pair in pairs])


def test_operators_keep_their_operands_in_order():
    """Beside a tensor Dynamo exchanges them; of a square matrix unseen."""
    for weights in (B[None], B[:, None]):
        same(
            lambda x, w: compared(tilefold.kernel(SQUARE, x=x), w),
            Y,
            weights,
            backend="eager",
        )


def test_products_from_both_sides_of_a_matrix_that_is_not_symmetric():
    def products(x):
        k = tilefold.kernel(SQUARE, x=x)
        return k @ B, B @ k, torch.matmul(B, k), torch.matmul(k, B)

    same(products, Y)


def test_roles_options_and_complex_values():
    options = tilefold.Options(tolerance=1e-6)
    same(
        lambda x: (
            tilefold.kernel(
                "exp(-|u - v|²)",
                u=tilefold.Vi(x),
                v=tilefold.Vj(Y),
                options=options,
            )
            @ B
        ),
        X,
    )
    spiral = "exp(im*|x_i - y_j|)"
    for ask in (lambda k: k @ B, lambda k: k.dense(), lambda k: k.imag.sum(1)):
        same(
            lambda x, ask=ask: torch.view_as_real(
                ask(tilefold.kernel(spiral, x=x, y=Y)) + 0j
            ),
            X,
        )


def test_transforms_inside():
    same(grad(lambda x: (kernel(x) @ B).sin().sum()), X)
    same(lambda x: jvp(lambda x: kernel(x) @ B, (x,), (x.cos(),)), X)
    same(
        lambda x, bs: vmap(lambda b: kernel(x) @ b)(bs),
        X,
        torch.stack([B, 2 * B]),
    )


def test_inductor_trains_a_module():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = tilefold.torch.Kernel(
                PAIR, learn={"l": 0.7}, positive=["l"], dtype=torch.float64
            )

        def forward(self, x, b):
            return (self.kernel(x, Y) @ b).sin()

    torch._dynamo.reset()
    model, leaf = Model(), X.clone().requires_grad_()
    other, same_leaf = copy.deepcopy(model), X.clone().requires_grad_()
    torch.compile(model, fullgraph=True)(leaf, B).sum().backward()
    other(same_leaf, B).sum().backward()
    assert_same(leaf.grad, same_leaf.grad)
    assert_same(model.kernel.raw_l.grad, other.kernel.raw_l.grad)


def sized(x, y, b):
    """What is asked of kernels of any sizes."""
    k, symmetric = kernel(x, y), square(y)
    return (
        k @ b,
        k.dense() @ b,
        k.mean(1),
        x * k.shape[1],
        symmetric.diag() * b,
        symmetric.solve(b, 0.1, rtol=1e-13),
        symmetric.logdet(0.1),
    )


@pytest.mark.parametrize(("dynamic", "graphs"), [(None, 2), (True, 1)])
def test_sizes_are_compiled_once(dynamic, graphs):
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(
        sized, backend=counter, fullgraph=True, dynamic=dynamic
    )
    for k in range(5):
        at = (uniform(4 + k, 3), uniform(7 + 2 * k, 3), uniform(7 + 2 * k))
        assert_same(compiled(*at), sized(*at), 1e-10)
    assert counter.frame_count == graphs


def of_sizes(x, y):
    return tilefold.kernel("exp(-|x_i - y_j|²)/M + N*D", x=x, y=y).sum(1)


def of_rows(x, y):
    return tilefold.kernel("x_i·y_j + i/N", x=x, y=y)[1 : len(x) - 1].sum(1)


def of_a_part(x, y):
    return kernel(x, y)[-len(y) // 3 :, : len(x) // 2].sum(0)


@pytest.mark.parametrize("call", [of_sizes, of_rows, of_a_part])
def test_what_reads_sizes_is_compiled_once(call):
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(call, backend=counter, fullgraph=True)
    for k in range(10):
        x, y = uniform(4 + k, 3), uniform(7 + 2 * k, 3)
        assert_same(compiled(x, y), call(x, y))
    assert counter.frame_count == 2
    expected = torch.exp(-squares(x, y)).mean(1) + 3 * len(x) * len(y)
    assert_same(of_sizes(x, y), expected)


@pytest.mark.parametrize(
    "call", [lambda l: kernel(X, l=l) @ B, lambda l: (l * kernel(X)) @ B]
)
def test_numbers_are_compiled_once(call):
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(call, backend=counter, fullgraph=True)
    for l in (0.5, 0.6, 0.7, 0.8):
        assert_same(compiled(l), call(l))
    assert counter.frame_count <= 2


def test_an_array_on_both_axes_beside_weights():
    """Where sizes are unknown, too: as many points on each axis."""
    f = tilefold.compile("sum_j exp(-|x_i - x_j|²) b_j")
    same(lambda x, b: f(x=x, b=b), Y, B, dynamic=True)
    same(lambda x, b: grad(lambda x: f(x=x, b=b).sum())(x), Y, B)


def test_exported_with_sizes_as_symbols(tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x, y, b):
            return (2 * kernel(x, y, 0.7)) @ b + kernel(x, y, 0.7).mean(1)

    n, m = torch.export.Dim("n"), torch.export.Dim("m")
    shapes = ({0: n}, {0: m}, {0: m})
    program = torch.export.export(
        Model(), (X, Y, B), dynamic_shapes=shapes, strict=False
    )
    program.run_decompositions()
    targets = [str(node.target) for node in program.graph.nodes]
    assert targets.count("tilefold.call.default") == 2
    path = str(tmp_path / "kernel.pt2")
    torch.export.save(program, path)
    loaded = torch.export.load(path).module()
    for count in (1, 3, 50):
        at = uniform(count, 3), Y, B
        assert_same(loaded(*at), Model()(*at))
    with pytest.raises(torch._dynamo.exc.Unsupported, match="strict=False"):
        torch.export.export(Model(), (X, Y, B), strict=True)


# ---- between graphs ----------------------------------------------------------


def test_kernels_go_from_graph_to_graph():
    def call(x):
        k = kernel(x)
        torch._dynamo.graph_break()
        return k @ B + B @ k.T + torch.exp(k).sum(1) - (k - B).sum(1)

    same(call, X, fullgraph=False)


def test_a_kernel_that_a_graph_returns_is_one():
    torch._dynamo.reset()
    found = torch.compile(
        lambda x: 2 * kernel(x).T, fullgraph=True, backend="aot_eager"
    )(X)
    expected = 2 * kernel(X).T
    assert isinstance(found, tilefold.Kernel)
    assert repr(found) == repr(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    for ask in (
        lambda k: k @ A,
        lambda k: B @ k,
        lambda k: torch.exp(k).sum(1),
        lambda k: np.exp(k).sum(1),
        lambda k: (A - k).sum(1),
        lambda k: k[1],
        lambda k: k.astype("float32").dense(),
        lambda k: k.topk(2, axis=1),
        lambda k: pickle.loads(pickle.dumps(k)) @ A,
    ):
        assert_same(ask(found), ask(expected))


@pytest.mark.parametrize(
    "call",
    [
        lambda _, k: k @ B + k.sum(1),
        lambda _, k: k.sum(1) + k.dense().sum(1),
        lambda x, _: f.grad("x")(x=x, y=Y, grad=x[:, 0]),
        lambda x, _: (
            (tilefold.lazy(x, axis="i") - tilefold.lazy(Y, axis="j"))
            .abs()
            .sum(-1)
            .sum(1)
        ),
        lambda x, _: tilefold.compile("sum_j x_i·y_j")(x=x, y=Y),
        lambda x, _: tilefold.kernel(lambda x, y: (x * y).sum(), x=x, y=Y) @ B,
        lambda x, _: tilefold.kernel(PAIR, x=x, y=Y, l=L, session=SESSION) @ B,
        lambda x, _: tilefold.kernel(PAIR, x=x, y=Y, l=L)[ROWS] @ B,
        lambda x, _: (
            tilefold.kernel("|x_i - y_j|", x=x, y=Y)
            .radius_neighbors(0.6)
            .indptr
        ),
    ],
)
def test_what_no_graph_has_is_computed_outside_of_it(call):
    k = kernel(X)
    same(lambda x: call(x, k), X, fullgraph=False, backend="eager")
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="tilefold: "):
        torch.compile(lambda x: call(x, k), fullgraph=True, backend="eager")(X)


f = tilefold.compile("sum_j exp(-|x_i - y_j|²)")
SESSION = tilefold.Session()
ROWS = torch.tensor([0, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: tilefold.kernel("sum_j x_i·y_j", x=x, y=Y), "reduces"),
        (lambda x: tilefold.kernel("x_i·y_j", x=x), "pass y="),
        (lambda x: kernel(x).sum(axis=5), "no axis 5"),
        (lambda x: kernel(x).solve(A), "as many rows as columns"),
        (lambda x: kernel(x)[9], "9"),
    ],
)
def test_mistakes_are_told_as_they_are(call, message):
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match=message):
        torch.compile(call, fullgraph=True, backend="aot_eager")(X)
    torch._dynamo.reset()
    with pytest.raises(tilefold.Error, match=message):
        torch.compile(call, backend="aot_eager")(X)


IN_ANOTHER_PROCESS = """
import torch, tilefold
from torch.func import grad
x, y = torch.rand(4, 2), torch.rand(5, 2)
of = lambda x: (tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=y) @ y[:, 0]).sum()
found = torch.compile(grad(of), fullgraph=True, backend="aot_eager")(x)
torch.testing.assert_close(found, grad(of)(x))
"""


def test_the_first_kernel_of_a_process_may_be_in_a_graph():
    """What Dynamo knows of trees is read before kernels come."""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IN_ANOTHER_PROCESS], check=True
    )
