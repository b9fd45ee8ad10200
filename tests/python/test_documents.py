# tests/python/test_documents.py - what the commands print with --json.
"""Every document is of the schema, and has the numbers of the text."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

import tilefold
from tilefold import cli

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads(
    (files(tilefold) / "documents.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture
def document(capsys, monkeypatch, tmp_path):
    """Runs a command with --json, and gives its code and its document."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        capsys.readouterr()
        assert cli.main([*words, "--json"]) == code
        made = json.loads(capsys.readouterr().out)
        VALIDATOR.validate(made)
        assert made["document"] == f"tilefold {words[0]}"
        return made

    return run


def test_a_run(document):
    made = document("run", "sum_j x_i*y_j", "x=1,2", "y=3,4", "--check", "2")
    assert (made["dtype"], made["shape"]) == ("float64", [2])
    assert made["values"] == [7, 14]
    assert made["pairs"] == 4
    assert made["relative_error"] == 0
    assert made["statistics"]["runs"] == 1


def test_a_run_to_a_file(document, tmp_path):
    made = document("run", "sum_j x_i*y_j", "x=1,2", "y=3,4", "-o", "out.npy")
    assert made["output"] == "out.npy"
    assert "values" not in made
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), [7, 14])


def test_numbers_that_json_has_not(document):
    assert document("run", "x_i/0", "x=1,-1,0")["values"] == [
        "inf",
        "-inf",
        "nan",
    ]
    one, _ = document("run", "z*x_i", "z=1+2j", "x=1,2")["values"]
    assert one == {"real": 1, "imaginary": 2}


def test_plans(document):
    words = ["sum_j |x_i - y_j|", "x=f32[3]", "y=f32[3]"]
    [found] = document("plans", *words)["passes"]
    costs = [one["nanoseconds_per_pair"] for one in found["others"]]
    assert found["chosen"]["nanoseconds_per_pair"] > 0
    assert all(cost > 0 for cost in costs)
    several = document("plans", "median_j |x_i - y_j|", *words[1:])
    assert len(several["passes"]) > 1


def test_plans_as_text_are_those_that_may_be_forced(capsys):
    words = ["sum_j x_i*y_j", "x=1,2", "y=3,4"]
    assert cli.main(["plans", *words]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert cli.main(["run", "-q", *words, "--plan", first]) == 0


def test_a_cache(document, tmp_path):
    folder = tmp_path / "kernels"
    options = tilefold.Options(cache_directory=str(folder))
    session = tilefold.Session(options)
    tilefold.reduce("sum_j x_j", x=np.ones(3), session=session)
    where = ["--directory", str(folder)]
    made = document("cache", "list", *where)
    [kernel] = made["kernels"]
    [file] = folder.rglob(kernel["key"] + "*")
    assert made["directory"] == str(folder)
    assert kernel["fault"] is None
    file.write_bytes(file.read_bytes()[:-1])
    [kernel] = document("cache", "verify", *where, code=1)["kernels"]
    assert kernel["fault"]


def test_the_language(document):
    sections = document("formulas")["sections"]
    assert ["+", "sum"] in [list(row.values()) for row in sections[0]["rows"]]


def test_a_doctor(document, monkeypatch):
    assert document("doctor")["good"]
    found = [("llvm", "it is missing", False)]
    monkeypatch.setattr(cli.doctor, "examine", lambda: iter(found))
    assert not document("doctor", code=1)["good"]


def test_statistics():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    tilefold.reduce("sum_j x_j", x=np.ones(3), session=session)
    statistics = session.stats()
    made = json.loads(statistics.to_json())
    VALIDATOR.validate(made)
    for name, value in made["statistics"].items():
        assert getattr(statistics, name) == value
