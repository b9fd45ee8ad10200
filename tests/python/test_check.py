# tests/python/test_check.py - results computed again, of formulas of every
# kind.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

_random = np.random.default_rng(11)
N, M = 40, 50
X, Y = _random.standard_normal((N, 3)), _random.standard_normal((M, 3))
B = _random.standard_normal(M)
Z = _random.standard_normal(N) + 1j * _random.standard_normal(N)
W = _random.standard_normal(M) + 1j * _random.standard_normal(M)
CLOUDS = _random.standard_normal((4, M, 3))
PAIRED = _random.standard_normal((4, N, 3))
MATRIX = _random.standard_normal((2, 3))
GAUSSIAN = "sum_j exp(-|x_i - y_j|²/2l²) b_j"
POINTS = {"x": X, "y": Y, "b": B, "l": 0.7}


def gradient(text, names, **options):
    return tilefold.compile(text).grad(names, **options)


CASES = {
    "one sweep": (gradient(GAUSSIAN, "x"), POINTS | {"grad": 1.0}),
    "on the reduced axis": (gradient(GAUSSIAN, "b"), POINTS | {"grad": B[:N]}),
    "of a parameter": (gradient(GAUSSIAN, "l"), POINTS | {"grad": 1.0}),
    "several": (
        gradient(GAUSSIAN, ["x", "l", "b"], value=True),
        POINTS | {"grad": 1.0},
    ),
    "zero": (gradient("sum_j floor(x_j)", "x"), {"x": B}),
    "two sweeps": (
        gradient("logsumexp_j(x_i·y_j)", "y"),
        {"x": X, "y": Y, "grad": 1.0},
    ),
    "of the derivative": (
        gradient(GAUSSIAN, "x").grad("y", cotangent="g"),
        POINTS | {"grad": 1.0, "g": X},
    ),
    "tangent": (
        tilefold.compile(GAUSSIAN).jvp("x"),
        POINTS | {"tangent": X},
    ),
    "variance": (tilefold.compile("var_j(x_i·y_j)"), {"x": X, "y": Y}),
    "a derivative inside": (
        tilefold.compile("sum_j grad(exp(-|x_i - y_j|²/2), x_i) b_j"),
        {"x": X, "y": Y, "b": B},
    ),
    "a matrix": (
        gradient("sum_j |A @ (x_i - y_j)|", "A"),
        {"x": X, "y": Y, "A": MATRIX, "grad": 1.0},
    ),
    "complex": (tilefold.compile("sum_j z_i*w_j"), {"z": Z, "w": W}),
    "complex field": (
        tilefold.compile("sum_j exp(im*|x_i - y_j|)*w_j"),
        {"x": X, "y": Y, "w": W},
    ),
    "complex gradient": (
        gradient("sum_j exp(im*|x_i - y_j|)*w_j", "w"),
        {"x": X, "y": Y, "w": W, "grad": Z},
    ),
    "batches": (
        gradient("sum_j exp(-|x_i - y_j|²)", ["x", "y"]),
        {"x": X, "y": CLOUDS, "grad": 1.0},
    ),
    "batches, two sweeps": (
        gradient("logsumexp_j(x_i·y_j)", ["x", "y"]),
        {"x": X, "y": CLOUDS, "grad": 1.0},
    ),
    "a sum over batches": (
        tilefold.compile("sum_j exp(-|x_i - y_j|²)"),
        {"x": X, "y": CLOUDS, "sum_batch": 0},
    ),
    "sums over some batches": (
        tilefold.compile("sum_j exp(-|x_i - y_j|²) * (x_i - y_j)"),
        {"x": PAIRED[:, None], "y": CLOUDS[:3], "sum_batch": 1},
    ),
    "a sum of vectors over batches": (
        tilefold.compile("sum_ij (x_i - y_j)"),
        {"x": PAIRED, "y": CLOUDS, "sum_batch": (0,)},
    ),
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("rows", [3, 10**6])
def test_results_of_every_kind_are_computed_again(kind, rows):
    formula, arguments = CASES[kind]
    assert 0 <= formula.check(**arguments, rows=rows) < 1e-12


@pytest.mark.parametrize("kind", CASES)
def test_errors_of_single_precision_are_seen(kind):
    formula, arguments = CASES[kind]
    narrow = {
        np.dtype("f8"): np.float32,
        np.dtype("c16"): np.complex64,
    }
    single = {
        name: value.astype(narrow[value.dtype])
        if isinstance(value, np.ndarray)
        else value
        for name, value in arguments.items()
    }
    error = formula.check(**single)
    assert error < 1e-5
    assert (error > 0) != (kind == "zero")


def test_a_part_of_zero_is_no_error():
    """An imaginary part is compared with the whole number's size."""
    formula = tilefold.compile("sum_j exp(im*pi*round(b_j))*c_i")
    assert formula.check(b=B, c=X[:, 0]) < 1e-14
