# tests/python/test_c_messages.py - a call that is refused is refused in the
# same words from C, with the same code, whatever is wrong with it.
"""The calls are those that the index of errors shows, and a few by dtype."""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tilefold

ROOT = Path(__file__).parents[2]
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
X, Y, B = np.ones((50, 3)), np.ones((60, 3)), np.ones(60)
# Of a call of Python's, beside the arrays of its formula.
OPTIONS = {
    "accumulate",
    "batch_rank",
    "options",
    "out",
    "ranges",
    "session",
    "sum_batch",
}
GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "no b": (GAUSSIAN, {"x": X, "y": Y, "l": 0.5}),
    "one too many": ("sum_j x_i·y_j", {"x": X, "y": Y, "z": B}),
    "dimensions": (GAUSSIAN, {"x": X, "y": Y[:, :2], "b": B, "l": 0.5}),
    "lengths": (GAUSSIAN, {"x": X, "y": Y, "b": B[:7], "l": 0.5}),
    "a vector's shape": ("sum_j x_i + b_j", {"x": X, "b": Y[:, :2]}),
    "a matrix": ("sum_j A @ y_j", {"A": np.ones((2, 2)), "y": Y}),
    "no component": ("sum_j y_j[3]", {"y": Y}),
    "a long vector": ("sum_j onehot(b_j, 5000)", {"b": B}),
    "whole and real": (
        "sum_j n_j % b_j",
        {"n": np.ones(60, "i8"), "b": 1j * B},
    ),
    "complex order": ("max_j z_j", {"z": 1j * B}),
    "text": ("sum_j x_i +", {"x": X}),
    "function": ("sum_j sine(b_j)", {"b": B}),
}


@pytest.fixture(scope="module")
def c() -> ModuleType:
    """The example in Python's ctypes, which is a C interface by itself."""
    path = ROOT / "examples/c/gaussian.py"
    spec = importlib.util.spec_from_file_location("gaussian_by_ctypes", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(path), tilefold.get_library()])
        spec.loader.exec_module(module)
    return module


def is_lent(value: object) -> bool:
    """Whether C has a word for it, whatever it is worth."""
    if type(value) is np.ndarray:  # and not one with a mask
        return value.dtype.kind in KINDS and value.dtype.isnative
    return isinstance(value, int | float)


def lent(c: ModuleType, array: np.ndarray) -> ctypes.Structure:
    """An array as DLPack describes it to C."""
    extents = (ctypes.c_int64 * array.ndim)(*array.shape)
    steps = [stride // array.itemsize for stride in array.strides]
    tensor = c.DLTensor(
        data=array.ctypes.data,
        device_type=1,
        ndim=array.ndim,
        code=KINDS[array.dtype.kind],
        bits=8 * array.itemsize,
        lanes=1,
        shape=extents,
        strides=(ctypes.c_int64 * array.ndim)(*steps),
    )
    tensor.owned = array
    return tensor


def refusal_in_c(
    c: ModuleType, text: str, arguments: dict[str, object]
) -> tuple[str, str]:
    """The code and the message, by tilefold_reduce."""
    given, kept = [], []
    for name, value in arguments.items():
        if isinstance(value, int | float):
            given.append(c.Argument(name.encode(), None, value, -1, 0))
            continue
        kept.append(lent(c, value))
        given.append(
            c.Argument(name.encode(), ctypes.pointer(kept[-1]), 0, -1, 0)
        )
    session, out = ctypes.c_void_p(), ctypes.POINTER(c.DLManagedTensor)()
    c.check(c.library.tilefold_session_create(None, ctypes.byref(session)))
    try:
        with pytest.raises(c.Error) as caught:
            c.check(
                c.library.tilefold_reduce(
                    session,
                    text.encode(),
                    (c.Argument * len(given))(*given),
                    len(given),
                    None,
                    ctypes.byref(out),
                )
            )
    finally:
        c.library.tilefold_session_free(session)
    return caught.value.code, str(caught.value)


def calls_of_the_index() -> dict[str, tuple[str, dict[str, object]]]:
    """Those that are one reduction of arrays and numbers, by their code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        from generate import met
    found = {}
    for code, entry in met.read().items():
        if not entry.source or entry.is_c or entry.is_apart:
            continue
        *before, last = ast.parse(entry.source).body
        call = getattr(last, "value", None)
        if (
            before
            or not isinstance(call, ast.Call)
            or ast.unparse(call.func) != "tilefold.reduce"
        ):
            continue
        names = {word.arg for word in call.keywords}
        if names & OPTIONS:
            continue
        words = {
            word.arg: eval(ast.unparse(word.value), met.names())
            for word in call.keywords
        }
        text = eval(ast.unparse(call.args[0]))
        if isinstance(text, str) and all(map(is_lent, words.values())):
            found[code] = (text, words)
    return found


def test_messages_are_the_same(c):
    calls = CALLS | calls_of_the_index()
    assert len(calls) >= 45
    families = set()
    for name, (text, arguments) in calls.items():
        with pytest.raises(tilefold.Error) as caught:
            tilefold.reduce(text, **arguments)
        families.add(type(caught.value).__name__)
        # C has no keywords beside those of the arguments.
        words = re.sub("; nor is it a setting: .*", "", str(caught.value))
        assert refusal_in_c(c, text, arguments) == (
            caught.value.code,
            words,
        ), name
    wanted = {"FormulaError", "ShapeError", "DTypeError", "ArgumentError"}
    assert wanted <= families
