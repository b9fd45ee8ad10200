# tests/python/test_gpu.py - arrays on a GPU, end to end, where there is none: a
# fake driver runs what a fake compiler makes of the emitted CUDA C++.
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import fake_gpu
import tilefold

GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"


def settings(**changed) -> tilefold.Options:
    return tilefold.Options(
        **{
            "cuda_driver": fake_gpu.library("fake_cuda"),
            "nvrtc": fake_gpu.library("fake_nvrtc"),
            **changed,
        }
    )


@pytest.fixture(scope="module")
def session():
    return tilefold.Session(settings())


@pytest.fixture
def driver():
    driver = fake_gpu.Driver()
    driver.reset()
    yield driver
    driver.reset()


def numbers(*shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


X, Y, B = numbers(50, 3), numbers(60, 3, seed=1), numbers(60, seed=2)
W = numbers(60, 11, seed=3)
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


def agree(there, here, tolerance=3e-6):
    for got, wanted in zip(there, here, strict=True):
        wanted = np.asarray(wanted)
        assert got.shape == wanted.shape
        assert got.dtype == wanted.dtype
        scale = np.abs(wanted).max(initial=1e-300)
        np.testing.assert_allclose(
            got / scale, wanted / scale, rtol=0, atol=tolerance
        )


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
    "welford": (
        "fold_j(x_i·y_j, [0, 0], add, join) with "
        "add(s, f) = s + [1, f], join(s, t) = s + t",
        {"x": X, "y": Y},
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.usefixtures("driver")
def test_results_are_those_of_the_cpu(name, session):
    formula, arrays = FORMULAS[name]
    tolerance = 2e-3 if name == "half" else 3e-6
    agree(*both(formula, session, **arrays), tolerance)


@pytest.mark.usefixtures("driver")
def test_bfloat16_is_read_where_it_is(session):
    x, y = fake_gpu.bfloat16(X), fake_gpu.bfloat16(Y)
    read = [fake_gpu.Array(each) for each in (x, y)]
    out = tilefold.reduce(
        "sum_j x_i·y_j", x=read[0], y=read[1], session=session
    )
    wide = [
        (each.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        for each in (x, y)
    ]
    agree([fake_gpu.numpy(out)], [(wide[0] @ wide[1].T).sum(1)])


@pytest.mark.usefixtures("driver")
def test_batches_and_strides_of_any_kind(session):
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
        session=session,
    )
    agree([fake_gpu.numpy(there)], [tilefold.reduce(formula, given)])


@pytest.mark.usefixtures("driver")
def test_more_batch_dimensions_than_kernels_know(session):
    x = numbers(2, 1, 2, 3, 1, 2, 5, 3)
    y = numbers(1, 3, 2, 1, 2, 1, 6, 3, seed=1)
    agree(*both("sum_j x_i·y_j", session, x=x, y=y))


@pytest.mark.usefixtures("driver")
def test_sums_over_batches(session):
    def run(formula, given):
        return formula(given, sum_batch=(0, 2))

    arrays = {"x": numbers(4, 3, 2, 10, 3), "y": numbers(12, 3, seed=1)}
    agree(*both("sum_j exp(-|x_i - y_j|²)", session, run, **arrays))


@pytest.mark.usefixtures("driver")
def test_out_and_accumulate(session):
    formula = tilefold.compile(GAUSSIAN, session=session)
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
def test_a_bound_formula_runs_again(session):
    x, y, b = (fake_gpu.array(each) for each in (X, Y, B))
    bound = tilefold.compile(GAUSSIAN, session=session).bind(x=x, y=y, b=b, l=1)
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
def test_gradients(name, session):
    formula, names, x, y, b = GRADIENTS[name]
    cotangent = numbers(*x.shape[:-1], seed=9)

    def run(formula, given):
        return formula.grad(names, value=True)(given)

    agree(
        *both(formula, session, run, x=x, y=y, b=b, l=0.7, grad=cotangent),
        tolerance=1e-5,
    )


@pytest.mark.usefixtures("driver")
def test_a_gradient_is_added_to_out(session):
    formula = tilefold.compile("sum_ij exp(-|x_i - x_j|²)", session=session)
    x, out = fake_gpu.array(X), fake_gpu.array(np.ones_like(X))
    formula.grad("x")(x=x, out=out, accumulate=True)
    wanted = tilefold.compile("sum_ij exp(-|x_i - x_j|²)").grad("x")(x=X)
    agree([out.memory - 1], [wanted], tolerance=1e-5)


@pytest.mark.usefixtures("driver")
def test_kernels_are_matrices(session):
    text = "exp(-|x_i - y_j|²/2)"
    there = tilefold.kernel(
        text, x=fake_gpu.array(X), y=fake_gpu.array(Y), session=session
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
    for each, session_of in zip(square, (session, None), strict=True):
        kernel = tilefold.kernel(
            "exp(-|x_i - x_j|²) + i", session=session_of, **each
        )
        pairs.append((kernel.add_diag(0.5).diag(),))
    pairs[-2:] = [(pairs[-2][0], pairs[-1][0])]
    agree(*zip(*((fake_gpu.numpy(a), b) for a, b in pairs), strict=True))


def test_work_is_queued_on_the_current_stream_and_not_waited_for(
    session, driver
):
    x = fake_gpu.array(X)
    formula = tilefold.compile("sum_j x_i·x_j", session=session)
    formula(x=x)
    assert driver.stream == 77
    assert x.asked == [77]
    given = tilefold.Options(stream=fake_gpu.Stream(88))
    out = formula(x=x, options=given)
    assert (driver.stream, x.asked[-1]) == (88, 88)
    assert driver.waits == 1  # of the library's stream, for the result
    formula(x=x, options=tilefold.Options(stream=99), out=out)
    assert (driver.stream, driver.waits) == (99, 1)


def test_arrays_of_no_library_give_a_device_array(session, driver):
    x = fake_gpu.Alone(X.copy())
    out = tilefold.reduce("sum_j x_i·x_j", x=x, session=session)
    assert isinstance(out, tilefold.DeviceArray)
    assert (out.shape, out.dtype, out.device) == ((50,), "float32", "cuda:0")
    assert out.__dlpack_device__() == (2, 0)
    assert "(50,), float32 on cuda:0" in repr(out)
    assert x.asked == [1]  # the default stream, and then waited for
    assert driver.waits == 1
    agree([fake_gpu.numpy(out)], [(X @ X.T).sum(1)])
    again = tilefold.reduce("sum_i z_i", z=out, session=session)
    agree([fake_gpu.numpy(again)], [np.float32((X @ X.T).sum())])


def test_memory_of_results_is_given_back(session, driver):
    before = driver.used
    out = tilefold.reduce(
        "sum_j x_i·x_j", x=fake_gpu.Alone(X.copy()), session=session
    )
    assert driver.used == before + 200
    del out
    assert driver.used == before


@pytest.mark.usefixtures("driver")
def test_any_order_of_threads_gives_the_same_bits(session):
    x, y, b = (fake_gpu.array(each) for each in (X, Y, B))
    formula = tilefold.compile(GAUSSIAN, session=session)
    driver, bits = fake_gpu.Driver(), set()
    for order in (0, 1, 2):
        driver.order = order
        out = formula(x=x, y=y, b=b, l=0.5)
        bits.add(fake_gpu.numpy(out).tobytes())
    assert len(bits) == 1


# ---- what is kept -----------------------------------------------------------


def test_nothing_is_opened_before_an_array_on_a_device(driver):
    session = tilefold.Session(settings())
    tilefold.reduce("sum_j x_i·x_j", x=X, session=session)
    assert driver.initialised == 0
    tilefold.reduce("sum_j x_i·x_j", x=fake_gpu.array(X), session=session)
    assert driver.initialised == 1


def test_images_are_kept_in_memory_and_on_disk(driver, tmp_path):
    formula, x = "sum_j |x_i - x_j|", fake_gpu.array(X)

    def counts(session):
        stats = session.stats()
        return stats.compiles, stats.disk_hits, driver.loads

    options = settings(cache_directory=str(tmp_path))
    first = tilefold.Session(options)
    for _ in range(2):
        tilefold.reduce(formula, x=x, session=first)
        assert counts(first) == (1, 0, 1)
    entry = tilefold._core.list_cache(str(tmp_path), True)[0]
    assert (entry.compiler, entry.isa) == ("NVRTC 13.99", "sm_90")
    second = tilefold.Session(options)
    tilefold.reduce(formula, x=x, session=second)
    assert counts(second) == (0, 1, 2)


@pytest.mark.parametrize("what", ["the entry", "the image"])
def test_a_damaged_image_is_compiled_anew(what, driver, tmp_path):
    options = settings(cache_directory=str(tmp_path))
    formula, x = "sum_j |x_i - x_j|³", fake_gpu.array(X)
    wanted = tilefold.reduce(formula, x=x, session=tilefold.Session(options))
    if what == "the entry":
        entry = next(tmp_path.glob("**/*.tilefold*"), None) or next(
            path for path in tmp_path.rglob("*") if path.is_file()
        )
        content = bytearray(entry.read_bytes())
        content[len(content) // 2] ^= 1
        entry.write_bytes(content)
    else:
        driver.invalid_images = 1  # as many as it refuses
    session = tilefold.Session(options)
    again = tilefold.reduce(formula, x=x, session=session)
    assert session.stats().compiles == 1
    agree([fake_gpu.numpy(again)], [fake_gpu.numpy(wanted)])


def test_a_card_of_another_architecture_has_an_image_of_its_own(
    driver, tmp_path
):
    options = settings(cache_directory=str(tmp_path))
    x = fake_gpu.array(X)
    for capability in (80, 90):
        driver.capability = capability
        session = tilefold.Session(options)
        tilefold.reduce("sum_j |x_i - x_j|⁴", x=x, session=session)
        assert session.stats().compiles == 1
    architectures = {
        e.isa for e in tilefold._core.list_cache(str(tmp_path), True)
    }
    assert architectures == {"sm_80", "sm_90"}


# ---- what is refused, after which the CPU still works ------------------------


def refused(
    message, error=tilefold.DeviceError, formula="sum_j x_i·x_j", **given
):
    session = given.pop("session", None) or tilefold.Session(
        settings(**given.pop("options", {}))
    )
    given = given or {"x": fake_gpu.array(X)}
    with pytest.raises(error, match=message):
        tilefold.reduce(formula, given, session=session)
    tilefold.reduce("sum_j x_i·x_j", x=X, session=session)


@pytest.mark.usefixtures("driver")
def test_without_a_driver():
    refused(
        r"no NVIDIA driver: /no/libcuda\.so\.1 could not be loaded",
        options={"cuda_driver": "/no/libcuda.so.1"},
    )


@pytest.mark.usefixtures("driver")
def test_without_nvrtc():
    refused(
        r"NVRTC, was not found in /no/libnvrtc\.so\n.*nvidia-cuda-nvrtc",
        options={"nvrtc": "/no/libnvrtc.so"},
    )


def test_with_an_old_driver(driver):
    driver.version = 11040
    refused(r"driver is for CUDA 11\.4; 12\.0 is the oldest")


def test_without_a_card(driver):
    driver.devices = 0
    refused("the NVIDIA driver finds no GPU")


def test_on_a_card_that_is_not_there(driver):
    assert driver.devices == 1
    refused("cuda:3 is not among the 1 GPUs", x=fake_gpu.array(X, device=3))


def test_with_too_little_memory(driver):
    driver.memory = 0
    refused(
        r"needs 1 MiB on the GPU, which could not be allocated\n",
        tilefold.OutOfMemory,
    )


def test_when_the_card_takes_no_image(driver):
    driver.refuses_images = 1
    refused(
        "the device refused a kernel for sm_90: no kernel image",
        options={"cache_directory": ""},
    )


def test_on_a_card_that_is_too_old(driver):
    driver.capability = 70
    refused(r"compute capability 7\.0 is older than NVRTC 13\.99 compiles for")


@pytest.mark.parametrize("where", ["x", "y"])
@pytest.mark.usefixtures("driver")
def test_arrays_on_two_devices(where, session):
    given = {"x": X, "y": Y}
    given[where] = fake_gpu.array(given[where])
    refused(
        r"'y' is on (cuda:0|the CPU), the other arrays on (the CPU|cuda:0)",
        formula="sum_j x_i·y_j",
        session=session,
        **given,
    )


@pytest.mark.usefixtures("driver")
def test_out_on_another_device(session):
    with pytest.raises(tilefold.DeviceError, match="'out' is on the CPU"):
        tilefold.reduce(
            "sum_j x_i·x_j",
            x=fake_gpu.array(X),
            out=np.empty(50, np.float32),
            session=session,
        )


@pytest.mark.usefixtures("driver")
def test_a_parameter_on_the_device_of_arrays_on_the_cpu(session):
    refused(
        "'l' is on cuda:0, the other arrays on the CPU",
        formula="sum_j l*x_i·x_j",
        session=session,
        x=X,
        l=fake_gpu.array(np.float32(2)),
    )


@pytest.mark.usefixtures("driver")
def test_parameters_may_be_on_either(session):
    x, scale = fake_gpu.array(X), np.array([1.0, 2.0, 3.0])[::-1]
    formula = "sum_j |(x_i - x_j)*s|²"
    wanted = tilefold.reduce(formula, x=X, s=scale)
    for given in (scale, fake_gpu.Array(scale)):
        out = tilefold.reduce(formula, x=x, s=given, session=session)
        agree([fake_gpu.numpy(out)], [wanted])


@pytest.mark.usefixtures("driver")
def test_what_only_the_cpu_does(session):
    x, b = fake_gpu.array(X), fake_gpu.array(B[:50])
    formula = tilefold.compile("sum_j exp(-|x_i - x_j|²)", session=session)
    kernel = tilefold.kernel("exp(-|x_i - x_j|²)", x=x, session=session)
    everything = tilefold.Ranges([0, 50], [0, 50], np.ones((1, 1), bool))
    for message, call in {
        "check takes arrays of the CPU only": lambda: formula.check(x=x),
        "solve takes arrays of the CPU only": lambda: kernel.solve(b, ridge=1),
        "neighbors takes arrays of the CPU": lambda: kernel.radius_neighbors(
            0.5
        ),
        "chosen ranges of pairs": lambda: formula(x=x, ranges=everything),
        "no code for 'besselk'": lambda: tilefold.reduce(
            "sum_j besselk(0, |x_i - x_j| + 1)", x=x, session=session
        ),
    }.items():
        with pytest.raises(tilefold.DeviceError, match=message):
            call()


@pytest.mark.usefixtures("driver")
def test_a_fork_does_not_use_the_card():
    program = (
        "import os, fake_gpu, numpy as np, tilefold\n"
        "x = np.ones((5, 3), 'f4')\n"
        "f = tilefold.compile('sum_j x_i·x_j')\n"
        "f(x=fake_gpu.array(x))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        f(x=fake_gpu.array(x))\n"
        "    except tilefold.DeviceError as error:\n"
        "        assert 'before this process was forked' in str(error)\n"
        "        assert f(x=x)[0] == 15\n"
        "        os._exit(7)\n"
        "    os._exit(1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "f(x=fake_gpu.array(x))\n"
    )
    environment = os.environ | {
        "TILEFOLD_CUDA_DRIVER": fake_gpu.library("fake_cuda"),
        "TILEFOLD_NVRTC": fake_gpu.library("fake_nvrtc"),
        "PYTHONPATH": os.path.dirname(__file__),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("driver")
def test_a_stream_that_is_none(session):
    with pytest.raises(
        tilefold.ArgumentError, match="option stream cannot be a str"
    ):
        tilefold.reduce(
            "sum_j x_i·x_j",
            x=fake_gpu.array(X),
            session=session,
            options=tilefold.Options(stream="fast"),
        )
