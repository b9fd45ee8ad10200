# tests/python/test_frameworks.py - libraries that record gradients are known by
# their modules.
from __future__ import annotations

import contextlib
import importlib
import inspect
import subprocess
import sys
import types

import numpy as np
import pytest
import torch

import tilefold
from tilefold import frameworks
from tilefold.frameworks import Framework, holding, recording, unrecorded

QUESTIONS = [name for name in vars(Framework) if not name.startswith("_")]


def parameters(function, first=0):
    given = list(inspect.signature(function).parameters.values())[first:]
    return [(parameter.name, parameter.kind) for parameter in given]


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("module", frameworks._MODULES.values())
def test_a_framework_answers_each_question(module, name):
    answer = getattr(importlib.import_module(module), name)
    asked = parameters(getattr(Framework, name), 1)
    assert parameters(answer) == asked


def test_who_records_is_who_holds_a_tensor_that_requires_grad():
    array, plain = np.ones(3), torch.ones(3)
    leaf = torch.ones(3, requires_grad=True)
    assert holding([array]) is None
    assert holding([array, tilefold.Vi(plain)]) is tilefold.torch
    assert recording([array, plain]) is None
    assert recording([array, tilefold.Vi(leaf)]) is tilefold.torch
    with unrecorded():
        assert recording([leaf]) is None
        assert holding([leaf]) is tilefold.torch


def test_a_call_goes_to_the_framework_that_records(monkeypatch):
    said = []
    monkeypatch.setattr(tilefold.torch, "call", lambda _, *k: said.append(k))
    leaf = torch.ones(3, requires_grad=True)
    tilefold.reduce("sum_j x_j", x=leaf)
    tilefold.reduce("sum_j x_j", {"x": leaf}, out=None, batch_rank=0)
    assert said == [({"x": leaf}, {}), ({"x": leaf}, {"batch_rank": 0})]
    with pytest.raises(tilefold.ArgumentError, match="out="):
        tilefold.reduce("sum_j x_j", x=leaf, accumulate=True)


def test_a_gradient_that_no_framework_records_is_refused(monkeypatch):
    monkeypatch.setattr(frameworks, "_MODULES", {})
    monkeypatch.setattr(frameworks, "_OF_TYPE", {})
    leaf = torch.ones(3, requires_grad=True)
    with pytest.raises(tilefold.DTypeError, match="'x' requires a gradient"):
        frameworks.call(tilefold.compile("sum_j x_j"), {"y": 1}, x=leaf)


def test_another_framework_is_one_more_row(monkeypatch):
    said = []
    other = types.ModuleType("other")
    other.holds = other.records = lambda values: "of the other" in values
    other.unrecorded = lambda: contextlib.nullcontext(said.append("entered"))
    monkeypatch.setitem(sys.modules, "other", other)
    monkeypatch.setitem(frameworks._MODULES, "other", "other")
    assert holding(["of the other"]) is other
    assert recording(["of the other"]) is other
    with unrecorded():
        assert said == ["entered"]
        assert not torch.is_grad_enabled()
    monkeypatch.delitem(frameworks._MODULES, "torch")
    with unrecorded():
        assert said == ["entered", "entered"]
        assert torch.is_grad_enabled()


def test_a_library_that_is_not_used_is_not_imported():
    program = (
        "import sys, numpy as np, tilefold\n"
        "K = tilefold.kernel('exp(-|x_i - x_j|²)', x=np.ones((3, 2)))\n"
        "K.diag(), K.solve(np.ones(3), 1.0), K.logdet(1.0)\n"
        "assert not {'torch', 'tilefold.torch'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
