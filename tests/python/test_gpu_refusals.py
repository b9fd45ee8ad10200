# tests/python/test_gpu_refusals.py - GPUs: which images are kept, and what is
# refused; the CPU works on after each refusal.
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import fake_gpu
import tilefold
from fake_gpu import agree, numbers, settings

X, Y, B = numbers(50, 3), numbers(60, 3, seed=1), numbers(60, seed=2)


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
        assert counts(first) == (1, 0, 2)  # an image is two programs
    entry = tilefold._core.list_cache(options, True)[0]
    assert (entry.compiler, entry.isa) == ("NVRTC 13.99", "sm_90")
    second = tilefold.Session(options)
    tilefold.reduce(formula, x=x, session=second)
    assert counts(second) == (0, 1, 4)


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
        entry.isa for entry in tilefold._core.list_cache(options, True)
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


def test_with_a_compiler_that_is_newer_than_the_driver(driver):
    driver.version, driver.refuses_images = 12040, 1
    refused(
        r"NVRTC 13\.99 makes code that the driver, for CUDA 12\.4, does not",
        options={"cache_directory": ""},
    )


@pytest.mark.usefixtures("driver")
def test_on_a_stream_of_another_device(gpu_session):
    given = {"options": tilefold.Options(stream=666)}
    formula = tilefold.compile("sum_j x_i·x_j", session=gpu_session)
    with pytest.raises(
        tilefold.DeviceError, match="the stream of the call is none of cuda:0"
    ):
        formula(x=fake_gpu.array(X), **given)
    formula(x=X)


def test_on_a_card_that_is_too_old(driver):
    driver.capability = 70
    refused(r"compute capability 7\.0 is older than NVRTC 13\.99 compiles for")


@pytest.mark.parametrize("where", ["x", "y"])
@pytest.mark.usefixtures("driver")
def test_arrays_on_two_devices(where, gpu_session):
    given = {"x": X, "y": Y}
    given[where] = fake_gpu.array(given[where])
    refused(
        r"'y' is on (cuda:0|the CPU), the other arrays on (the CPU|cuda:0)",
        formula="sum_j x_i·y_j",
        session=gpu_session,
        **given,
    )


@pytest.mark.usefixtures("driver")
def test_out_on_another_device(gpu_session):
    with pytest.raises(tilefold.DeviceError, match="'out' is on the CPU"):
        tilefold.reduce(
            "sum_j x_i·x_j",
            x=fake_gpu.array(X),
            out=np.empty(50, np.float32),
            session=gpu_session,
        )


@pytest.mark.usefixtures("driver")
def test_a_parameter_on_the_device_of_arrays_on_the_cpu(gpu_session):
    refused(
        "'l' is on cuda:0, the other arrays on the CPU",
        formula="sum_j l*x_i·x_j",
        session=gpu_session,
        x=X,
        l=fake_gpu.array(np.float32(2)),
    )


@pytest.mark.usefixtures("driver")
def test_parameters_may_be_on_either(gpu_session):
    x, scale = fake_gpu.array(X), np.array([1.0, 2.0, 3.0])[::-1]
    formula = "sum_j |(x_i - x_j)*s|²"
    wanted = tilefold.reduce(formula, x=X, s=scale)
    for given in (scale, fake_gpu.Array(scale)):
        out = tilefold.reduce(formula, x=x, s=given, session=gpu_session)
        agree([fake_gpu.numpy(out)], [wanted])


@pytest.mark.usefixtures("driver")
def test_what_only_the_cpu_does(gpu_session):
    x, b = fake_gpu.array(X), fake_gpu.array(B[:50])
    formula = tilefold.compile("sum_j exp(-|x_i - x_j|²)", session=gpu_session)
    kernel = tilefold.kernel("exp(-|x_i - x_j|²)", x=x, session=gpu_session)
    for message, call in {
        "check takes arrays of the CPU only": lambda: formula.check(x=x),
        "solve takes arrays of the CPU only": lambda: kernel.solve(b, ridge=1),
        "neighbors takes arrays of the CPU": lambda: kernel.radius_neighbors(
            0.5
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
def test_a_stream_that_is_none(gpu_session):
    with pytest.raises(
        tilefold.ArgumentError, match="option stream cannot be a str"
    ):
        tilefold.reduce(
            "sum_j x_i·x_j",
            x=fake_gpu.array(X),
            session=gpu_session,
            options=tilefold.Options(stream="fast"),
        )
