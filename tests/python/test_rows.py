# tests/python/test_rows.py - kernels that give rows their results at once.
"""Where an axis has few points, a kernel keeps no state between panels of
columns: its results have the bits of the usual kernel's, of any shape and
stride, and plans for it are refused where there are more columns.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilefold

#: With the names that they read.
FORMULAS = {
    "sum_j exp(-|x_i - y_j|²/2l²) b_j": "xybl",
    "sum_j exp(-|x_i - y_j|²/2l²)": "xyl",
    "max_j x_i·y_j": "xy",
    "argmin_j |x_i - y_j|²": "xy",
    "logsumexp_j(-|x_i - y_j|²/2l²)": "xyl",
    "softmax_j(x_i·y_j, b_j)": "xyb",
    "l*(sum_j exp(-|x_i - y_j|) b_j) / (sum_j exp(-|x_i - y_j|)) + 1": "xybl",
    "mean_j (y_j - x_i)": "xy",
    "sum_j exp(-|x_i - y_j|²) b_j*(y_j - x_i)": "xyb",
}
GAUSSIAN = next(iter(FORMULAS))


def arrays_of(formula: str, rows: int, columns: int) -> dict[str, object]:
    random = np.random.default_rng(rows + columns)
    all_of = {
        "x": random.random((rows, 3), dtype="float32"),
        "y": random.random((columns, 3), dtype="float32"),
        "b": random.random(columns, dtype="float32"),
        "l": 0.7,
    }
    return {name: all_of[name] for name in FORMULAS.get(formula, "xy")}


def session_of(formula: str, nest: str, threads: int) -> tilefold.Session:
    """Its plan is the best one, as rows or as usual."""
    plan = tilefold.compile(formula).plans(**arrays_of(formula, 5, 7))[0]
    plan = re.sub("nest=[a-z_]+", f"nest={nest}", plan)
    return tilefold.Session(tilefold.Options(plan=plan, threads=threads))


@pytest.mark.parametrize("formula", FORMULAS)
def test_results_are_those_of_the_usual_kernel(formula: str) -> None:
    usual = session_of(formula, "reduce", 1)
    rows_at_once = [
        session_of(formula, "single_panel", n) for n in (1, 2, 3, 8)
    ]
    for rows in (0, 1, 15, 33, 2100):
        for columns in (0, 1, 2, 31, 256):
            arrays = arrays_of(formula, rows, columns)
            wanted = tilefold.reduce(formula, **arrays, session=usual)
            for session in rows_at_once:
                found = tilefold.reduce(formula, **arrays, session=session)
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("formula", FORMULAS)
def test_results_go_where_they_are_wanted(formula: str) -> None:
    arrays = arrays_of(formula, 700, 9)
    usual = session_of(formula, "reduce", 2)
    session = session_of(formula, "single_panel", 2)
    wanted = tilefold.reduce(formula, **arrays, session=usual)
    memory = np.ones((*wanted.shape[::-1], 3), wanted.dtype)
    out = memory[..., 1].T
    tilefold.reduce(formula, **arrays, session=session, out=out)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(memory[..., ::2], 1)
    if wanted.dtype.kind == "f":
        tilefold.reduce(
            formula, **arrays, session=session, out=out, accumulate=True
        )
        np.testing.assert_array_equal(out, wanted + wanted)


def test_batches_of_few_points_take_it() -> None:
    random = np.random.default_rng(3)
    x, y = random.random((2, 4700, 30, 3), dtype="float32")
    b = random.random((4700, 30, 1), dtype="float32")
    formula = tilefold.compile(GAUSSIAN)
    assert "nest=single_panel" in formula.plans(x=x, y=y, b=b, l=0.7)[0]
    found = formula(x=x, y=y, b=b, l=0.7)
    usual = session_of(GAUSSIAN, "reduce", 2)
    np.testing.assert_allclose(
        found, formula(x=x, y=y, b=b, l=0.7, session=usual), rtol=1e-6
    )


def test_more_columns_than_a_panel_are_refused() -> None:
    arrays = arrays_of(GAUSSIAN, 10, 300)
    with pytest.raises(
        tilefold.ArgumentError,
        match="the plan's 'nest': single_panel, of at most 256 columns, "
        "and these have 300",
    ):
        tilefold.reduce(
            GAUSSIAN, **arrays, session=session_of(GAUSSIAN, "single_panel", 1)
        )


@pytest.mark.parametrize(
    "formula",
    [
        "argkmin_j(|x_i - y_j|², 3)",
        "sum_j where(j < i, x_i·y_j, 0)",
        "x_i + sum_j (y_j - x_i)",
        "sum_ij |x_i - y_j|²",
    ],
)
def test_formulas_that_need_a_state_have_no_such_plan(formula: str) -> None:
    with pytest.raises(tilefold.ArgumentError, match="the plan's 'nest'"):
        tilefold.reduce(
            formula,
            **arrays_of(formula, 10, 10),
            session=session_of(formula, "single_panel", 1),
        )
