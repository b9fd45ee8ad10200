# tests/python/test_gpu.py - arrays on a GPU, end to end, where there is none: a
# fake driver runs what a fake compiler makes of the emitted CUDA C++.
from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fake_gpu
import tilefold
from fake_gpu import agree, numbers

#: Of what takes long, another third each day.
pytestmark = pytest.mark.sample(0.34)

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"


X, Y, B = numbers(50, 3), numbers(60, 3, seed=1), numbers(60, seed=2)
W = numbers(60, 11, seed=3)
MANY = numbers(5000, 3, seed=4)
SMALL = np.random.default_rng(5).integers(-9, 9, (60, 3)).astype(np.int8)


def on_device(value):
    return fake_gpu.array(value) if np.ndim(value) else value


def both(formula, session, run=None, **arrays):
    """The results on the fake device and on the CPU."""
    run = run or (lambda f, given: f(given))
    given = {name: on_device(value) for name, value in arrays.items()}
    there = run(tilefold.compile(formula, session=session), given)
    here = run(tilefold.compile(formula), arrays)
    if not isinstance(here, tuple):
        there, here = (there,), (here,)
    assert all(isinstance(each, fake_gpu.Array) for each in there)
    return [fake_gpu.numpy(each) for each in there], list(here)


FORMULAS = {
    "gaussian": (GAUSSIAN, {"x": X, "y": Y, "b": B, "l": 0.5}),
    "wide": (GAUSSIAN, {"x": X, "y": Y, "b": W, "l": 0.5}),
    "double": (
        GAUSSIAN,
        {"x": X.astype("f8"), "y": Y.astype("f8"), "b": B.astype("f8"), "l": 2},
    ),
    "half": (
        GAUSSIAN,
        {"x": X.astype("f2"), "y": Y.astype("f2"), "b": B, "l": 1},
    ),
    "bytes": ("sum_j (x_i·y_j)²", {"x": SMALL[:20], "y": SMALL}),
    "few rows": (GAUSSIAN, {"x": X[:3], "y": MANY, "b": MANY[:, 0], "l": 1}),
    "few nearest": ("argkmin_j(|x_i - y_j|, 4)", {"x": X[:3], "y": MANY}),
    "few in all": ("max_ij x_i·y_j", {"x": X[:3], "y": MANY}),
    "few wide": ("softmax_j(x_i·y_j, y_j)", {"x": X[:3], "y": MANY}),
    "one axis": ("sum_i exp(-|x_i|²)", {"x": MANY}),
    "largest of one axis": ("argmax_i |x_i|", {"x": MANY}),
    "nearest": ("argmin_j(|x_i - y_j|)", {"x": X, "y": Y}),
    "nearest 4": ("argkmin_j(|x_i - y_j|, 4)", {"x": X, "y": Y}),
    "largest": ("max_i(x_i·y_j)", {"x": X, "y": Y}),
    "logsumexp": ("logsumexp_j(b_j - |x_i - y_j|²)", {"x": X, "y": Y, "b": B}),
    "attention": ("softmax_j(x_i·y_j, b_j)", {"x": X, "y": Y, "b": W}),
    "both axes": ("sum_ij exp(-|x_i - y_j|²) b_j", {"x": X, "y": Y, "b": B}),
    "a map": ("sin(x_i)*1.1 + 2", {"x": X[:, 0].copy()}),
    "matrix": ("sum_j (A@y_j)·x_i", {"A": numbers(3, 3), "x": X, "y": Y}),
    "points": ("sum_j exp(-|x_i - x_j|²) / N with N = 3", {"x": X}),
    "masked": ("sum_j where(j <= i, x_i·y_j, 0)", {"x": X, "y": Y}),
    "complex": ("sum_j exp(im*|x_i - y_j|) b_j", {"x": X, "y": Y, "b": B}),
    "table": (
        "sum_j A[r_i] b_j",
        {"A": numbers(4), "r": np.arange(50) % 4, "b": B},
    ),
    "long vectors": (
        GAUSSIAN,
        {"x": numbers(50, 40), "y": numbers(60, 40, seed=6), "b": B, "l": 4},
    ),
    "Bessel": (
        "sum_j besselk(1, |x_i - y_j| + 1) b_j",
        {"x": X, "y": Y, "b": B},
    ),
    "welford": (
        "fold_j(x_i·y_j, [0, 0], add, join) with "
        "add(s, f) = s + [1, f], join(s, t) = s + t",
        {"x": X, "y": Y},
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.usefixtures("driver")
def test_results_are_those_of_the_cpu(name, gpu_session):
    formula, arrays = FORMULAS[name]
    tolerance = 2e-3 if name == "half" else 3e-6
    agree(*both(formula, gpu_session, **arrays), tolerance)


@pytest.mark.usefixtures("driver")
def test_chosen_pairs_are_those_of_the_cpu(gpu_session):
    tiles = np.array([[True, False, True], [False, False, False]])
    ranges = tilefold.Ranges([0, 21, 50], [0, 9, 30, 60], tiles)
    for formula in ("sum_j exp(-|x_i - y_j|²)", "sum_i exp(-|x_i - y_j|²)"):
        out = tilefold.reduce(
            formula,
            x=fake_gpu.array(X),
            y=fake_gpu.array(Y),
            ranges=ranges,
            session=gpu_session,
        )
        wanted = tilefold.reduce(formula, x=X, y=Y, ranges=ranges)
        agree([fake_gpu.numpy(out)], [wanted])


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("rows", [[3, 41, 0, -1], slice(40, None, -3)])
def test_chosen_rows_keep_their_numbers(rows, gpu_session):
    """Of a formula that reads i and j."""
    text = "where(j <= i, exp(-|x_i - y_j|²), 0)"
    kernel = tilefold.kernel(
        text, x=fake_gpu.array(X), y=fake_gpu.array(Y), session=gpu_session
    )
    on_host = tilefold.kernel(text, x=X, y=Y)
    for chosen in (rows, (slice(None), rows)):
        out = fake_gpu.numpy(kernel[chosen].dense())
        agree([out], [on_host[chosen].dense()])
        np.testing.assert_allclose(out, on_host.dense()[chosen], atol=1e-6)


@pytest.mark.usefixtures("driver")
def test_matrices_answer_as_on_the_host(gpu_session):
    """Functions, arrays that broadcast, batches, components."""
    text = "exp(-|x_i - y_j|²)"
    batches = np.stack([X, 2 * X]).astype("float32")
    rows, columns = numbers(len(X)), numbers(len(Y), seed=3)
    there = {"x": fake_gpu.array(batches), "y": fake_gpu.array(Y)}
    kernel = tilefold.kernel(text, there, session=gpu_session)
    host = tilefold.kernel(text, x=batches, y=Y)
    on_device = fake_gpu.array(rows)[:, None], fake_gpu.array(columns)

    def made(kernel, u, v):
        yield (u * kernel * v).sum(2)
        yield np.exp(-kernel)[1].max(0)
        yield kernel[0] @ v
        yield kernel[:, 3]

    on_host = made(host, rows[:, None], columns)
    for found, wanted in zip(made(kernel, *on_device), on_host, strict=True):
        agree([fake_gpu.numpy(found)], [wanted])
    vectors = "(x_i - y_j)*exp(-|x_i - y_j|²)"
    kernel = tilefold.kernel(vectors, there, session=gpu_session)
    host = tilefold.kernel(vectors, x=batches, y=Y)
    found = kernel[1, ..., 2].sum(1)
    agree([fake_gpu.numpy(found)], [host[1, ..., 2].sum(1)])


LONG = {
    "x": numbers(50, 40),
    "y": numbers(60, 40, seed=6),
    "b": B,
    "l": 4,
}
PRODUCT = "sum_j exp(x_i·y_j/2l²) b_j"


@pytest.mark.parametrize("formula", [GAUSSIAN, PRODUCT])
@pytest.mark.parametrize(
    ("tolerance", "multiply"),
    [(0, "fma"), (1e-6, "tf32x3"), (1e-5, "bf16x3"), (5e-3, "bf16x1")],
)
@pytest.mark.usefixtures("driver")
def test_products_are_as_exact_as_asked(formula, tolerance, multiply):
    session = tilefold.Session(fake_gpu.settings(tolerance=tolerance))
    text = tilefold.explain(formula, LONG, gpu="sm_90", session=session)
    assert f" multiply={multiply} " in text
    there, here = both(formula, session, **LONG)
    agree(there, here, 3e-6 + 10 * tolerance)
    exact = both(formula, tilefold.Session(fake_gpu.settings()), **LONG)[0]
    assert (there[0] == exact[0]).all() == (tolerance == 0)


TOKENS = numbers(2, 70, 3, 24, seed=8, dtype="f2")  # of batches, q k v, d


def _from_an_odd_address(array):
    memory = np.empty(array.size + 1, array.dtype)[1:].reshape(array.shape)
    memory[...] = array
    return memory


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    "lay_out",
    [np.asarray, np.ascontiguousarray, np.asfortranarray, _from_an_odd_address],
    ids=["views of one", "contiguous", "column-major", "odd address"],
)
@pytest.mark.parametrize(("tolerance", "parts"), [(0, 2), (4e-3, 1)])
def test_attention_reads_halves_however_they_lie(lay_out, tolerance, parts):
    formula = "softmax_j(where(j <= i, q_i·k_j/√24, -inf), v_j)"
    arrays = {name: lay_out(TOKENS[:, :, n]) for n, name in enumerate("qkv")}
    session = tilefold.Session(fake_gpu.settings(tolerance=tolerance))
    text = tilefold.explain(formula, arrays, gpu="sm_90", session=session)
    assert f" weight_parts={parts} " in text
    assert " copies=1" in text
    given = {name: fake_gpu.Array(each) for name, each in arrays.items()}
    out = fake_gpu.numpy(tilefold.reduce(formula, session=session, **given))
    q, k, v = (each.astype("f8") for each in arrays.values())
    weights = np.tril(np.exp(q @ k.swapaxes(1, 2) / np.sqrt(24)))
    wanted = weights @ v / weights.sum(axis=2, keepdims=True)
    error = np.abs(out - wanted).max() / np.abs(wanted).max()
    assert error < (2e-6 if tolerance == 0 else 1e-3)


def test_the_same_parameters_are_sent_once(driver, gpu_session, monkeypatch):
    """A kernel less, on the default stream; others may end."""
    formula = "sum_j exp(-c*|x_i - y_j|²) b_j"
    kernel = tilefold.compile(formula, session=gpu_session)
    arrays = {"x": X, "y": Y, "b": B}
    there = {name: fake_gpu.array(each) for name, each in arrays.items()}

    def launches(c):
        before = driver.launches
        out = kernel(there, c=c)
        on_host = c.memory if isinstance(c, fake_gpu.Array) else c
        wanted = tilefold.reduce(formula, arrays, c=on_host)
        agree([fake_gpu.numpy(out)], [wanted])
        return driver.launches - before

    monkeypatch.setattr(fake_gpu.cuda, "current", 0)
    assert [launches(c) for c in (2, 2, 2, 3, 2)] == [3, 2, 2, 3, 3]
    on_device = fake_gpu.array(np.float32(2))
    assert [launches(on_device), launches(on_device)] == [3, 3]
    on_device.memory[...] = 5
    assert launches(on_device) == 3
    assert launches(2) == 2
    monkeypatch.setattr(fake_gpu.cuda, "current", 77)
    assert [launches(2), launches(2)] == [3, 3]


def test_a_small_call_is_one_kernel(driver, gpu_session, monkeypatch):
    def launches(formula, **arrays):
        given = {name: on_device(value) for name, value in arrays.items()}
        formula(given)  # parameters are on the device then
        before = driver.launches
        formula(given)
        return driver.launches - before

    monkeypatch.setattr(fake_gpu.cuda, "current", 0)
    few = tilefold.compile(GAUSSIAN, session=gpu_session)
    x, y, b = MANY[:40], MANY[:700], MANY[:700, 1].copy()
    assert launches(few, x=x, y=y, b=b, l=0.5) == 1
    assert launches(few, x=x, y=y[:30], b=b[:30], l=0.5) == 2
    summed = tilefold.compile("sum_j sum(sin(x_j) + 2)", session=gpu_session)
    compiled = gpu_session.stats().compiles
    arrays = [numbers(n, 16) for n in range(4, 14)]
    assert all(launches(summed, x=array) == 1 for array in arrays)
    assert gpu_session.stats().compiles == compiled + 1
    assert launches(summed, x=numbers(5000, 16)) == 2


@pytest.mark.usefixtures("driver")
def test_values_of_wide_sums_are_as_exact_as_asked():
    formula, given = "sum_j exp(-|x_i - y_j|²) b_j", {"x": X, "y": Y, "b": W}
    for tolerance, parts in ((0, 3), (1e-5, 2), (1e-2, 1)):
        session = tilefold.Session(fake_gpu.settings(tolerance=tolerance))
        text = tilefold.explain(formula, given, gpu="sm_90", session=session)
        assert f"weight_parts={parts} " in text
        agree(*both(formula, session, **given), 3e-6 + 4 * tolerance)


@pytest.mark.usefixtures("driver")
def test_a_tolerance_is_part_of_a_kernels_name(tmp_path):
    def compiled(tolerance):
        session = tilefold.Session(
            fake_gpu.settings(
                cache_directory=str(tmp_path), tolerance=tolerance
            )
        )
        out = both(PRODUCT, session, **LONG)[0][0]
        return session.stats().compiles, out

    first, exact = compiled(0)
    second, loose = compiled(1e-5)
    assert (first, second) == (1, 1)
    assert (exact != loose).any()
    for tolerance, wanted in ((0, exact), (1e-5, loose)):
        again, out = compiled(tolerance)
        assert again == 0
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.usefixtures("driver")
def test_the_tolerance_of_one_call(gpu_session):
    formula = tilefold.compile(PRODUCT, session=gpu_session)
    given = {name: on_device(value) for name, value in LONG.items()}
    loose = tilefold.Options(tolerance=1e-5)
    exact = fake_gpu.numpy(formula(given))
    assert (fake_gpu.numpy(formula(given, options=loose)) != exact).any()
    np.testing.assert_array_equal(fake_gpu.numpy(formula(given)), exact)


@pytest.mark.usefixtures("driver")
def test_bfloat16_is_read_where_it_is(gpu_session):
    x, y = fake_gpu.bfloat16(X), fake_gpu.bfloat16(Y)
    read = [fake_gpu.Array(each) for each in (x, y)]
    out = tilefold.reduce(
        "sum_j x_i·y_j", x=read[0], y=read[1], session=gpu_session
    )
    wide = [
        (each.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        for each in (x, y)
    ]
    agree([fake_gpu.numpy(out)], [(wide[0] @ wide[1].T).sum(1)])


@pytest.mark.usefixtures("driver")
def test_batches_and_strides_of_any_kind(gpu_session):
    x = numbers(2, 1, 20, 3)
    y = numbers(5, 30, 3, seed=1).transpose(0, 2, 1).copy().transpose(0, 2, 1)
    b = numbers(30, seed=2)[::-1]
    formula = "sum_j exp(-|x_i - y_j|²/l) b_j"
    scale = np.array([1.0, 2.0, 3.0, 4.0, 5.0]).reshape(5, 1, 1)
    given = {"x": x, "y": y, "b": b, "l": scale}
    there = tilefold.reduce(
        formula,
        x=fake_gpu.Array(x),
        y=fake_gpu.Array(y),
        b=fake_gpu.Array(b),
        l=scale,
        session=gpu_session,
    )
    agree([fake_gpu.numpy(there)], [tilefold.reduce(formula, given)])


@pytest.mark.usefixtures("driver")
def test_more_batch_dimensions_than_kernels_know(gpu_session):
    x = numbers(2, 1, 2, 3, 1, 2, 5, 3)
    y = numbers(1, 3, 2, 1, 2, 1, 6, 3, seed=1)
    agree(*both("sum_j x_i·y_j", gpu_session, x=x, y=y))


@pytest.mark.usefixtures("driver")
def test_sums_over_batches(gpu_session):
    def run(formula, given):
        return formula(given, sum_batch=(0, 2))

    arrays = {"x": numbers(4, 3, 2, 10, 3), "y": numbers(12, 3, seed=1)}
    agree(*both("sum_j exp(-|x_i - y_j|²)", gpu_session, run, **arrays))


@pytest.mark.usefixtures("driver")
def test_out_and_accumulate(gpu_session):
    formula = tilefold.compile(GAUSSIAN, session=gpu_session)
    given = {"x": fake_gpu.array(X), "y": fake_gpu.array(Y), "l": 0.5}
    given["b"] = fake_gpu.array(B)
    memory = np.zeros((50, 2), np.float32)
    out = fake_gpu.Array(memory[:, 1])
    assert formula(given, out=out) is out
    once = memory[:, 1].copy()
    formula(given, out=out, accumulate=True)
    np.testing.assert_allclose(memory[:, 1], 2 * once, rtol=1e-6)
    assert not memory[:, 0].any()


@pytest.mark.usefixtures("driver")
def test_a_bound_formula_runs_again(gpu_session):
    x, y, b = (fake_gpu.array(each) for each in (X, Y, B))
    bound = tilefold.compile(GAUSSIAN, session=gpu_session).bind(
        x=x, y=y, b=b, l=1
    )
    first = fake_gpu.numpy(bound()).copy()
    b.memory *= 2
    np.testing.assert_allclose(fake_gpu.numpy(bound()), 2 * first, rtol=1e-6)


GRADIENTS = {
    "of all": (GAUSSIAN, ["x", "y", "b", "l"], X, Y, B),
    "of one": (GAUSSIAN, "x", X, Y, B),
    "broadcast": (GAUSSIAN, ["y", "l"], numbers(2, 20, 3), Y, B),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.usefixtures("driver")
def test_gradients(name, gpu_session):
    formula, names, x, y, b = GRADIENTS[name]
    cotangent = numbers(*x.shape[:-1], seed=9)

    def run(formula, given):
        return formula.grad(names, value=True)(given)

    agree(
        *both(formula, gpu_session, run, x=x, y=y, b=b, l=0.7, grad=cotangent),
        tolerance=1e-5,
    )


@pytest.mark.usefixtures("driver")
def test_a_gradient_is_added_to_out(gpu_session):
    formula = tilefold.compile("sum_ij exp(-|x_i - x_j|²)", session=gpu_session)
    x, out = fake_gpu.array(X), fake_gpu.array(np.ones_like(X))
    formula.grad("x")(x=x, out=out, accumulate=True)
    wanted = tilefold.compile("sum_ij exp(-|x_i - x_j|²)").grad("x")(x=X)
    agree([out.memory - 1], [wanted], tolerance=1e-5)


@pytest.mark.usefixtures("driver")
def test_kernels_are_matrices(gpu_session):
    text = "exp(-|x_i - y_j|²/2)"
    there = tilefold.kernel(
        text, x=fake_gpu.array(X), y=fake_gpu.array(Y), session=gpu_session
    )
    here = tilefold.kernel(text, x=X, y=Y)
    pairs = [
        (there @ fake_gpu.array(B), here @ B),
        (there.T @ fake_gpu.array(B[:50]), here.T @ B[:50]),
        (there.dense(), here.dense()),
        (there.sum(0), here.sum(0)),
        (there.argkmin(3, axis=1), here.argkmin(3, axis=1)),
        ((2 * there + there**2).sum(1), (2 * here + here**2).sum(1)),
        (there[3:9].dense(), here[3:9].dense()),
        (there[3], here[3]),
        (there[:, 4], here[:, 4]),
    ]
    square = {"x": fake_gpu.array(X)}, {"x": X}
    for each, session_of in zip(square, (gpu_session, None), strict=True):
        kernel = tilefold.kernel(
            "exp(-|x_i - x_j|²) + i", session=session_of, **each
        )
        pairs.append((kernel.add_diag(0.5).diag(),))
    pairs[-2:] = [(pairs[-2][0], pairs[-1][0])]
    agree(*zip(*((fake_gpu.numpy(a), b) for a, b in pairs), strict=True))


def test_work_is_queued_on_the_current_stream_and_not_waited_for(
    gpu_session, driver
):
    x = fake_gpu.array(X)
    formula = tilefold.compile("sum_j x_i·x_j", session=gpu_session)
    formula(x=x)
    assert driver.stream == 77
    assert x.asked == [77]
    given = tilefold.Options(stream=fake_gpu.Stream(88))
    out = formula(x=x, options=given)
    assert (driver.stream, x.asked[-1]) == (88, 88)
    assert driver.waits == 1  # of the library's stream, for the result
    formula(x=x, options=tilefold.Options(stream=99), out=out)
    assert (driver.stream, driver.waits) == (99, 1)


def test_arrays_of_no_library_give_a_device_array(gpu_session, driver):
    x = fake_gpu.Alone(X.copy())
    out = tilefold.reduce("sum_j x_i·x_j", x=x, session=gpu_session)
    assert isinstance(out, tilefold.DeviceArray)
    assert (out.shape, out.dtype, out.device) == ((50,), "float32", "cuda:0")
    assert out.__dlpack_device__() == (2, 0)
    assert "(50,), float32 on cuda:0" in repr(out)
    assert x.asked == [1]  # the default stream, and then waited for
    assert driver.waits == 1
    agree([fake_gpu.numpy(out)], [(X @ X.T).sum(1)])
    again = tilefold.reduce("sum_i z_i", z=out, session=gpu_session)
    agree([fake_gpu.numpy(again)], [np.float32((X @ X.T).sum())])


@pytest.mark.parametrize("session", ["new", "used"])
@pytest.mark.parametrize("what", ["a sum", "a gradient", "a batch sum"])
def test_a_captured_call_runs_when_its_graph_is_launched(
    session, what, driver, gpu_session
):
    """It reads arrays anew each time, but numbers as they were."""
    if session == "new":  # the driver is opened, and code loaded, meanwhile
        gpu_session = tilefold.Session(fake_gpu.settings())
    here = {"x": np.stack([X, 2 * X]), "y": Y, "b": B.copy()}
    grad = numbers(2, 50, seed=9)
    there = {name: fake_gpu.Array(value) for name, value in here.items()}

    def run(session, arrays, grad, **numbers):
        formula = tilefold.compile(GAUSSIAN, session=session)
        if what == "a gradient":
            return formula.grad("x")(arrays, grad=grad, **numbers)
        axis = 0 if what == "a batch sum" else None
        return formula(arrays, sum_batch=axis, **numbers)

    queue = functools.partial(run, gpu_session, there, fake_gpu.Array(grad))
    if session == "used":
        queue(l=2)
    with driver.capture():
        out = queue(l=0.5)
    assert driver.refused == 0
    assert driver.kept > 0
    queue(l=2)  # its numbers lie where those of the captured call were
    for scale in (1, -3):
        here["b"][...] = scale * B
        driver.replay()
        agree([fake_gpu.numpy(out)], [run(None, here, grad, l=0.5)], 1e-5)
    driver.destroy_graph()
    assert driver.kept == 0


def test_arrays_of_the_host_do_not_break_a_capture(driver):
    """They are computed at once, on streams of their own."""
    session = tilefold.Session(fake_gpu.settings(devices="cuda:0"))
    with driver.capture():
        found = tilefold.reduce("sum_j x_i·x_j", x=X, session=session)
    assert driver.refused == 0
    agree([found], [(X @ X.T).sum(1)])


@pytest.mark.usefixtures("driver")
def test_numpy_does_not_take_a_result_on_a_device(gpu_session):
    """It would make an array of one object."""
    x = fake_gpu.Alone(X)
    out = tilefold.reduce("sum_j x_i·x_j", x=x, session=gpu_session)
    message = (
        r"a DeviceArray is on cuda:0, where NumPy has no arrays\n"
        r"take it by torch\.from_dlpack\(result\) or cupy"
    )
    for take in (np.asarray, np.array, lambda each: np.ones(50) + each):
        with pytest.raises(tilefold.ArgumentError, match=message) as caught:
            take(out)
        assert isinstance(caught.value, TypeError)
        assert caught.value.code == "DeviceArrayNotHost"


def test_memory_of_results_is_given_back(gpu_session, driver):
    before = driver.used
    out = tilefold.reduce(
        "sum_j x_i·x_j", x=fake_gpu.Alone(X.copy()), session=gpu_session
    )
    assert driver.used == before + 200
    del out
    assert driver.used == before


KEPT_TO_THE_END = """
import numpy as np
import fake_gpu, tilefold
session = tilefold.Session(fake_gpu.settings())
x = fake_gpu.array(np.ones((5, 3)))
result = tilefold.reduce("sum_j x_i·x_j", x=x, session=session)
kept = [result]
kept.append(kept)  # freed while the interpreter ends
print(fake_gpu.numpy(result))
"""


def test_results_are_freed_while_the_interpreter_ends():
    done = subprocess.run(
        [sys.executable, "-c", KEPT_TO_THE_END],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["[15.", *["15."] * 3, "15.]"]


@pytest.mark.usefixtures("driver")
def test_any_order_of_threads_gives_the_same_bits(gpu_session):
    x, y, b = (fake_gpu.array(each) for each in (X, Y, B))
    formula = tilefold.compile(GAUSSIAN, session=gpu_session)
    driver, bits = fake_gpu.Driver(), set()
    for order in (0, 1, 2):
        driver.order = order
        out = formula(x=x, y=y, b=b, l=0.5)
        bits.add(fake_gpu.numpy(out).tobytes())
    assert len(bits) == 1
