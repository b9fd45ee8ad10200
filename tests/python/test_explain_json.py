# tests/python/test_explain_json.py - the stages of a formula as JSON.
"""Every document is of its schema, and says what the text says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

import tilefold
from conftest import GAUSSIAN

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads(
    (files(tilefold) / "explain.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
RANDOM = np.random.default_rng(0)
ARRAYS = {
    "x": RANDOM.random((20, 3), np.float32),
    "y": RANDOM.random((30, 3), np.float32),
    "b": RANDOM.random((30, 2), np.float32),
    "l": 0.5,
}
LONG = {name: RANDOM.random((40, 70), np.float32) for name in "xy"}

# Each has stages, nodes or fields that others do not have.
FORMULAS = {
    "a Gaussian of an open width": (GAUSSIAN, ARRAYS, {}),
    "no reduction": ("exp(-|x_i|²)*l", ARRAYS, {}),
    "a list": ("argkmin_j(|x_i - y_j|², 3)", ARRAYS, {}),
    "several passes": ("median_j |x_i - y_j|", ARRAYS, {}),
    "a fold": (
        "fold_j(|x_i - y_j|, [0, 0], add, join, result) with "
        "add(s, f) = s + [1, f], join(s, t) = s + t, result(s) = s[1]/s[0]",
        ARRAYS,
        {},
    ),
    "a definition": ("sum_j k(x_i, y_j) with k(u, v) = exp(u·v)", ARRAYS, {}),
    "a mask": ("sum_j where(j < i, x_i·y_j, 0)", ARRAYS, {}),
    "an infinite constant": ("max_j where(x_i·y_j > 0, 0, -1/0)", ARRAYS, {}),
    "products of fewer bits": (
        "sum_j exp(x_i·y_j)",
        LONG,
        {"options": tilefold.Options(tolerance=1e-3)},
    ),
    "a card": (GAUSSIAN, ARRAYS, {"gpu": "sm_90"}),
    "a card, products": (
        "sum_j exp(x_i·y_j)",
        LONG,
        {"gpu": "sm_90", "options": tilefold.Options(tolerance=1e-3)},
    ),
}


def documents(name):
    text, arrays, settings = FORMULAS[name]
    formula = tilefold.compile(text)
    given = {key: arrays[key] for key, _ in formula.names}
    plain = formula.explain(**given, **settings)
    found = formula.explain(**given, **settings, format="json")
    return plain, json.loads(found)


def title(stage):
    if "sweep" not in stage:
        return stage["stage"]
    return f"sweep {stage['sweep']} of {stage['sweeps']}: {stage['stage']}"


def without_times(text):
    return re.sub(r"\d+ ms", "ms", text)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_document_is_of_the_schema_and_has_the_text(name):
    plain, document = documents(name)
    VALIDATOR.validate(document)
    assert document["formula"] == FORMULAS[name][0]
    parts = [
        f"── {title(stage)}\n" + stage["text"].removesuffix("\n") + "\n"
        for stage in document["stages"]
    ]
    assert without_times("\n".join(parts)) == without_times(plain)


def test_values_are_those_of_the_text():
    """Of each kind one, against the text that explain prints of it."""
    _, document = documents("a Gaussian of an open width")
    stages = {stage["stage"]: stage for stage in document["stages"]}
    graph, text = (stages["canonical ir"][key] for key in ("value", "text"))
    for node in graph["nodes"]:
        assert re.search(rf"^%{node['id']} = {node['op']}\b", text, re.M)
    assert f"return %{graph['result']}" in text
    assert {argument["name"] for argument in graph["arguments"]} == set("xybl")
    [width] = [a for a in graph["arguments"] if a["name"] == "b"]
    assert width["type"] == {"dtype": "f32", "shape": [None], "axes": ["j"]}
    plans, text = (stages["plan"][key] for key in ("value", "text"))
    first, *others = re.findall(r"^(?:  or )?(isa=.*)$", text, re.M)
    assert plans["chosen"]["plan"]["text"] == first
    assert [one["plan"]["text"] for one in plans["others"]] == others
    cost = plans["chosen"]["nanoseconds_per_pair"]
    assert f"{cost:.2g} ns a pair" in text
    assert f"of the kind {plans['kind']}:" in text
    scratch = stages["lowered kernel"]["value"]["scratch"]
    assert f"scratch: {scratch['offset']}" in stages["lowered kernel"]["text"]


def test_what_a_card_takes():
    _, document = documents("a card")
    stages = {stage["stage"]: stage for stage in document["stages"]}
    if image := stages["registers"].get("value"):
        for kernel in image["kernels"]:
            said = f"{kernel['name']}: {kernel['registers']} registers, "
            assert said in stages["registers"]["text"]
    cost = stages["expected on an H200"]["value"]
    assert cost["pairs_per_second"] <= cost["most_pairs_per_second"]


def test_a_schema_tells_a_wrong_document():
    _, document = documents("a list")
    for wrong in (
        {**document, "version": 2},
        {**document, "stages": []},
        {**document, "stages": [{"stage": "ir", "text": ""}]},
    ):
        assert not VALIDATOR.is_valid(wrong)


def test_another_format_is_refused():
    f = tilefold.compile("sum_j x_j")
    with pytest.raises(
        tilefold.ArgumentError, match="format cannot be 'yaml'"
    ) as error:
        f.explain(x=np.ones(3), format="yaml")
    assert "pass 'text' or 'json'" in str(error.value)


def test_the_command_line_prints_it():
    command = [sys.executable, "-m", "tilefold", "explain", "--json"]
    done = subprocess.run(
        [*command, "sum_j |x_i - y_j|"], capture_output=True, check=True
    )
    document = json.loads(done.stdout)
    VALIDATOR.validate(document)
    assert document["formula"] == "sum_j |x_i - y_j|"
