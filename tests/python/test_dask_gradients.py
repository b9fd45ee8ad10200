# tests/python/test_dask_gradients.py - gradients over Dask's arrays.
"""`tilefold.dask.grad`: of any formula what a call in memory gives."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tilefold

da = pytest.importorskip("dask.array")
import tilefold.dask  # noqa: E402

RNG = np.random.default_rng(5)
HELD = {
    "x": RNG.random((7, 3)),
    "y": RNG.random((50, 3)),
    "b": RNG.random(50),
    "c": RNG.random(7),
    "v": RNG.random((50, 2)),
    "A": RNG.random((3, 3)),
    "l": 0.7,
}
CASES = [
    ("sum_j b_j", "b"),
    ("mean_j b_j", "b"),
    ("max_j b_j", "b"),
    ("sum_j c_i b_j", ["c", "b"]),
    ("(sum_j c_i b_j)/(max_i sum_j c_i b_j)", "b"),
    ("sum_j (A @ y_j)·x_i", "A"),
    ("sum_j A[j mod 3]·x_i*b_j", "A"),
    ("sum_j x_i·y_j", "y"),
    ("mean_j x_i·y_j", ["x", "y"]),
    ("sum_ij x_i·y_j", "y"),
    ("sum_ij c_i b_j", ["b", "c"]),
    ("sum_j v_j c_i", "v"),
    ("max_j x_i·y_j", "y"),
    ("ptp_j x_i·y_j", "y"),
    ("kmin_j(x_i·y_j, 2)", "y"),
    ("max_i x_i·y_j", "x"),
    ("sum_j where(j <= i, b_j*c_i, 0)", ["b", "c"]),
    ("sum_j rand(1, i, j)*b_j*c_i", ["b", "c"]),
    ("logsumexp_j x_i·y_j", ["x", "y"]),
    ("var_j |x_i - y_j|", ["x", "y"]),
    ("softmax_j(x_i·y_j, v_j)", ["x", "y", "v"]),
    ("sum_j exp(-|x_i - y_j|²/l²) b_j", ["l", "x", "y", "b"]),
    ("sum_j exp(-|x_i - y_j|²) (A @ y_j)", ["A", "y"]),
    ("prod_j (1 + |x_i - y_j|/10)", "y"),
]


@pytest.mark.parametrize(("text", "names"), CASES)
def test_values_and_shapes_are_those_in_memory(text, names):
    formula = tilefold.compile(text)
    arrays = {name: HELD[name] for name, _ in formula.names}
    cotangent = np.random.default_rng(6).random(np.shape(formula(arrays)))
    derived = formula.grad(names, cotangent="c_bar")
    given = dict(arrays)
    if "c_bar" in dict(derived.names):
        given["c_bar"] = cotangent
    want = derived(given)
    lazy = {
        name: da.from_array(value, chunks=(11, *np.shape(value)[1:]))
        if name in "xybcv"
        else value
        for name, value in arrays.items()
    }
    found = tilefold.dask.grad(text, names, lazy, cotangent=cotangent)
    wants = want if isinstance(want, tuple) else (want,)
    founds = found if isinstance(found, tuple) else (found,)
    for got, whole in zip(founds, wants, strict=True):
        assert got.shape == np.shape(whole)
        computed = got.compute(scheduler="synchronous")
        np.testing.assert_allclose(computed, whole, 1e-9, 1e-12)


@pytest.mark.parametrize("cotangent", [1.0, -2.5, np.float32(3)])
def test_a_number_for_all_of_the_result_is_one_in_the_graph(cotangent):
    """Not an array as long as the result is."""
    formula = "sum_j exp(-(x_i - y_j)²)"
    x, y = da.ones(200_000, chunks=50_000), da.ones(10, chunks=5)
    found = tilefold.dask.grad(formula, "y", x=x, y=y, cotangent=cotangent)
    assert len(pickle.dumps(found.dask)) < 40_000
    x, y = np.array([0.0, 1.0, 3.0]), np.array([0.5, 2.0])
    lazy = {"x": da.from_array(x, chunks=2), "y": da.from_array(y, chunks=1)}
    found = tilefold.dask.grad(formula, "y", lazy, cotangent=cotangent)
    slopes = 2 * (x[:, None] - y) * np.exp(-((x[:, None] - y) ** 2))
    computed = found.compute(scheduler="synchronous")
    np.testing.assert_allclose(computed, cotangent * slopes.sum(0))


def test_a_gradient_keeps_the_chunks_of_its_argument():
    b = da.ones(50, chunks=11)
    found = tilefold.dask.grad("sum_j b_j", "b", b=b)
    assert found.chunks == b.chunks
