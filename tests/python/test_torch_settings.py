# tests/python/test_torch_settings.py - ranges, codes, sessions, sums over
# batches and out= where PyTorch transforms or compiles a call.
from __future__ import annotations

import json

import pytest
import torch
from torch.func import grad, hessian, jvp, vmap
from torch.fx.experimental.proxy_tensor import make_fx

import tilefold
import tilefold.torch
from torch_cases import B, X, Y, assert_same, squares, uniform

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

f = tilefold.compile("sum_j exp(-|x_i - y_j|²) b_j")
RANGES = tilefold.Ranges([0, 2, 4], [0, 3, 5], [[True, False], [True, True]])
OTHERS = tilefold.Ranges([0, 2, 4], [0, 3, 5], [[True, True], [False, True]])


def compiled(call, **options):
    torch._dynamo.reset()
    options = {"fullgraph": True, "backend": "aot_eager", **options}
    return torch.compile(call, **options)


# ---- ranges ------------------------------------------------------------------


def chosen(x, ranges=RANGES):
    return f(x=x, y=Y, b=B, ranges=ranges)


def dense(x, ranges=RANGES):
    mask = torch.from_numpy(ranges.mask(4, 5))
    return torch.where(mask, torch.exp(-squares(x, Y)), 0) @ B


def test_ranges_in_transforms():
    clouds = torch.stack([X, 2 * X])
    for transform in (
        lambda f: grad(lambda x: f(x).sin().sum()),
        lambda f: hessian(lambda x: f(x).sin().sum()),
        lambda f: lambda x: jvp(f, (x,), (x.cos(),)),
    ):
        assert_same(transform(chosen)(X), transform(dense)(X))
        assert_same(
            vmap(transform(chosen))(clouds), vmap(transform(dense))(clouds)
        )
    traced = make_fx(lambda x: chosen(x))(X)
    assert_same(traced(2 * X), dense(2 * X))


def test_ranges_of_batches_in_vmap():
    visit = [[[True, False], [True, True]], [[False, True], [True, True]]]
    ranges = tilefold.Ranges([0, 2, 4], [0, 3, 5], visit)
    clouds = torch.stack([X, 2 * X])

    def of(clouds):
        return f(x=clouds, y=Y[None], b=B[None, :, None], ranges=ranges)

    several = torch.stack([clouds, clouds + 1, clouds - 1])
    assert_same(vmap(of)(several), torch.stack([of(c) for c in several]))


def test_ranges_in_a_graph():
    call = compiled(chosen)
    for ranges in (RANGES, OTHERS, RANGES):
        assert_same(call(X, ranges), dense(X, ranges))
    kernels = compiled(
        lambda x, ranges: (
            2 * tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=Y, ranges=ranges)
        ).T.sum(0)
    )
    for ranges in (RANGES, OTHERS):
        mask = torch.from_numpy(ranges.mask(4, 5))
        expected = torch.where(mask, 2 * torch.exp(-squares(X, Y)), 0).sum(1)
        assert_same(kernels(X, ranges), expected)


def test_what_are_no_ranges_is_refused():
    with pytest.raises(tilefold.Error, match="ranges") as inside:
        grad(lambda x: f(x=x, y=Y, b=B, ranges=[[0, 1]]).sum())(X)
    assert "Ranges" in str(inside.value)


# ---- codes -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bits", [8, 16])
def test_codes_beside_tensors_of_a_transform(dtype, bits):
    codes, x = tilefold.quantize(Y.numpy(), bits), X.to(dtype)
    b = B.to(dtype)

    def of(x):
        return f(x=x, y=codes, b=b)

    def expected(x):
        y = torch.from_numpy(codes.dequantize())
        return (torch.exp(-squares(x.double(), y)) @ B).to(dtype)

    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    assert_same(of(x), expected(x), tolerance)
    assert_same(
        grad(lambda x: of(x).sin().sum())(x),
        grad(lambda x: expected(x).sin().sum())(x),
        tolerance,
    )
    assert_same(vmap(of)(x[None])[0], of(x), tolerance)
    assert_same(compiled(of)(x), of(x), tolerance)
    assert_same(
        compiled(
            lambda x: tilefold.kernel("exp(-|x_i - y_j|²)", x=x, y=codes) @ b
        )(x),
        of(x),
        tolerance,
    )


def test_other_codes_are_not_those_of_the_first_call():
    call = compiled(lambda x, codes: f(x=x, y=codes, b=B))
    for scale in (1, 2):
        codes = tilefold.quantize(scale * Y.numpy())
        assert_same(call(X, codes), f(x=X, y=codes, b=B), 1e-12)


# ---- sessions ----------------------------------------------------------------


def test_the_settings_of_a_formula_s_session_are_kept():
    session = tilefold.Session(tilefold.Options(tolerance=1e-3))
    coarse = tilefold.compile("sum_j exp(-|x_i - y_j|²)", session=session)
    said = json.loads(tilefold.torch.spec(coarse, ["x", "y"]))
    assert said["options"] == {"tolerance": 1e-3}
    fine = tilefold.Options(tolerance=1e-9)
    said = tilefold.torch.spec(coarse, ["x", "y"], options=fine)
    assert json.loads(said)["options"] == {"tolerance": 1e-9}
    assert_same(vmap(lambda x: coarse(x=x, y=Y))(X[None])[0], coarse(x=X, y=Y))


@pytest.mark.parametrize("name", ["session", "out", "accumulate"])
def test_what_no_graph_keeps_is_refused_in_it_and_done_outside(name):
    settings = {
        "session": {"session": tilefold.Session()},
        "out": {"out": torch.zeros(4, dtype=torch.float64)},
        "accumulate": {
            "out": torch.zeros(4, dtype=torch.float64),
            "accumulate": True,
        },
    }[name]

    def call(x):
        return f(x=x, y=Y, b=B, **settings) + 0

    with pytest.raises(torch._dynamo.exc.Unsupported, match="leave it out"):
        compiled(call)(X)
    expected = f(x=X, y=Y, b=B)
    assert_same(compiled(call, fullgraph=False)(X), expected)
    if "out" in settings:
        assert_same(settings["out"], expected)


@pytest.mark.parametrize(
    "transform",
    [
        lambda call: vmap(call)(X[None]),
        lambda call: grad(lambda x: call(x).sum())(X),
        lambda call: jvp(call, (X,), (X,)),
        lambda call: make_fx(call)(X),
        lambda call: call(X.to("meta")),
        lambda call: torch.jit.trace(call, X),
    ],
)
def test_out_is_refused_where_pytorch_looks(transform):
    out = torch.zeros(4, dtype=torch.float64)
    with pytest.raises(tilefold.Error):
        transform(lambda x: f(x=x, y=Y, b=B, out=out))
    assert not out.any()


# ---- sums over batches -------------------------------------------------------


def summed(x):
    return f(x=x, y=Y[None], b=B[None, :, None], sum_batch=0)


def test_sums_over_batches():
    clouds = torch.stack([X, 2 * X])
    expected = sum(f(x=x, y=Y, b=B) for x in clouds)[:, None]
    assert_same(summed(clouds), expected)
    assert_same(compiled(summed)(clouds), expected)
    several = torch.stack([clouds, clouds + 1])
    assert_same(
        vmap(summed)(several), torch.stack([summed(c) for c in several])
    )
    assert_same(
        grad(lambda c: summed(c).sin().sum())(clouds),
        grad(
            lambda c: sum(torch.exp(-squares(x, Y)) @ B for x in c).sin().sum()
        )(clouds),
    )


@pytest.mark.parametrize("dimensions", [1, -1, (0, 1)])
def test_sums_over_points_are_refused_as_outside(dimensions):
    clouds = torch.stack([X, 2 * X])

    def call(x):
        return f(x=x, y=Y[None], b=B[None, :, None], sum_batch=dimensions).sum()

    with pytest.raises(tilefold.ArgumentError) as outside:
        call(clouds)
    for transform in (grad, lambda g: lambda x: vmap(g)(x[None])):
        with pytest.raises(tilefold.ArgumentError) as inside:
            transform(call)(clouds)
        assert str(inside.value) == str(outside.value)
    with pytest.raises(tilefold.ArgumentError) as inside:
        compiled(call, fullgraph=False)(clouds)
    assert str(inside.value) == str(outside.value)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="sum_batch"):
        compiled(call)(clouds)


def test_sizes_of_a_batch_are_no_matter():
    call = compiled(summed, dynamic=True)
    for count in (2, 3, 5):
        clouds = uniform(count, 4, 3)
        assert_same(call(clouds), summed(clouds))
