# tests/gpu/test_torch_card.py - tensors of PyTorch on a card, end to end.
"""Results are compared with those of the same arrays in float64 on the CPU.

Skipped where PyTorch finds no card; `scripts/test --gpu` runs it.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("PyTorch finds no card", allow_module_level=True)

import tilefold  # noqa: E402

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
SIZES = [(1, 1), (7, 129), (257, 3), (1000, 4097), (5000, 3001)]


def numbers(*shape, seed=0, dtype=torch.float32):
    """Standard normal numbers, made on the host."""
    random = np.random.default_rng(seed)
    return torch.from_numpy(random.standard_normal(shape)).to(dtype)


def on_card(arrays):
    return {
        name: value.cuda() if isinstance(value, torch.Tensor) else value
        for name, value in arrays.items()
    }


def in_double(arrays):
    """The same numbers for the CPU."""
    return {
        name: value.double()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
        else value
        for name, value in arrays.items()
    }


def assert_close(found, wanted, tolerance):
    """Within `tolerance` of the largest number wanted."""
    assert found.is_cuda
    found, wanted = found.double().cpu(), wanted.double()
    assert found.shape == wanted.shape
    assert bool((found.isnan() == wanted.isnan()).all())
    scale = max(1e-300, float(wanted.nan_to_num().abs().max()))
    error = float((found - wanted).nan_to_num().abs().max()) / scale
    assert error <= tolerance, f"{error:.2g} > {tolerance:.2g}"


def agree(text, tolerance, options=None, **arrays):
    found = tilefold.reduce(text, options=options, **on_card(arrays))
    wanted = tilefold.reduce(text, **in_double(arrays))
    assert_close(found, wanted, tolerance)


def points(n, m, d, dtype=torch.float32):
    return {
        "x": numbers(n, d, seed=1, dtype=dtype),
        "y": numbers(m, d, seed=2, dtype=dtype),
        "b": numbers(m, seed=3, dtype=dtype),
        "l": float(d) ** 0.5,
    }


# ---- sizes, widths, dtypes --------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 16, 24, 33, 64, 100, 130])
@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("allowed", [0, 4e-7, 1e-5, 5e-3])
def test_gaussian_sums(d, n, m, allowed):
    options = tilefold.Options(tolerance=allowed)
    agree(GAUSSIAN, max(1e-5, 8 * allowed), options, **points(n, m, d))


@pytest.mark.parametrize("d", [2, 16, 40])
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_dtypes(d, dtype):
    limit = {"float64": 1e-12, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    agree(GAUSSIAN, limit, **points(700, 900, d, getattr(torch, dtype)))


@pytest.mark.parametrize("e", [1, 2, 3, 8, 31, 33, 64, 128, 200])
@pytest.mark.parametrize("allowed", [0, 1e-5, 5e-3])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_sums_of_vectors(e, allowed, n, m):
    options = tilefold.Options(tolerance=allowed)
    arrays = points(n, m, 5) | {"b": numbers(m, e)}
    agree(GAUSSIAN, max(1e-5, 8 * allowed), options, **arrays)


@pytest.mark.parametrize("d", [8, 32, 40, 64, 128])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("lay_out", ["rows", "heads", "columns"])
def test_attention(d, dtype, lay_out):
    def made(n, seed):
        shape = {
            "rows": (2, 3, n, d),
            "heads": (2, n, 3, d),
            "columns": (2, 3, d, n),
        }[lay_out]
        array = numbers(*shape, seed=seed, dtype=getattr(torch, dtype))
        moved = {"rows": (0, 1, 2, 3), "heads": (0, 2, 1, 3)}
        return array.permute(moved.get(lay_out, (0, 1, 3, 2)))

    limit = {"float32": 1e-5, "bfloat16": 2e-2, "float16": 3e-3}[dtype]
    text = "softmax_j(q_i·k_j/√D, v_j)"
    arrays = {"q": made(333, 1), "k": made(517, 2), "v": made(517, 3)}
    given = {name: value.cuda() for name, value in arrays.items()}
    # A copy to the card keeps strides.
    assert given["q"].stride() == arrays["q"].stride()
    found = tilefold.reduce(text, D=float(d), **given)
    wanted = tilefold.reduce(text, D=float(d), **in_double(arrays))
    assert_close(found, wanted, limit)


@pytest.mark.parametrize("d", [1, 3, 8, 64, 100])
@pytest.mark.parametrize("k", [1, 5, 40])
@pytest.mark.parametrize(("n", "m"), [(3, 60), (1000, 4097), (700, 70_000)])
def test_nearest(d, k, n, m):
    x, y = numbers(n, d, seed=1).cuda(), numbers(m, d, seed=2).cuda()
    places = tilefold.reduce(f"argkmin_j(|x_i - y_j|, {k})", x=x, y=y)
    distances = torch.cdist(x.double(), y.double())
    wanted = distances.topk(k, 1, largest=False).values
    found = distances.gather(1, places.long().reshape(n, k))
    assert (found - wanted).abs().max() <= 2e-6 * wanted.max()
    assert (places.reshape(n, k).sort(1).values.diff(dim=1) != 0).all()


FORMULAS = {
    "map": "sin(x_i) + 1",
    "one axis": "sum_i exp(-|x_i|²)",
    "largest of one axis": "argmax_i |x_i|",
    "nearest": "argmin_j |x_i - y_j|",
    "largest": "max_i x_i·y_j",
    "all": "max_ij x_i·y_j",
    "sum of all": "sum_ij exp(-|x_i - y_j|²) b_j",
    "logsumexp": "logsumexp_j(b_j - |x_i - y_j|²)",
    "masked": "sum_j where(j <= i, x_i·y_j, 0)",
    "mean": "mean_j cos(|x_i - y_j|)",
    "variance": "var_j (x_i·y_j)",
    "product": "prod_j (1 + exp(-|x_i - y_j|²)/100)",
    "count": "sum_j where(|x_i - y_j| < 1, 1, 0)",
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_formulas(name, n, m):
    text = FORMULAS[name]
    arrays = {k: v for k, v in points(n, m, 3).items() if k != "l"}
    names = [k for k in arrays if f"{k}_" in text]
    agree(text, 2e-5, **{k: arrays[k] for k in names})


def test_many_points_agree_with_float64():
    given = on_card(points(300_000, 300_000, 3))
    found = tilefold.reduce(GAUSSIAN, **given)
    rows = torch.arange(0, 300_000, 9001, device="cuda")
    x, y, b = (given[k].double() for k in "xyb")
    kernel = torch.exp(-(torch.cdist(x[rows], y) ** 2) / (2 * given["l"] ** 2))
    sizes = kernel @ b.abs()
    assert ((found[rows].double() - kernel @ b).abs() / sizes).max() < 1e-6


# ---- calls ------------------------------------------------------------------


def test_bits_are_the_same_in_every_call():
    given = on_card(points(3000, 5000, 3))
    first = tilefold.reduce(GAUSSIAN, **given)
    for _ in range(20):
        assert torch.equal(tilefold.reduce(GAUSSIAN, **given), first)


@pytest.mark.parametrize("name", ["x", "y", "b", "l"])
def test_gradients(name):
    arrays = points(300, 400, 3)
    arrays["l"] = torch.tensor(1.3)
    results = []
    for given in (on_card(arrays), in_double(arrays)):
        leaf = given[name].detach().requires_grad_()
        out = tilefold.reduce(GAUSSIAN, **(given | {name: leaf}))
        out.square().sum().backward()
        results.append(leaf.grad)
    assert_close(results[0], results[1].cpu(), 2e-5)


def test_gradients_of_attention():
    arrays = {name: numbers(2, 200, 16, seed=k) for k, name in enumerate("qkv")}
    results = []
    for given in (on_card(arrays), in_double(arrays)):
        leaves = {k: v.detach().requires_grad_() for k, v in given.items()}
        out = tilefold.reduce("softmax_j(q_i·k_j/4, v_j)", **leaves)
        out.square().sum().backward()
        results.append([leaf.grad for leaf in leaves.values()])
    for found, wanted in zip(*results, strict=True):
        assert_close(found, wanted, 2e-5)


def test_another_stream_waits_for_what_is_queued_on_it():
    given = on_card(points(2000, 2000, 3))
    wanted = tilefold.reduce(GAUSSIAN, **given)
    stream = torch.cuda.Stream()
    late = torch.zeros_like(given["b"])
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        late.copy_(given["b"])
        found = tilefold.reduce(GAUSSIAN, **(given | {"b": late}))
    stream.synchronize()
    assert torch.equal(found, wanted)


def test_out_and_accumulate():
    given = on_card(points(500, 600, 3))
    wanted = tilefold.reduce(GAUSSIAN, **given)
    memory = torch.zeros(500, 2, device="cuda")
    formula = tilefold.compile(GAUSSIAN)
    assert formula(given, out=memory[:, 1]) is not None
    assert torch.equal(memory[:, 1], wanted)
    formula(given, out=memory[:, 1], accumulate=True)
    torch.testing.assert_close(memory[:, 1], 2 * wanted)
    assert not memory[:, 0].any()


def test_a_graph_of_calls():
    """Captured once, replayed with other numbers."""
    given = on_card(points(2000, 2000, 3))
    out = torch.zeros(2000, device="cuda")
    formula = tilefold.compile(GAUSSIAN)
    formula(given, out=out)  # compiled, and its memory taken, before
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        formula(given, out=out)
    given["b"].mul_(-3)
    graph.replay()
    wanted = tilefold.reduce(GAUSSIAN, **given)
    assert torch.equal(out, wanted)


def test_threads_on_streams_of_their_own():
    given = on_card(points(2000, 2000, 3))
    wanted = tilefold.reduce(GAUSSIAN, **given)
    torch.cuda.synchronize()
    wrong = []

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                found = tilefold.reduce(GAUSSIAN, **given)
                if not torch.equal(found, wanted):
                    wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_calls_keep_no_memory():
    """A call's states take 8 MB and more; other processes take less than what
    all of them would."""
    given = on_card(points(1_000_000, 2000, 3))
    for _ in range(3):
        tilefold.reduce(GAUSSIAN, **given)
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(1000):
        tilefold.reduce(GAUSSIAN, **given)
    torch.cuda.synchronize()
    assert before - torch.cuda.mem_get_info()[0] < 4 << 30


def test_chosen_pairs():
    random = np.random.default_rng(0)
    rows, columns = np.arange(0, 3001, 100), np.arange(0, 4001, 100)
    chosen = random.random((30, 40)) < 0.3
    ranges = tilefold.Ranges(rows, columns, chosen)
    arrays = {k: v for k, v in points(3000, 4000, 3).items() if k != "l"}
    for text in (
        "sum_j exp(-|x_i - y_j|²) b_j",
        "sum_i exp(-|x_i - y_j|²)",
        "argkmin_j(|x_i - y_j|, 3)",
    ):
        names = [k for k in arrays if f"{k}_" in text]
        given = {k: arrays[k] for k in names}
        found = tilefold.reduce(text, ranges=ranges, **on_card(given))
        wanted = tilefold.reduce(text, ranges=ranges, **in_double(given))
        assert_close(found, wanted, 2e-5)


def test_kernels_are_matrices():
    arrays = {"x": numbers(300, 3, seed=1), "y": numbers(400, 3, seed=2)}
    text = "exp(-|x_i - y_j|²/2)"
    there = tilefold.kernel(text, **on_card(arrays))
    here = tilefold.kernel(text, **in_double(arrays))
    b, c = numbers(400), numbers(300)
    for found, wanted in [
        (there @ b.cuda(), here @ b.double()),
        (there.T @ c.cuda(), here.T @ c.double()),
        (there.dense(), here.dense()),
        (there.sum(0), here.sum(0)),
        (there.argkmin(3, axis=1), here.argkmin(3, axis=1)),
        ((2 * there + there**2).sum(1), (2 * here + here**2).sum(1)),
        (there[3:9].dense(), here[3:9].dense()),
        (there[3], here[3]),
        (there[[4, 9, 1]].dense(), here[[4, 9, 1]].dense()),
    ]:
        assert_close(found, wanted, 2e-6)


# ---- arrays of the host and of other libraries -------------------------------


@pytest.mark.parametrize("size", [1 << 20, 1 << 28])
def test_arrays_of_the_host_come_in_pieces(size):
    arrays = points(20_000, 30_000, 3)
    options = tilefold.Options(devices="cuda", device_bytes=size)
    found = tilefold.reduce(GAUSSIAN, options=options, **arrays)
    assert not found.is_cuda
    there = tilefold.reduce(GAUSSIAN, **on_card(arrays))
    assert torch.equal(found, there.cpu())


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    arrays = points(500, 600, 3)
    given = {
        k: cupy.asarray(v.numpy()) if k != "l" else v for k, v in arrays.items()
    }
    found = tilefold.reduce(GAUSSIAN, **given)
    assert isinstance(found, cupy.ndarray)
    wanted = tilefold.reduce(GAUSSIAN, **on_card(arrays))
    assert np.array_equal(cupy.asnumpy(found), wanted.cpu().numpy())


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    arrays = points(500, 600, 3)
    given = {
        k: jax.numpy.asarray(v.numpy()) if k != "l" else v
        for k, v in arrays.items()
    }
    if next(iter(given["x"].devices())).platform != "gpu":
        pytest.skip("JAX finds no card")
    found = tilefold.reduce(GAUSSIAN, **given)
    wanted = tilefold.reduce(GAUSSIAN, **on_card(arrays))
    assert np.array_equal(np.asarray(found), wanted.cpu().numpy())
