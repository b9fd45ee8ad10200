# tests/python/test_widths.py - sums of vectors of many widths, as they stand
# and as they are made once a point, against NumPy.
"""The calls of a session: panels that its memory limits, several threads,
instruction sets, and kernels for a GPU on the host."""

from __future__ import annotations

import numpy as np
import pytest

import fake_gpu
import tilefold
from instruction_sets import HERE

WIDTHS = [1, 2, 8, 9, 10, 16, 17, 31, 33, 64, 65, 100, 129, 130]
COUNTS = [1, 7, 255, 257, 511, 1025]


def sums(K, w, b):
    """What the formulas are of a kernel matrix, scalars and vectors."""
    scaled = w[:, None] * b
    weights = K / K.sum(1, keepdims=True)
    return {
        "sum_j exp(-|x_i - y_j|²) b_j": K @ b,
        "sum_j exp(-|x_i - y_j|²) (w_j*b_j)": K @ scaled,
        "softmax_j(-|x_i - y_j|², tanh(w_j)*b_j)": weights
        @ (np.tanh(w)[:, None] * b),
        "(sum_j exp(-|x_i - y_j|²) (w_j*b_j))/(sum_j exp(-|x_i - y_j|²))": (
            weights @ scaled
        ),
        "(sum_j exp(-|x_i - y_j|²)*(w_j*b_j)) + (sum_j exp(-2*|x_i - y_j|²)"
        "*(-b_j/(w_j + 1)))": K @ scaled - K**2 @ (b / (w + 1)[:, None]),
    }


FORMULAS = list(sums(np.ones((1, 1)), np.ones(1), np.ones((1, 1))))


def points(columns: int, width: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(columns + width)
    return {
        "x": random.random((37, 3)),
        "y": random.random((columns, 3)),
        "w": random.random(columns),
        "b": random.standard_normal((columns, width)),
    }


def check(formula, compute, columns: int, width: int, dtype: str) -> None:
    given = points(columns, width)
    x, y, w, b = given.values()
    gaussian = np.exp(-((x[:, None] - y) ** 2).sum(-1))
    wanted = sums(gaussian, w, b)[formula]
    if "w_j" not in formula:
        del given["w"]
    found = compute({name: a.astype(dtype) for name, a in given.items()})
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    allowed = 4e-5 if dtype == "float32" else 1e-12
    assert error < allowed, (formula, columns, width, dtype)


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_widths(formula, dtype, isa):
    compiled = tilefold.compile(formula)
    options = tilefold.Options(isa=isa, threads=2)
    for columns in COUNTS:
        for width in WIDTHS:
            check(
                formula,
                lambda given: compiled(given, options=options),
                columns,
                width,
                dtype,
            )


@pytest.mark.sample(0.2)
@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_widths_on_a_gpu(formula, dtype, gpu_session):
    compiled = tilefold.compile(formula, session=gpu_session)

    def compute(given):
        lent = {name: fake_gpu.array(a) for name, a in given.items()}
        return fake_gpu.numpy(compiled(lent))

    for columns in [1, 33, 257]:
        for width in [1, 9, 33, 100]:
            check(formula, compute, columns, width, dtype)
