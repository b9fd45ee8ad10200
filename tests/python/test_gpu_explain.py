# tests/python/test_gpu_explain.py - what a GPU would run, where there is none.
from __future__ import annotations

import pytest

import fake_gpu
import tilefold
from fake_gpu import numbers, settings
from tilefold import cli, doctor

X, Y, B = numbers(50, 3), numbers(60, 3, seed=1), numbers(60, seed=2)
GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"

# ---- what a card would do ----------------------------------------------------


def test_explain_shows_what_a_gpu_would_run():
    described = {"x": X, "y": Y, "b": B, "l": 0.5}
    text = tilefold.explain(
        GAUSSIAN, described, gpu="sm_90", options=settings()
    )
    assert "── CUDA plan\nthreads=" in text
    assert "__global__" in text
    assert "accumulate: 40 registers, 0 bytes spilled" in text
    assert "9.0 instructions a pair by the formula (1.0 of the special" in text
    assert "expected on an H200" in text
    assert "── assembly" not in text
    assert "── plan" not in text


def test_explain_needs_no_compiler_of_gpus():
    text = (
        tilefold.compile(GAUSSIAN)
        .grad(["x", "b"])
        .explain(
            x=X,
            y=Y,
            b=B,
            l=0.5,
            grad=1,
            gpu="sm_80",
            options=settings(nvrtc="/no/libnvrtc.so"),
        )
    )
    assert "not compiled: the compiler for GPUs, NVRTC, was not found" in text
    assert text.count("__global__") >= 4
    assert text.count("pairs/s") == 2


@pytest.mark.parametrize(
    ("gpu", "error", "message"),
    [
        ("sm_ninety", tilefold.DeviceError, "unknown instruction set 'sm_nine"),
        ("gfx942", tilefold.DeviceError, "unknown instruction set 'gfx942'"),
        (9, tilefold.ArgumentError, "gpu='sm_90'"),
        ("sm_35", tilefold.DeviceError, r"3\.5 is older than NVRTC"),
    ],
)
def test_explain_refuses_what_is_no_architecture(gpu, error, message):
    with pytest.raises(error, match=message):
        tilefold.explain(
            GAUSSIAN, x=X, y=Y, b=B, l=1, gpu=gpu, options=settings()
        )


def test_the_command_line_explains_for_a_gpu(capsys):
    words = ["explain", "--gpu", GAUSSIAN, "x=float32[9,3]", "y=float32[9,3]"]
    assert cli.main([*words, "b=float32[9]", "l=1"]) == 0
    assert "expected on an H200" in capsys.readouterr().out


def test_explain_tells_what_a_tolerance_changes(capsys):
    words = ["explain", "--gpu", GAUSSIAN, "x=float32[9,64]", "y=float32[9,64]"]
    words += ["b=float32[9]", "l=1"]
    assert cli.main(words) == 0
    assert " multiply=fma chunk=16 expands=0 " in capsys.readouterr().out
    assert cli.main([*words, "--tolerance", "1e-6"]) == 0
    text = capsys.readouterr().out
    assert " multiply=tf32x3 chunk=16 expands=1 " in text
    assert "on tensor cores: an error of |x| |y| of 1e-07\n" in text
    assert "are |x|² + |y|² - 2 x·y of centred points\n" in text
    assert ", 6.0 of tensor cores)" in text
    assert cli.main([*words, "--tolerance", "1e-5"]) == 0
    text = capsys.readouterr().out
    assert "an error of |x| |y| of 3e-06\n" in text
    assert ", 3.0 of tensor cores)" in text
    assert cli.main([*words, "--tolerance", "-1"]) == 1
    assert "the option tolerance cannot be -1" in capsys.readouterr().err


def test_the_doctor_tells_of_gpus(driver, monkeypatch):
    findings = {name: text for name, text, _ in doctor.examine()}
    assert findings["gpu"].startswith(("none: no NVIDIA driver", "driver for"))
    monkeypatch.setenv("TILEFOLD_CUDA_DRIVER", fake_gpu.library("fake_cuda"))
    monkeypatch.setenv("TILEFOLD_NVRTC", fake_gpu.library("fake_nvrtc"))
    driver.devices = 2
    findings = {name: text for name, text, _ in doctor.examine()}
    assert findings["gpu"] == "driver for CUDA 13.0, cuda:0 sm_90, cuda:1 sm_90"
    assert findings["nvrtc"] == "NVRTC 13.99"
