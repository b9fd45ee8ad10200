# tests/python/test_catalogue.py - the named formulas against references, as
# formulas, as functions and by their bare names; their table in the README.
from __future__ import annotations

import inspect
import os
import re
from pathlib import Path

import numpy as np
import pytest

import tilefold
from catalogue_references import PAIRS, REDUCTIONS, tangent
from tilefold import _core

README = Path(__file__).parents[2] / "formulas" / "README.md"
ROWS = {name: row for name, *row in _core.named_formulas()}
TABLE = re.compile(r"(?<=<!-- catalogue\.def -->\n).*?(?=<!-- end -->)", re.S)
# Their formulas take components, a matrix or a vector.
OF_VECTORS = {"haversine", "lorentz", "mahalanobis", "spectral_mixture"}

names = pytest.mark.parametrize("name", PAIRS)


def points_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    return PAIRS[name].points(np.random.default_rng(3))


def call_of(name: str) -> str:
    """`gaussian(x_i, y_j, l)`"""
    return f"{name}({', '.join(['x_i', 'y_j', *PAIRS[name].parameters])})"


def kernel(text: str, name: str, x, y) -> np.ndarray:
    return tilefold.kernel(text, PAIRS[name].parameters, x=x, y=y).dense()


def test_every_row_has_a_reference():
    pairs = {name for name, row in ROWS.items() if not row[-1]}
    assert set(PAIRS) == pairs
    assert set(REDUCTIONS) == set(ROWS) - pairs


@names
def test_the_parameters_are_those_of_the_row(name):
    assert ", ".join(PAIRS[name].parameters) == ROWS[name][1]


@names
def test_values_are_those_of_the_reference(name):
    x, y = points_of(name)
    reference = PAIRS[name]
    with np.errstate(invalid="ignore"):
        expected = reference.matrix(x, y, **reference.parameters)
    got = kernel(ROWS[name][0], name, x, y)
    assert np.isfinite(got).all()
    known = np.isfinite(expected)
    assert known.mean() > 0.99, "0/0 of the origin with itself, at most"
    assert got[known] == pytest.approx(
        expected[known], rel=1e-11, abs=reference.noise
    )


@names
def test_gradients_are_finite_where_points_coincide(name):
    x, y = points_of(name)
    given = dict(PAIRS[name].parameters)
    f = tilefold.compile(f"sum_ij {call_of(name)}")
    fixed = PAIRS[name].fixed
    moving = ["x", "y", *(key for key in given if key not in fixed)]
    for dtype in ("float64", "float32"):
        points = {"x": x.astype(dtype), "y": y.astype(dtype)}
        gradients = f.grad(moving)(points | given)
        for argument, gradient in zip(moving, gradients, strict=True):
            assert np.isfinite(np.asarray(gradient)).all(), argument


@names
def test_gradients_are_those_of_the_reference(name):
    """By central differences, at points that do not coincide."""
    x, y = points_of(name)
    x, y, reference = x[6:9], y[6:10], PAIRS[name]
    f = tilefold.compile(f"sum_ij {call_of(name)}")
    got = f.grad("x")(reference.parameters, x=x, y=y)
    direction = np.random.default_rng(5).standard_normal(x.shape)
    direction = tangent(reference.points, x, direction)
    step = 1e-5
    ahead, behind = (
        reference.matrix(x + s * direction, y, **reference.parameters).sum()
        for s in (step, -step)
    )
    slope = (ahead - behind) / (2 * step)
    assert (got * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-6)


@names
def test_a_call_and_a_bare_name_are_the_formula(name):
    x, y = points_of(name)
    formula = kernel(ROWS[name][0], name, x, y)
    for text in (call_of(name), name):
        assert kernel(text, name, x, y) == pytest.approx(
            formula, rel=1e-12, abs=1e-14
        )


@pytest.mark.parametrize("name", sorted(set(PAIRS) - OF_VECTORS))
def test_points_of_one_component_may_be_scalars(name):
    x, y = points_of(name)
    one = kernel(call_of(name), name, x[:, :1], y[:, :1])
    assert kernel(call_of(name), name, x[:, 0], y[:, 0]) == pytest.approx(
        one, rel=1e-12, abs=1e-14
    )


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_those_of_the_reference(name):
    random = np.random.default_rng(4)
    shapes = {
        "x": (12, 3), "y": (15, 3), "b": (15,), "g": (15,),
        "q": (12, 3), "k": (15, 3), "v": (15, 2),
    }  # fmt: skip
    numbers = {"l": 0.7, "d": 3, "epsilon": 0.4}
    arguments = {
        key: numbers.get(key, random.standard_normal(shapes.get(key, ())))
        for key in inspect.signature(REDUCTIONS[name]).parameters
    }
    expected = REDUCTIONS[name](**arguments)
    for text in (name, ROWS[name][0]):
        assert tilefold.reduce(text, arguments) == pytest.approx(expected)


def test_functions_stand_inside_formulas(points):
    got = tilefold.reduce("sum_j gaussian(x_i, y_j, l) b_j", points.arguments)
    assert got == pytest.approx(points.matrix @ points.b)
    scaled = tilefold.reduce(
        "sum_j 2k(x_i, y_j) b_j with k(u, v) = gaussian(u, v, l)",
        points.arguments,
    )
    assert scaled == pytest.approx(2 * got)


def test_a_definition_of_the_same_name_wins(points):
    got = tilefold.reduce(
        "sum_j linear(x_i, y_j) with linear(u, v) = 2u·v",
        x=points.x,
        y=points.y,
    )
    assert got == pytest.approx(2 * (points.x @ points.y.T).sum(1))


def test_an_argument_of_the_same_name_is_a_plain_name(points):
    x = points.x[:, 0]
    got = tilefold.reduce("sum_i linear x_i", x=x, linear=2.0)
    assert got == pytest.approx(2 * x.sum())
    assert tilefold.reduce("sum_i energy_i²", energy=x) == pytest.approx(x @ x)


def test_reductions_are_no_functions(points):
    with pytest.raises(tilefold.FormulaError, match="unknown function"):
        tilefold.reduce("attention(x_i, y_j, 3)", x=points.x, y=points.y)


def test_the_table_of_the_readme_is_the_catalogue():
    text = README.read_text(encoding="utf-8")
    fresh = TABLE.sub(lambda _: table(), text)
    if os.environ.get("TILEFOLD_UPDATE_GOLDEN"):
        README.write_text(fresh, encoding="utf-8")
    assert fresh == text, "run again with TILEFOLD_UPDATE_GOLDEN=1"
    assert TABLE.search(text)


def table() -> str:
    """Of functions, then of reductions."""
    text = ""
    for reduces, title in ((False, "function of x, y"), (True, "reduction")):
        text += f"\n| {title} | parameters | formula | what it is |\n"
        text += "|---|---|---|---|\n"
        for name, (formula, parameters, doc, is_reduction) in ROWS.items():
            if is_reduction == reduces:
                cells = [code(name), code(parameters), code(formula)]
                cells.append(doc.replace("|", r"\|"))
                text += "| " + " | ".join(cells).replace("  ", " ") + " |\n"
    return text + "\n"


def code(text: str) -> str:
    """In backquotes; a bar would end the cell."""
    return "`" + text.replace("|", r"\|") + "`" if text else ""
