# tests/python/test_gpu_card.py - what is run where there is a card, run here on
# the fake driver: the programs work on the day a card is there.
from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fake_gpu
import tilefold

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.card import Card, NoCard
from bench.case import Absent
from bench.gpu.cases import CASES, select
from bench.gpu.contenders import CONTENDERS
from bench.gpu.own import tilefold_formula

#: Of what takes long, another third each day.
pytestmark = pytest.mark.sample(0.34)

ROOT = Path(__file__).parents[2]


def run(*words: str, **changed: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "TILEFOLD_CUDA_DRIVER": fake_gpu.library("fake_cuda"),
        "TILEFOLD_NVRTC": fake_gpu.library("fake_nvrtc"),
        **changed,
    }
    return subprocess.run(
        words,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.fixture
def card():
    card = Card(driver=fake_gpu.library("fake_cuda"))
    yield card
    card.close()


def test_the_table_of_the_language_runs_on_a_card(tmp_path):
    found = tmp_path / "results.json"
    cases = [str(number) for number in (0, 1, 11, 22, 40, 53, 66, 77)]
    words = ("tests/gpu/run.py", "--only", *cases, "--output", str(found))
    done = run(sys.executable, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(found.read_text())
    assert results["card"] == "a fake card"
    assert results["outcomes"]["right"] >= 5
    assert all(case["formula"] for case in results["cases"])


def test_a_wrong_result_is_seen(tmp_path):
    source = (ROOT / "tests" / "gpu" / "run.py").read_text()
    broken = source.replace(
        "numbers = got.astype(np.float64)",
        "numbers = got.astype(np.float64) + 1",
    )
    assert broken != source
    program = tmp_path / "run.py"
    broken = broken.replace("Path(__file__).parents[2]", "Path.cwd()")
    program.write_text(broken)
    # The results of some cases may be anything, as far as is known.
    words = ("--only", *"01234", "--output", str(tmp_path / "results.json"))
    done = run(sys.executable, str(program), *words)
    assert done.returncode == 1
    assert re.search(r"wrong \d: got", done.stdout)


def test_the_benchmark_of_a_card():
    words = ("-m", "bench", "--gpu", "--quick", "gaussian_d3", "statements_1")
    done = run(sys.executable, *words, "--contender", "tilefold")
    assert done.returncode == 0, done.stdout + done.stderr
    path = ROOT / "build" / "bench" / "results" / "gpu.json"
    report = json.loads(path.read_text())
    row = report["cases"]["gaussian_d3"]["contenders"]["tilefold"]
    assert row["status"] == "right"
    assert row["seconds"]["median"] > 0
    assert set(report["calls"]) == {"first, ms", "from disk, ms", "a call, µs"}
    picture = path.with_suffix(".png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert str(path.with_suffix(".png")) in done.stdout + done.stderr


@pytest.mark.parametrize(
    "words", [("-m", "bench", "--gpu"), ("tests/gpu/run.py",)]
)
def test_without_a_card_they_say_so(words):
    done = run(sys.executable, *words, TILEFOLD_CUDA_DRIVER="/no/libcuda.so.1")
    assert done.returncode == 0
    said = done.stdout + done.stderr
    assert said.startswith("no CUDA device: /no/libcuda.so.1")


def test_scripts_test_says_that_there_is_no_card():
    done = run("tests/gpu/run.sh", TILEFOLD_CUDA_DRIVER="/no/libcuda.so.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no CUDA device: /no/libcuda.so.1")


@pytest.mark.parametrize(
    "case", ["attention_d64", "nearest_d3", "dense_1000_d2", "product_1000_d10"]
)
@pytest.mark.usefixtures("driver")
def test_a_case_of_the_benchmark_is_right(case, card, gpu_session, monkeypatch):
    compiled = tilefold.compile
    monkeypatch.setattr(
        tilefold, "compile", lambda text: compiled(text, session=gpu_session)
    )
    lazy = functools.partial(tilefold.kernel, session=gpu_session)
    monkeypatch.setattr(tilefold, "kernel", lazy)
    chosen = select([case])[0]
    problem = chosen.problem(True)
    contest = tilefold_formula(problem, card)
    assert problem.error(contest.result(contest.run())) <= chosen.tolerance


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("tilefold_tf32x3", "gaussian_d64"),
        ("tilefold_bf16x3", "gaussian_d16"),
        ("tilefold_bf16", "attention_d64"),
    ],
)
@pytest.mark.usefixtures("driver")
def test_a_tolerance_is_a_contender(name, case, card, gpu_session, monkeypatch):
    compiled = tilefold.compile
    monkeypatch.setattr(
        tilefold, "compile", lambda text: compiled(text, session=gpu_session)
    )
    chosen = select([case])[0]
    problem = chosen.problem(True)
    contest = CONTENDERS[name](problem, card)
    assert problem.error(contest.result(contest.run())) <= chosen.tolerance
    assert chosen.limit_of(name) >= chosen.limit
    with pytest.raises(Absent, match="of long vectors"):
        CONTENDERS[name](select(["nearest_d64"])[0].problem(True), card)


TENSORS = [name for name in CONTENDERS if "tilefold" not in name]
TENSORS.remove("cupy_chunked")


@pytest.mark.filterwarnings("ignore")  # of what is not compiled here
@pytest.mark.parametrize("name", TENSORS)
def test_contenders_of_tensors_are_right(name, monkeypatch):
    """On the CPU, where a tensor that goes to a card stays what it is."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "cuda", lambda tensor, *_: tensor)
    monkeypatch.setattr(torch, "compile", lambda run, **_: run)
    tried = ["gaussian_d3", "nearest_d3", "attention_d64", "statements_10"]
    if name != "pykeops":  # which takes ten seconds to compile each
        tried += ["gaussian_d64", "dense_1000_d2", "product_1000_d10"]
    met = 0
    for case in select(tried):
        problem = case.problem(True)
        try:
            contest = CONTENDERS[name](problem, None)
        except Absent:
            continue
        met += 1
        assert problem.error(contest.result(contest.run())) <= case.tolerance
    assert met


def test_what_does_not_fit_a_card_is_absent(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for name in ("torch_broadcast", "torch_vmap"):
        problem = select(["dense_50000_d10"])[0].problem(False)
        with pytest.raises(Absent, match="200 GB in between"):
            CONTENDERS[name](problem, None)


def test_cases_are_found_by_how_they_begin():
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.name for case in select(["nearest"])} == {
        "nearest_d3",
        "nearest_d64",
    }
    with pytest.raises(ValueError, match="no case 'nothing'"):
        select(["nothing"])


@pytest.mark.usefixtures("driver")
def test_arrays_of_a_card_come_back(card, gpu_session):
    array = np.arange(24, dtype="f4").reshape(6, 4)[::-1, ::2]
    out = tilefold.reduce("x_i * 2", x=card.put(array), session=gpu_session)
    np.testing.assert_array_equal(card.get(out), 2 * array)


def test_a_driver_that_finds_no_card(driver):
    driver.devices = 0
    with pytest.raises(NoCard, match="no CUDA device: the driver finds none"):
        Card(driver=fake_gpu.library("fake_cuda"))
