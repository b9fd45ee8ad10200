# tests/python/test_quantization.py - codes in place of numbers.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

_random = np.random.default_rng(0)
X = _random.standard_normal((50, 3)) * [1, 10, 0.1] + [0, 5, -3]
Y = _random.standard_normal((40, 3)) * [1, 10, 0.1] + [0, 5, -3]


@pytest.mark.parametrize("per", ["component", "array"])
@pytest.mark.parametrize("bits", [8, 16])
def test_no_error_is_larger_than_the_bound(bits, per):
    q = tilefold.quantize(X, bits=bits, per=per)
    assert q.codes.dtype == f"int{bits}"
    errors = np.abs(q.dequantize() - X).max(0)
    assert (errors <= q.bound * (1 + 1e-9)).all()
    assert q.bound.shape == ((3,) if per == "component" else (1,))


@pytest.mark.parametrize("per", ["component", "array"])
def test_codes_are_read_as_the_numbers_they_stand_for(per):
    x, y = (tilefold.quantize(a, per=per) for a in (X, Y))
    text = "sum_j exp(-|x_i - y_j|²/2l²)"
    found = tilefold.reduce(text, x=x, y=y, l=2)
    wanted = tilefold.reduce(text, x=x.dequantize(), y=y.dequantize(), l=2)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_scalars_and_one_array_on_both_axes():
    v = tilefold.quantize(X[:, 1])
    found = tilefold.reduce("sum_j (v_i - v_j)^2", v=v)
    numbers = v.dequantize()
    wanted = ((numbers[:, None] - numbers) ** 2).sum(1)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_kernels_of_codes():
    x, y = tilefold.quantize(X), tilefold.quantize(Y)
    kernel = tilefold.kernel("|x_i - y_j|²", x=x, y=y)
    assert kernel.shape == (50, 40)
    a, b = x.dequantize(), y.dequantize()
    wanted = ((a[:, None] - b) ** 2).sum(-1)
    np.testing.assert_allclose(kernel.dense(), wanted, rtol=1e-4, atol=1e-6)
    nearest = kernel.argkmin(1, axis=1)[:, 0]
    rows = np.arange(50)
    np.testing.assert_allclose(
        wanted[rows, nearest], wanted.min(1), rtol=1e-4, atol=1e-6
    )


def test_codes_whose_axis_is_declared():
    u, v = tilefold.Vi(tilefold.quantize(X)), tilefold.Vj(tilefold.quantize(Y))
    found = tilefold.reduce("sum_j |u - v|²", u=u, v=v)
    wanted = tilefold.reduce("sum_j |u_i - v_j|²", u=u.value, v=v.value)
    np.testing.assert_array_equal(found, wanted)


def test_codes_beside_numbers():
    x = tilefold.quantize(X, bits=16)
    found = tilefold.reduce("sum_j x_i·y_j", x=x, y=Y)
    np.testing.assert_allclose(
        found, x.dequantize() @ Y.sum(0), rtol=1e-12
    )  # in float64, as y is


def test_steps_and_zeros_are_no_part_of_the_kernel():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    f = tilefold.compile("sum_j x_i·x_j", session=session)
    for scale in (1, 2, 3):
        f(x=tilefold.quantize(X * scale))
    assert session.stats().compiles == 1
    assert session.stats().runs == 3


def test_constant_and_empty_arrays():
    q = tilefold.quantize(np.full((4, 2), 7.0))
    np.testing.assert_array_equal(q.dequantize(), np.full((4, 2), 7.0))
    assert tilefold.quantize(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tilefold.quantize(X, bits=4),
            "quantize: bits is 4; it is 8 or 16",
        ),
        (
            lambda: tilefold.quantize(X, per="row"),
            "quantize: per is 'row'; it is 'component' or 'array'",
        ),
        (
            lambda: tilefold.quantize([1.0, np.inf]),
            "quantize: x is inf or NaN; it is finite numbers",
        ),
    ],
)
def test_settings_that_are_refused(call, message):
    with pytest.raises(tilefold.ArgumentError) as caught:
        call()
    assert str(caught.value) == message


def test_codes_have_no_gradient():
    f = tilefold.compile("sum_j x_i·x_j").grad("x")
    with pytest.raises(tilefold.DTypeError, match="integers have no"):
        f(x=tilefold.quantize(X), grad=1.0)
