# tests/python/test_targets.py - instruction sets that this machine has not.
from __future__ import annotations

import re

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN, stages_of

REFUSAL = (
    "this machine does not run 'aarch64'\n"
    "leave the target at its default, the host"
)


def foreign_plan(points) -> str:
    """The model's plan, for another processor."""
    options = tilefold.Options(isa="aarch64")
    f = tilefold.compile(GAUSSIAN)
    return f.plans(points.arguments, options=options)[0]


@pytest.mark.checkout  # wheels have no code for it
def test_kernels_for_another_processor_are_explained(points):
    f = tilefold.compile(GAUSSIAN)
    text = f.explain(points.arguments, options=tilefold.Options(isa="aarch64"))
    assert "isa=aarch64" in text
    assert "fmla\tv" in text
    assert "zmm" not in text
    assert foreign_plan(points).startswith("isa=aarch64 nest=reduce lanes=2 ")


@pytest.mark.checkout
@pytest.mark.parametrize(
    "text",
    [
        "sum_j exp(-|x_i - y_j|²)",
        "argkmin_j(|x_i - y_j|², 5)",
        "softmax_j(x_i·y_j, y_j)",
        "sum_j tanh(x_i - y_j)",
    ],
)
def test_macos_keeps_a_register_for_itself(text):
    """x18 may change at any time there."""
    x = np.zeros((9, 3), "float32")
    formula = tilefold.compile(text)
    options = tilefold.Options(isa="aarch64")
    code = stages_of(formula, x=x, y=x, options=options)["assembly"]["text"]
    assert re.search(r"\bx17\b|\bx19\b", code)
    assert not re.search(r"\b[xw]18\b", code)


def test_they_are_not_run(points):
    f = tilefold.compile(GAUSSIAN)
    settings = [
        {"isa": "aarch64"},
        {"plan": foreign_plan(points)},
        {"isa": "aarch64", "tune": True},
    ]
    for setting in settings:
        options = tilefold.Options(**setting)
        session = tilefold.Session(options)
        for call in (
            lambda o=options: f(points.arguments, options=o),
            lambda s=session: f(points.arguments, session=s),
            lambda o=options: f.bind(points.arguments, options=o),
            lambda s=session: tilefold.kernel(
                "exp(-|x_i - y_j|²)", x=points.x, y=points.y, session=s
            ).sum(1),
        ):
            with pytest.raises(tilefold.DeviceError) as caught:
                call()
            assert caught.value.code == "UnsupportedTarget"
            assert str(caught.value) == REFUSAL
    np.testing.assert_allclose(
        f(points.arguments), points.matrix @ points.b, rtol=1e-10
    )


def test_the_environment_may_name_it(points, monkeypatch):
    monkeypatch.setenv("TILEFOLD_ISA", "aarch64")
    session = tilefold.Session()
    assert session.options.isa == "aarch64"
    with pytest.raises(tilefold.DeviceError, match="does not run 'aarch64'"):
        tilefold.reduce(GAUSSIAN, points.arguments, session=session)
