# tests/python/test_torch_operator.py - formulas under what looks at each
# operation of PyTorch's: traces, modes, torch.compile, export.
from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

import tilefold
import tilefold.torch
from torch_cases import CASES, B, X, Y, assert_same, squares, uniform

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
]

TEXT = CASES["number"].text
L = uniform() + 0.5
ALL = (X, Y, B, L)
f = tilefold.compile(TEXT)
by_two = f.grad(["x", "b"])


def gaussian(x, y, b, l):
    """The formula by its keywords."""
    return f(x=x, y=y, b=b, l=l)


def dense(x, y, b, l):
    return torch.exp(-squares(x, y) / (2 * l**2)) @ b


def number(*values):
    return gaussian(*values).sin().sum()


def leaves():
    return [value.clone().requires_grad_() for value in ALL]


def spec():
    return tilefold.torch.spec(f, ["x", "y", "b", "l"])


# ---- the operator itself -----------------------------------------------------


def test_pytorch_s_own_check_of_an_operator():
    for values in (list(ALL), leaves()):
        found = torch.library.opcheck(torch.ops.tilefold.call, (spec(), values))
        assert set(found.values()) == {"SUCCESS"}


def test_a_spec_is_text_that_says_all():
    said = json.loads(spec())
    assert said["formula"] == TEXT
    assert said["names"] == ["x", "y", "b", "l"]
    of_text = tilefold.torch.spec(TEXT, ["x", "y", "b", "l"])
    assert torch.equal(
        torch.ops.tilefold.call(of_text, list(ALL))[0], gaussian(*ALL)
    )


def test_a_spec_has_roles_and_options():
    text = tilefold.torch.spec(
        "sum_j exp(-|u - v|²)",
        ["u", "v"],
        roles=[1, 2],
        options=tilefold.Options(tolerance=1e-6),
    )
    (found,) = torch.ops.tilefold.call(text, [X, Y])
    assert_same(found, torch.exp(-squares(X, Y)).sum(1))
    assert json.loads(text)["options"] == {"tolerance": 1e-6}


def test_a_script_calls_it_and_is_saved(tmp_path):
    @torch.jit.script
    def call(text: str, x: torch.Tensor, y: torch.Tensor, b: torch.Tensor):
        one = torch.ones(())
        return torch.ops.tilefold.call(text, [x, y, b, one])[0]

    path = tmp_path / "script.pt"
    call.save(str(path))
    x = X.clone().requires_grad_()
    torch.jit.load(str(path))(spec(), x, Y, B).sum().backward()
    one = torch.ones(())
    assert_same(x.grad, grad(lambda x: dense(x, Y, B, one).sum())(X))


# ---- traces and modes --------------------------------------------------------


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_a_trace_keeps_no_result_as_a_constant(mode):
    from torch.fx.experimental.proxy_tensor import make_fx

    for call in (gaussian, grad(number)):
        traced = make_fx(call, tracing_mode=mode)(*ALL)
        at = (2 * X, *ALL[1:])
        assert_same(traced(*at), call(*at))


def test_jit_trace_records_the_operator():
    traced = torch.jit.trace(gaussian, ALL)
    at = (2 * X, *ALL[1:])
    assert_same(traced(*at), dense(*at))


@pytest.mark.parametrize("name", CASES)
def test_fake_and_meta_tensors_have_the_shapes_of_results(name):
    from torch._subclasses.fake_tensor import FakeTensorMode

    case = CASES[name]
    formula = tilefold.compile(case.text)
    formulas = [
        (formula, case.arguments),
        (
            formula.grad(list(case.arguments), cotangent="g"),
            {**case.arguments, "g": torch.ones_like(formula(case.arguments))},
        ),
    ]
    mode = FakeTensorMode()
    for g, arguments in formulas:
        real = _as_tuple(g(arguments))
        with mode:
            fake = _as_tuple(
                g({k: mode.from_tensor(v) for k, v in arguments.items()})
            )
        meta = _as_tuple(g({k: v.to("meta") for k, v in arguments.items()}))
        for one, two, three in zip(real, fake, meta, strict=True):
            assert one.shape == two.shape == three.shape
            assert one.dtype == two.dtype == three.dtype
            assert one.stride() == two.stride() == three.stride()
            assert three.device.type == "meta"


def _as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def test_fake_tensors_of_a_card_give_results_there():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x, y, b = (
            torch.empty(shape, device="cuda") for shape in ((4, 3), (5, 3), 5)
        )
        found = f(x=x, y=y, b=b, l=0.5)
        gradient = f.grad("x")(x=x, y=y, b=b, l=0.5, grad=found)
    assert found.device.type == gradient.device.type == "cuda"
    assert (found.shape, gradient.shape) == ((4,), (4, 3))


class Seen(torch.Tensor):
    """A class that sees each function of its tensors."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class Silent(torch.Tensor):
    """A class with nothing of its own."""


def test_classes_of_tensors():
    found = gaussian(X.as_subclass(Seen), *ALL[1:])
    assert isinstance(found, Seen)
    assert_same(found.as_subclass(torch.Tensor), dense(*ALL))
    assert_same(gaussian(X.as_subclass(Silent), *ALL[1:]), dense(*ALL))


def test_autocast_narrows_nothing():
    narrow = [value.bfloat16() for value in ALL[:3]]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = gaussian(*narrow, L)
        wide = gaussian(*(value.float() for value in ALL))
        mapped = vmap(lambda b: gaussian(narrow[0], narrow[1], b, L))(
            narrow[2][None]
        )[0]
        leaf = narrow[0].clone().requires_grad_()
        gaussian(leaf, narrow[1], narrow[2], L).sum().backward()
    assert found.dtype == wide.dtype == mapped.dtype == torch.float32
    assert leaf.grad.dtype == torch.bfloat16
    exact = dense(*(value.double() for value in (*narrow, L)))
    assert_same(found.double(), exact, 1e-5)
    assert torch.equal(found, mapped)
    assert_same(wide.double(), dense(*ALL), 1e-5)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpoint(reentrant):
    from torch.utils.checkpoint import checkpoint

    values = leaves()
    checkpoint(gaussian, *values, use_reentrant=reentrant).sum().backward()
    expected = grad(lambda *v: dense(*v).sum(), (0, 1, 2, 3))(*ALL)
    assert_same([value.grad for value in values], list(expected))


def test_what_a_trace_cannot_write_to_is_refused():
    with pytest.raises(tilefold.Error, match="tracer"):
        vmap(lambda b: f(x=X, y=Y, b=b, l=L, out=torch.empty(4).double()))(
            B[None]
        )


# ---- torch.compile -----------------------------------------------------------

COMPILED = {
    "value": gaussian,
    "mapping": lambda x, y, b, l: f({"x": x, "y": y, "b": b, "l": l}),
    "reduce": lambda x, y, b, l: tilefold.reduce(TEXT, x=x, y=y, b=b, l=l),
    "role": lambda x, y, b, l: f(x=tilefold.Vi(x), y=y, b=b, l=l),
    "a number": lambda x, y, b, _: f(x=x, y=y, b=b, l=0.5),
    "two at once": lambda x, y, b, l: by_two(x=x, y=y, b=b, l=l, grad=x[:, 0]),
    "grad": grad(number, (0, 1, 2, 3)),
    "jvp": lambda *values: jvp(gaussian, values, values),
    "vmap": lambda x, y, b, l: vmap(lambda b: gaussian(x, y, b, l))(
        torch.stack([b, 2 * b])
    ),
    "jacrev": jacrev(gaussian, (0, 1, 2, 3)),
    "jacfwd": jacfwd(gaussian, (0, 1, 2, 3)),
    "hessian": hessian(number, (0, 1, 2, 3)),
    "vmap of grad": lambda x, y, b, l: vmap(
        lambda b: grad(number, (0, 1, 2, 3))(x, y, b, l)
    )(torch.stack([b, 2 * b])),
}


# Of PyTorch 2.13, jacfwd of any function is wrong where sizes are symbols.
WRONG_IN_TORCH = ("jacfwd", "hessian")


@pytest.mark.parametrize(
    ("name", "dynamic"),
    [(name, False) for name in COMPILED]
    + [(name, True) for name in COMPILED if name not in WRONG_IN_TORCH],
)
def test_compiled_whole(name, dynamic):
    torch._dynamo.reset()
    call = COMPILED[name]
    compiled = torch.compile(
        call, fullgraph=True, backend="aot_eager", dynamic=dynamic
    )
    assert_same(compiled(*ALL), call(*ALL))


def test_compiled_by_inductor_with_a_backward_pass():
    torch._dynamo.reset()
    values, others = leaves(), leaves()
    compiled = torch.compile(lambda *v: gaussian(*v).sin(), fullgraph=True)
    compiled(*values).sum().backward()
    number(*others).backward()
    for one, other in zip(values, others, strict=True):
        assert_same(one.grad, other.grad)


@pytest.mark.parametrize(("dynamic", "graphs"), [(None, 2), (True, 1)])
def test_sizes_are_compiled_once(dynamic, graphs):
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(
        gaussian, backend=counter, fullgraph=True, dynamic=dynamic
    )
    for k in range(10):
        at = (uniform(4 + k, 3), uniform(7 + 2 * k, 3), uniform(7 + 2 * k), L)
        assert_same(compiled(*at), dense(*at))
    assert counter.frame_count == graphs


def test_numbers_and_formulas_are_compiled_once():
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(
        lambda l: f(x=X, y=Y, b=B, l=l), backend=counter, fullgraph=True
    )
    for l in (0.5, 0.6, 0.7, 0.8):
        assert_same(compiled(l), f(x=X, y=Y, b=B, l=l))
    assert counter.frame_count <= 2
    counter = CompileCounter()
    compiled = torch.compile(
        lambda g, x: g(x=x, y=Y), backend=counter, fullgraph=True
    )
    texts = ("sum_j |x_i - y_j|", "sum_j |x_i - y_j|", "sum_j x_i·y_j")
    alive = [tilefold.compile(text) for text in texts]
    for formula in alive:
        compiled(formula, X)
    assert counter.frame_count == 2


class Module(torch.nn.Module):
    """A formula with a parameter to learn."""

    def __init__(self):
        super().__init__()
        self.l = torch.nn.Parameter(L.clone())

    def forward(self, x, y, b):
        return f(x=x, y=y, b=b, l=self.l)


IN_ANOTHER_PROCESS = """
import sys, torch, tilefold.torch
loaded = torch.export.load(sys.argv[1]).module()
x, y, b = torch.load(sys.argv[2])
torch.save(loaded(x, y, b), sys.argv[3])
"""


@pytest.mark.parametrize("strict", [True, False])
def test_exported_and_loaded_by_another_process(tmp_path, strict):
    n, m = torch.export.Dim("n"), torch.export.Dim("m")
    program = torch.export.export(
        Module(),
        (X, Y, B),
        dynamic_shapes=({0: n}, {0: m}, {0: m}),
        strict=strict,
    )
    program.run_decompositions()
    paths = [str(tmp_path / name) for name in ("e.pt2", "in.pt", "out.pt")]
    torch.export.save(program, paths[0])
    for count in (1, 3, 100):
        at = uniform(count, 3)
        assert_same(program.module()(at, Y, B), dense(at, Y, B, L))
    torch.save((uniform(9, 3), Y, B), paths[1])
    subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, *paths],
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert_same(torch.load(paths[2]).detach(), dense(uniform(9, 3), Y, B, L))


def test_packed_by_aot_inductor(tmp_path):
    n, m = torch.export.Dim("n"), torch.export.Dim("m")
    program = torch.export.export(
        Module(), (X, Y, B), dynamic_shapes=({0: n}, {0: m}, {0: m})
    )
    path = torch._inductor.aoti_compile_and_package(
        program, package_path=str(tmp_path / "package.pt2")
    )
    loaded = torch._inductor.aoti_load_package(path)
    with torch.no_grad():
        for count in (1, 3, 100):
            at = uniform(count, 3)
            assert_same(loaded(at, Y, B), dense(at, Y, B, L))


# ---- nothing is left behind --------------------------------------------------


def test_no_tensor_is_kept():
    import gc

    def count():
        gc.collect()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(
                isinstance(value, torch.Tensor) for value in gc.get_objects()
            )

    def once():
        grad(lambda *v: grad(number)(*v).sum())(*ALL)
        jvp(gaussian, ALL, ALL)
        vmap(lambda b: gaussian(X, Y, b, L))(B[None])
        x = X.clone().requires_grad_()
        (g,) = torch.autograd.grad(
            gaussian(x, Y, B, L).sum(), x, create_graph=True
        )
        g.sin().sum().backward()

    once()
    before = count()
    for _ in range(50):
        once()
    assert count() <= before + 2
