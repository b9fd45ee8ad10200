# tests/python/test_one_component.py - a vector of one component, as b of shape
# (M, 1), is a scalar beside longer vectors and where a scalar is needed.
from __future__ import annotations

import numpy as np
import pytest

import fake_gpu
import tilefold

rng = np.random.default_rng(0)
N, M = 30, 40
x, y = rng.normal(size=(N, 3)), rng.normal(size=(M, 3))
b, c = rng.normal(size=(M, 1)), rng.normal(size=(N, 1))
v, k = rng.normal(size=5), rng.integers(0, 5, (M, 1))
A = rng.normal(size=(4, 5))
K = np.exp(-((x[:, None] - y) ** 2).sum(-1))
GIVEN = {"x": x, "y": y, "b": b, "c": c, "v": v, "k": k, "A": A}


def log_sum_exp(s):
    return np.log(np.exp(s).sum(1))


CASES = {
    # products with longer vectors
    "sum_j exp(-|x_i - y_j|²) b_j*y_j": K @ (b * y),
    "sum_j exp(-|x_i - y_j|²) b_j y_j": K @ (b * y),
    "sum_j exp(-|x_i - y_j|²) y_j*b_j": K @ (b * y),
    "sum_j y_j/b_j": (y / b).sum(0),
    "sum_j b_j*c_i*y_j": c * (b * y).sum(0),
    "sum_j b_j*(y_j - x_i)": (b[None] * (y - x[:, None])).sum(1),
    "sum_j (b_j + y_j)": (b + y).sum(0),
    "sum_j [b_j*y_j, b_j]": np.hstack([b * y, b]).sum(0),
    "sum_j pow(abs(y_j), b_j)": (np.abs(y) ** b).sum(0),
    "sum_j max(b_j, y_j)": np.maximum(b, y).sum(0),
    "sum_j weightedsqdist(b_j, x_i, y_j)": (
        (K * 0 + ((x[:, None] - y) ** 2).sum(-1)) @ b
    )[:, 0],
    # with vectors of one component, and alone
    "sum_j exp(-|x_i - y_j|²) b_j": K @ b,
    "sum_j exp(-|x_i - y_j|²) b_j b_j": K @ (b * b),
    "sum_j b_j·b_j": (b * b).sum(),
    "sum_j c_i·b_j": c[:, 0] * b.sum(),
    "sum_j |c_i - b_j|": np.abs(c - b[:, 0]).sum(1),
    # conditions
    "sum_j where(b_j > 0, y_j, 0)": np.where(b > 0, y, 0).sum(0),
    "sum_j where(b_j > 0, y_j, b_j)": np.where(b > 0, y, b).sum(0),
    "sum_j where(b_j > 0 and y_j > 0, y_j, 0)": np.where(
        (b > 0) & (y > 0), y, 0
    ).sum(0),
    "sum_j where(b_j < c_i, |x_i - y_j|, 0)": np.where(
        b[:, 0] < c, np.sqrt(((x[:, None] - y) ** 2).sum(-1)), 0
    ).sum(1)[:, None],
    # comparisons
    "count_j(y_j < b_j)": (y < b).sum(0),
    "count_j(b_j > 0)": (b > 0).sum(0),
    "any_j(b_j == y_j)": np.zeros(3, bool),
    # scores and weights
    "logsumexp_j(b_j)": np.log(np.exp(b).sum()),
    "logsumexp_j(c_i*b_j)": log_sum_exp(c * b[:, 0]),
    "logsumexp_j(-|x_i - y_j|², abs(b_j))": np.log(K @ np.abs(b))[:, 0],
    "logmeanexp_j(b_j)": np.log(np.exp(b).mean()),
    "softmax_j(c_i*b_j, y_j)": (
        np.exp(c * b[:, 0]) / np.exp(c * b[:, 0]).sum(1, keepdims=True)
    )
    @ y,
    "kmin_j(b_j, 3)": np.sort(b[:, 0])[:3],
    "argkmin_j(b_j, 3)": np.argsort(b[:, 0])[:3],
    "argkmax_j(c_i*b_j, 1)": np.argmax(c * b[:, 0], 1)[:, None],
    # tables
    "sum_j v[k_j]*y_j": (v[k] * y).sum(0),
    "sum_j v[k_j]": v[k].sum(),
    "sum_j A[1, k_j] b_j": (A[1][k] * b).sum(0),
    "sum_j A[k_j - k_j] b_j": A[0] * b.sum(),
    # derivatives
    "sum_j grad(b_j*exp(-|x_i - y_j|²), x_i)": (
        -2 * (x[:, None] - y) * (K * b[:, 0])[..., None]
    ).sum(1),
}


def given(text: str) -> dict:
    return {name: GIVEN[name] for name, _ in tilefold.compile(text).names}


@pytest.mark.parametrize("text", CASES)
def test_values_and_shapes(text):
    found = tilefold.reduce(text, given(text))
    assert np.shape(found) == np.shape(CASES[text])
    np.testing.assert_allclose(found, CASES[text], rtol=1e-12, atol=1e-13)


@pytest.mark.usefixtures("driver")
def test_a_gpu_agrees(gpu_session):
    for text in list(CASES)[::4]:
        arrays = {name: fake_gpu.array(a) for name, a in given(text).items()}
        found = tilefold.reduce(text, arrays, session=gpu_session)
        np.testing.assert_allclose(
            fake_gpu.numpy(found), CASES[text], rtol=1e-12, atol=1e-13
        )


@pytest.mark.parametrize(
    "text",
    [
        "sum_j exp(-|x_i - y_j|²) b_j*y_j",
        "sum_j where(b_j > 0, b_j*y_j, 0)",
        "logsumexp_j(c_i*b_j)",
        "softmax_j(c_i*b_j, y_j)",
        "sum_j c_i·b_j",
    ],
)
def test_gradients(text):
    f = tilefold.compile(text)
    arrays = given(text)
    g = rng.normal(size=np.shape(f(arrays)))
    tangent = rng.normal(size=b.shape)
    gradient = f.grad("b", cotangent="g")({**arrays, "g": g})
    assert gradient.shape == b.shape
    moved = f.jvp("b")({**arrays, "tangent": tangent})
    np.testing.assert_allclose((gradient * tangent).sum(), (g * moved).sum())
    step = 1e-6
    ahead = f({**arrays, "b": b + step * tangent})
    behind = f({**arrays, "b": b - step * tangent})
    difference = (np.asarray(ahead) - behind) / (2 * step)
    np.testing.assert_allclose(moved, difference, rtol=1e-6, atol=1e-8)


def test_complex_and_unsigned_numbers():
    z = b + 1j
    found = tilefold.reduce("sum_j z_j*y_j", z=z, y=y)
    np.testing.assert_allclose(found, (z * y).sum(0))
    h = np.arange(M, dtype=np.uint64)[:, None] + np.uint64(2**63)
    found = tilefold.reduce("sum_j where(h_j == h_j, y_j, 0)", h=h, y=y)
    np.testing.assert_allclose(found, y.sum(0))


def test_array_code_broadcasts():
    xi, yj = tilefold.lazy(x, axis="i"), tilefold.lazy(y, axis="j")
    bj = tilefold.lazy(b, axis="j")
    difference = x[:, None] - y
    for lazy, dense in [
        (bj * (xi - yj), b * difference),
        (bj + (xi - yj), b + difference),
        (np.where(bj > 0.5, xi - yj, 0), np.where(b > 0.5, difference, 0)),
    ]:
        np.testing.assert_allclose(lazy.sum(1), dense.sum(1), atol=1e-13)


def test_points_of_other_dimensions_are_refused():
    for text in "sum_j |b_j - x_i|²", "sum_j sqdist(x_i, b_j)", "sum_j x_i·b_j":
        with pytest.raises(tilefold.ShapeError) as caught:
            tilefold.reduce(text, b=b, x=x)
        assert caught.value.code == "ShapeMismatch"
    with pytest.raises(tilefold.ShapeError) as caught:
        tilefold.reduce("sum_j b_j/y_j", b=b, y=y)
    assert caught.value.code == "ScalarOverVector"
    # What is meant can be written.
    found = tilefold.reduce("sum_j |b_j[0] - x_i|²", b=b, x=x)
    np.testing.assert_allclose(found, ((b - x[:, None]) ** 2).sum((1, 2)))
