# tests/python/test_bench_smoke.py - what the benchmark times is right.
"""Tiny sizes, equality only: no test fails because a machine is slow."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench import (
    catalogue,
    function_limits,
    goals,
    plots,
    report,
    roofline_library,
    sweep,
    tables,
)
from bench.calibration import Sample
from bench.case import Absent, Measured
from bench.command import absences, main
from bench.functions import FUNCTIONS
from bench.port_bound import cycles_of_vector, shared_bound
from bench.regression import LIMITS, ratio_of
from bench.rounds import Track
from bench.statements import Double, function
from bench.summary import ratio, timings
from bench.tasks.growth.task import SIZES

import tilefold

HERE = ("gaussian", "call_overhead", "accuracy", "diag", "cold_compile")
HERE += ("attention", "neighbors", "reductions")
HERE += ("high_dimension", "wide", "kernel_matrix", "kernel_product")
HERE += ("few_points", "batches", "layouts", "int8_points", "growth")
HERE += ("attention_views", "statements", "cold_statements")
HERE += ("functions", "networks", "torch_calls")
HERE += ("sklearn_neighbors", "keops_programs")
OWN = ("numpy", "prescaled", "sequential", "tilefold", "tilefold_reduce")
OWN += ("tilefold_column_major", "tilefold_every_other_row")
OWN += ("tilefold_transposed", "tilefold_int8", "tilefold_nchw")
OWN += ("tilefold_bound", "tilefold_torch")
OWN += ("tilefold_100k", "tilefold_million_rows", "tilefold_million_columns")


def pairs():
    for entry in catalogue.entries():
        if entry.task in HERE:
            for name, module in catalogue.contender_modules(entry).items():
                if name in OWN:
                    yield pytest.param(
                        entry.case, module, id=f"{entry.case.name}-{name}"
                    )


@pytest.mark.parametrize(("case", "module"), list(pairs()))
def test_a_contender_agrees_with_float64(case, module):
    problem = case.problem(True)
    outcome = importlib.import_module(module).prepare(problem)()
    result = outcome.result if isinstance(outcome, Measured) else outcome
    assert problem.error(result) <= min(case.tolerance, 1e-3)


@pytest.mark.parametrize("name", ["gp_training_n1000", "svgp_training"])
def test_a_step_of_training_has_the_gradients_of_the_likelihood(name):
    pytest.importorskip("gpytorch")
    [entry] = catalogue.select([name])
    problem = entry.case.problem(True)
    modules = catalogue.contender_modules(entry)
    for contender in ("tilefold", "gpytorch"):
        step = importlib.import_module(modules[contender]).prepare(problem)()
        assert problem.error(step) <= entry.case.tolerance
    assert problem.error(step._replace(loss=2 * step.loss)) > 0.05
    wrong = step._replace(gradient=-2 * step.gradient)
    assert problem.error(wrong) > entry.case.tolerance


@pytest.mark.filterwarnings("ignore")  # of steps that are cut short
@pytest.mark.parametrize("name", ["n10000", "nystroem", "falkon", "spectral"])
def test_a_kernel_machine_solves_its_equations(name):
    [entry] = catalogue.select([f"kernel_ridge_{name}"])
    problem = entry.case.problem(True)
    for module in catalogue.contender_modules(entry).values():
        result = importlib.import_module(module).prepare(problem)()
        assert problem.error(result) <= entry.case.tolerance
        shifted = np.concatenate([result[1:], result[:1]])
        assert problem.error(shifted) > entry.case.tolerance


def test_a_wrong_gradient_of_tensors_is_seen():
    torch = pytest.importorskip("torch")
    [entry] = catalogue.select(["torch_calls_grad"])
    problem = entry.case.problem(True)
    modules = catalogue.contender_modules(entry)
    for contender in ("torch_eager", "tilefold"):
        call = importlib.import_module(modules[contender]).prepare(problem)
        assert problem.error(call()) <= entry.case.tolerance
        assert problem.error(torch.zeros_like(call())) > 0.1


def test_results_of_another_machine_have_a_report_of_their_own(
    tmp_path, capsys
):
    main(["--results", str(tmp_path), "--report"])
    assert "no results" in capsys.readouterr().err
    readme = tmp_path / "README.md"
    assert not readme.exists()
    name = "gaussian.json"
    shutil.copy(Path(report.__file__).parent / "results" / name, tmp_path)
    main(["--results", str(tmp_path), "--report"])
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("# Results")
    assert "hand-written AVX-512" in text
    assert "](gaussian.png)" in text
    assert (tmp_path / "gaussian.png").exists()
    readme.write_text("My machine.\n" + text, encoding="utf-8")
    main(["--results", str(tmp_path), "--report"])
    assert readme.read_text(encoding="utf-8") == "My machine.\n" + text


def test_the_report_is_up_to_date():
    folder = Path(report.__file__).parent
    results = report.read_results(folder / "results")
    pictures = {
        task: f"results/{task}.png" for task in plots.drawn_tasks(results)
    }
    kept = (folder / "RESULTS.md").read_text(encoding="utf-8")
    fresh = report.with_results(kept, results, pictures)
    assert fresh == kept, "run: python -m bench --report"
    for picture in pictures.values():
        assert (folder / picture).is_file()


def test_an_error_is_seen():
    case = catalogue.find("gaussian_d3_f32")
    problem = case.problem(True)
    numpy = importlib.import_module("bench.tasks.gaussian.numpy")
    result = numpy.prepare(problem)()
    result[-1] *= 1.001
    assert problem.error(result) > case.tolerance
    result[-1] = float("nan")
    assert problem.error(result) == float("inf")


def test_a_wrong_sum_of_statements_is_seen():
    problem = catalogue.find("statements_30").problem(True)
    exact = np.array([function(30, Double)(x) for x in problem.arrays])
    assert problem.error(exact) < 1e-6
    exact[3] *= 1.001
    assert problem.error(exact) > 1e-6


def test_the_chain_of_statements_is_spelled_as_listed():
    text = catalogue.find("statements_10").problem(True).text
    assert text == (
        "sum_j sum(t10) with t1 = x_j + 0.1, t2 = sin(t1), t3 = t2*1.1, "
        "t4 = cos(t3), t5 = t4 + 0.2, t6 = relu(t5), t7 = t6 - 0.1, "
        "t8 = exp(0.5*t7), t9 = t8 + 0.3, t10 = sigmoid(t9)"
    )


def test_growth_is_judged_by_the_time_of_a_pair():
    case = catalogue.find("growth")
    rows = {
        name: row(1.0, times_tilefold={"median": n * m / 1e8 * 1.25})
        for name, (n, m) in SIZES.items()
    }
    values = [goal.reading(rows) for goal in case.goals]
    assert values[:3] == pytest.approx([0.25] * 3)
    assert not any(
        g.met(v) for g, v in zip(case.goals, values[:3], strict=False)
    )
    assert values[3:] == [0, 0, 0]


def test_a_wrong_neighbour_is_seen():
    case = catalogue.find("neighbors_d3")
    problem = case.problem(True)
    tool = importlib.import_module("bench.tasks.neighbors.tilefold")
    places = tool.prepare(problem)()
    places[-1, -1] = problem.given.m - 1 - places[-1, -1]
    assert problem.error(places) > case.tolerance
    places[-1, -1] = places[-1, 0]
    assert problem.error(places) == float("inf")


def test_a_wrong_estimate_is_seen():
    tool = importlib.import_module("bench.tasks.sklearn_neighbors.tilefold")
    made = {
        name: catalogue.find(name).problem(True)
        for name in ("sklearn_nearest", "sklearn_density", "sklearn_means")
    }
    results = {name: tool.prepare(made[name])() for name in made}
    distances, places = results["sklearn_nearest"]
    distances[-1, -1] *= 1.01
    assert made["sklearn_nearest"].error((distances, places)) > 1e-3
    results["sklearn_density"][-1] += 0.01
    assert made["sklearn_density"].error(results["sklearn_density"]) > 1e-3
    results["sklearn_means"].labels_[-1] += 1
    wrong = made["sklearn_means"].error(results["sklearn_means"])
    assert wrong == float("inf")


@pytest.mark.parametrize(
    "name",
    ["attention_d64", "batches_30", "kernel_matrix_n2000_d2", "wide_e64"],
)
def test_one_wrong_number_is_seen(name):
    entry = catalogue.select([name])[0]
    problem = entry.case.problem(True)
    tool = importlib.import_module(
        catalogue.contender_modules(entry)["tilefold"]
    )
    result = tool.prepare(problem)().copy()
    result[-1, -1] += 0.01
    assert problem.error(result) > entry.case.tolerance
    result[-1, -1] = float("nan")
    assert problem.error(result) == float("inf")


def test_a_sample_is_dropped_when_the_machine_was_busy():
    def sample(before, after, lost):
        return Sample(0.1, 0.1, before, after, lost)

    assert sample(1.05, 1.05, 0.0).is_quiet(1.0)
    assert not sample(1.2, 1.0, 0.0).is_quiet(1.0)
    assert not sample(1.0, 1.2, 0.0).is_quiet(1.0)
    assert not sample(1.0, 1.0, 0.05).is_quiet(1.0)


def track(*kept):
    return Track(None, 1, kept=list(kept), taken=len(kept))


def test_ratios_are_taken_round_by_round():
    slow, fast = track(2.0, None, 6.0), track(1.0, 1.0, 2.0)
    assert ratio(slow, fast)["median"] == pytest.approx(2.5)
    assert ratio(track(None), fast) is None


def test_few_samples_are_marked():
    assert "status" not in timings(track(1.0, 2.0, 3.0), 3)
    assert timings(track(1.0, None, 3.0), 3)["status"] == "disturbed"


def row(seconds, **more):
    times = {"median": seconds, "low": seconds, "high": seconds}
    return {
        "label": "a",
        "status": "ok",
        "error": 1e-7,
        "notes": {},
        "peak_bytes": 0,
        "seconds": times,
        "kept": 7,
        "taken": 8,
        **more,
    }


def test_goals_read_rows():
    peers = {
        "tilefold": row(1.0),
        "roofline": row(0.9, times_tilefold={"median": 0.9}),
        "slow": row(50.0, times_tilefold={"median": 50.0}),
        "good": row(20.0, times_tilefold={"median": 20.0}),
        "off": row(2.0, times_tilefold={"median": 2.0}, status="wrong"),
    }
    assert goals.share_of_roofline(0.85).reading(peers) == 0.9
    assert goals.times_best_peer(8).reading(peers) == 20.0
    assert goals.times_faster("absent", 8).reading(peers) is None
    goal = goals.at_most("", "tilefold/seconds/median", 25, 1e3, " ms")
    assert not goal.met(goal.reading(peers))


def test_limits_of_speed_name_what_there_is():
    for limit in LIMITS:
        [entry] = catalogue.select([limit.case])
        assert limit.contender in catalogue.contender_modules(entry)


def test_a_wrong_result_meets_no_limit_of_speed():
    rows = {"tilefold": row(1.0), "numpy": row(9.0), "off": row(1.0)}
    assert ratio_of(rows, "numpy") == 9.0
    rows["off"]["status"] = "wrong"
    assert ratio_of(rows, "off") is None
    rows["tilefold"]["status"] = "failed"
    assert ratio_of(rows, "numpy") is None


def test_a_wrong_row_says_so():
    case = {"title": "t", "contenders": {"a": row(0.001, status="wrong")}}
    assert "WRONG (1e-07), a | 1.00 ms" in tables.case_table(case)


def test_a_limit_has_no_error():
    limit = row(0.001, label="a limit", error=None)
    case = {"title": "t", "contenders": {"a": row(0.002), "limit": limit}}
    assert "| 7 of 8 |  | 0.0 MiB | – |" in tables.case_table(case)


def test_a_row_prints_all_that_is_known():
    own = row(
        2.0,
        label="tilefold",
        pairs_per_second={"median": 3e9},
        expected_seconds=1.5,
        port_cycles=4.5,
        times_tilefold={"median": 1.0},
        peak_bytes=2**21,
    )
    limit = row(
        1.0,
        label="by hand",
        pairs_per_second={"median": 6e9},
        times_tilefold={"median": 0.5},
    )
    case = {"title": "t", "contenders": {"tilefold": own, "roofline": limit}}
    head, _, first, second = tables.case_table(case).splitlines()
    assert head == (
        "| t | time | quartiles | kept | G pairs/s | × tilefold "
        "| of the roofline | model | port cycles | memory | error |"
    )
    assert first == (
        "| by hand | 1.00 s | 1.00–1.00 s | 7 of 8 | 6.00 | 0.500 | 1.00 |  "
        "|  | 0.0 MiB | 1.0e-07 |"
    )
    assert second == (
        "| tilefold | 2.00 s | 2.00–2.00 s | 7 of 8 | 3.00 | 1.00 | 0.500 "
        "| 1.50 s | 4.50 | 2.0 MiB | 1.0e-07 |"
    )


def test_the_ports_of_a_loop_are_counted():
    """Of the innermost one, a vector of the tile; none around a call."""
    text = """.outer:
.inner:
\tvmulps\t%ymm1, %ymm1, %ymm2
\tvfmadd231ps\t%ymm2, %ymm2, %ymm3
\tvfmadd231ps\t%ymm1, %ymm1, %ymm4
\tvfmadd231ps\t%ymm1, %ymm2, %ymm5
\tjl\t.inner
\tjl\t.outer
"""
    assert 0 < cycles_of_vector(text, 2) <= 2
    permutations = "\tvpermps\t%ymm1, %ymm2, %ymm3\n" * 4
    shared = text.replace("\tjl\t.inner", permutations + "\tjl\t.inner")
    assert cycles_of_vector(shared, 2) >= 2
    assert cycles_of_vector(text.replace("\tvmulps", "\tcallq"), 2) is None
    assert cycles_of_vector("", 2) is None


def test_a_port_that_others_may_use_is_shared():
    permutation, product, shift = {"5": 1.0}, {"0": 0.5, "5": 0.5}, {"0": 1.0}
    assert shared_bound([]) == 0
    assert shared_bound([permutation] * 3 + [product] * 2) == 3
    assert shared_bound([permutation] * 3 + [product] * 5) == 4
    assert shared_bound([permutation] * 2 + [product, shift, shift]) == 2.5


def test_every_result_can_be_reported():
    assert {e.task for e in catalogue.entries()} == set(catalogue.task_names())
    with pytest.raises(ValueError, match="no task or case 'gausian'"):
        catalogue.select(["gausian"])


def test_what_is_missing_is_said_once_with_its_cure():
    faiss = {"status": "absent", "reason": "no module faiss"}
    roofline = {"status": "absent", "reason": "this processor has no AVX-512"}
    rows = {"tilefold": row(1.0), "faiss_flat": faiss, "roofline": roofline}
    said = absences([{"contenders": rows}, {"contenders": rows}])
    assert said[:2] == [
        "without faiss_flat: no module faiss",
        "without roofline: this processor has no AVX-512",
    ]
    assert said[2].endswith("-m pip install '.[bench]' brings all packages")
    assert absences([{"contenders": {"tilefold": row(1.0)}}]) == []


def test_a_missing_library_names_the_cure(tmp_path, monkeypatch):
    monkeypatch.delenv("TILEFOLD_ROOFLINE", raising=False)
    monkeypatch.setattr(roofline_library, "ROOT", tmp_path)
    with pytest.raises(Absent, match="tilefold bench then builds it"):
        roofline_library.load()


def test_each_function_and_network_has_a_limit_beside_exp():
    limits = function_limits.read_limits()
    assert [limit[:2] for limit in limits] == [
        (name, dtype)
        for dtype in ("float32", "float64")
        for name in FUNCTIONS
        if name != "exp"
    ] + [
        (function_limits.network_name(*network), "float32")
        for *network, _ in function_limits.NETWORKS
    ]
    assert all(limit.most >= 1 for limit in limits)


def test_a_function_that_is_slow_or_wrong_misses_its_limit(monkeypatch):
    monkeypatch.setattr(function_limits, "POINTS", 100)
    slow = function_limits.FunctionLimit("log", "float32", 1e-9)
    ((limit, said),) = function_limits.checked([slow])
    assert str(limit) == "log of float32"
    assert said.endswith("times the time of exp, at most 1e-09")
    monkeypatch.setattr(function_limits, "tolerance", lambda *_: 0)
    ((_, said),) = function_limits.checked([slow])
    assert said.startswith("sum_j log(u) with u = |x_i - y_j|² is off by ")


def test_the_sweep_compares_before_it_times():
    """Each term and reduction once; a wrong result ends it."""
    seen = set()
    for cell in sweep.cells():
        family = cell.term, cell.reduction
        few = cell.rows <= 2 and cell.columns <= 10_000 and cell.width <= 3
        if family not in seen and few:
            seen.add(family)
            arguments = sweep.arguments_of(cell)
            got = tilefold.reduce(cell.formula, **arguments)
            assert sweep.is_right(cell, arguments, got), cell
            assert not sweep.is_right(cell, arguments, np.asarray(got) + 7)
    assert {term for term, _ in seen} == set(sweep.TERMS)
    assert {reduction for _, reduction in seen} == set(sweep.REDUCTIONS)


def test_a_cliff_is_a_time_that_more_work_undercuts():
    few, many = (
        sweep.Cell("sum", "distance", "float32", rows, 100, 3)
        for rows in (4, 5)
    )
    rows = [sweep.Measured(few, 2e-3, 1e-3), sweep.Measured(many, 1e-3, 1e-3)]
    sweep.hold_beside_neighbours(rows)
    assert [row.neighbour for row in rows] == [2, 1]
    assert rows[0].worst == 2
    assert "| `sum_j (\\|x_i - y_j\\|)` | float32 | 4 |" in sweep.report(rows)
