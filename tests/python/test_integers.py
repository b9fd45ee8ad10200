# tests/python/test_integers.py - arithmetic on integers: exact where it is on
# integers alone, never wrapped.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

LEAST, LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
NUMBERS = np.array(
    [0, 1, -1, 7, -7, 2**31, 2**53 + 1, -(2**53) - 3, 2**62 + 5, LEAST,
     LARGEST, -(10**18) - 1],
    np.int64,
)  # fmt: skip
DIVISORS = np.array([1, -1, 2, -3, 7, 1000, 2**40 + 1, LARGEST], np.int64)


def saturated(values):
    """Python integers to int64, without wrapping."""
    return np.array(
        [[min(max(v, LEAST), LARGEST) for v in row] for row in values],
        np.int64,
    )


OPERATIONS = {
    "a_i + b_j": lambda a, b: a + b,
    "a_i - b_j": lambda a, b: a - b,
    "a_i mod b_j": lambda a, b: a % b,
    "a_i % b_j": lambda a, b: a % b,
    "a_i // b_j": lambda a, b: a // b,
    "min(a_i, b_j)": min,
    "max(a_i, b_j)": max,
    "-a_i - b_j": lambda a, b: min(-a, LARGEST) - b,
    "abs(a_i) - b_j": lambda a, b: min(abs(a), LARGEST) - b,
    "where(a_i < b_j, a_i, -1)": lambda a, b: a if a < b else -1,
    "(a_i - b_j) mod 1000": lambda a, b: min(max(a - b, LEAST), LARGEST) % 1000,
    "a_i // -3 + b_j // 10": lambda a, b: a // -3 + b // 10,
}


@pytest.mark.parametrize("text", OPERATIONS)
def test_int64_is_exact(text):
    f = OPERATIONS[text]
    expected = saturated(
        [[f(a, b) for b in DIVISORS.tolist()] for a in NUMBERS.tolist()]
    )
    kernel = tilefold.kernel(text, a=NUMBERS, b=DIVISORS)
    found = kernel.dense()
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(kernel.max(1), expected.max(1))
    np.testing.assert_array_equal(kernel.min(0), expected.min(0))
    check = tilefold.compile(f"max_j ({text})").check(a=NUMBERS, b=DIVISORS)
    assert check == 0


def test_division_by_zero_is_zero():
    a = NUMBERS
    zero = np.zeros(1, np.int64)
    for text in ("a_i // b_j", "a_i mod b_j"):
        kernel = tilefold.kernel(text, a=a, b=zero)
        np.testing.assert_array_equal(kernel.dense(), np.zeros((a.size, 1)))


@pytest.mark.parametrize("columns", [1, 3, 17, 300])
def test_sums_of_quotients(columns):
    """Lanes and stages that are filled with zeros divide nothing by them."""
    a, b = np.arange(5) + 7, (np.arange(columns) % 3 + 1).astype(np.int32)
    for text, wanted in [
        ("mean_j (a_i // b_j)", (a[:, None] // b).mean(1)),
        ("sum_j (a_i // b_j)", (a[:, None] // b).sum(1)),
        ("sum_j (a_i mod b_j)", (a[:, None] % b).sum(1)),
        ("max_j (b_j // a_i)", (b // a[:, None]).max(1)),
    ]:
        np.testing.assert_allclose(tilefold.reduce(text, a=a, b=b), wanted)


@pytest.mark.parametrize("divisor", [3, -3, 7, 10**6, 2**31 - 1])
def test_small_integers_divide_exactly(divisor):
    n = 300
    labels = (np.arange(n) * 2**24 // 7 - 5).astype(np.int32)
    x = np.ones(n, np.float32)
    wide = labels.astype(np.int64)
    for text, expected in [
        (f"0*x_j + (l_i mod {divisor})", wide % divisor),
        (f"0*x_j + l_i // {divisor}", wide // divisor),
    ]:
        found = tilefold.kernel(text, l=labels, x=x).max(1)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32])
def test_small_integers_count_in_float64(dtype):
    a = np.array([0, 1, 5, 100, np.iinfo(dtype).max], dtype)
    b = np.array([1, 3, 100], dtype)
    wide_a, wide_b = a.astype(np.int64)[:, None], b.astype(np.int64)
    for text, expected in [
        ("a_i - b_j", wide_a - wide_b),
        ("a_i*b_j", wide_a * wide_b),
        ("a_i // b_j", wide_a // wide_b),
        ("a_i mod b_j", wide_a % wide_b),
        ("abs(a_i - b_j)", abs(wide_a - wide_b)),
    ]:
        found = tilefold.kernel(text, a=a, b=b).dense()
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_index_symbols_divide_exactly(dtype):
    x = np.ones(70, dtype)
    number = np.arange(70)[:, None] * 1000003 + np.arange(70)
    for text, expected in [
        ("((1000003*i + j) mod 7)*x_j*x_i", number % 7),
        (
            "where((1000003*i + j) // 5 == 14000056, x_j, 0)*x_i",
            number // 5 == 14000056,
        ),
        (
            "where(abs(i*1000003 - j) == 1000002, x_j, 0)*x_i",
            abs(number - 2 * np.arange(70)) == 1000002,
        ),
    ]:
        found = tilefold.kernel(text, x=x)
        assert found.dense().dtype == dtype
        np.testing.assert_array_equal(found.dense(), expected)


def test_real_numbers_divide_as_in_python():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400)) * 10
    a[:4], b[:4] = [1.0, -1.0, 0.3, 6.0], [0.1, 0.1, 0.1, -3.0]
    found = tilefold.reduce("a_i // b_i", a=a, b=b)
    np.testing.assert_array_equal(found, a // b)
    found = tilefold.reduce("a_i mod b_i", a=a, b=b)
    np.testing.assert_allclose(found, a % b, atol=1e-14)


def test_timestamps_keep_their_nanoseconds():
    t = np.int64(1_700_000_000_000_000_000) + np.array([0, 1, 2, 500])
    found = tilefold.kernel("exp(-(t_i - t_j)²/2l²)", t=t, l=2.0).dense()
    d = (t[:, None] - t[None, :]).astype(float)
    np.testing.assert_allclose(found, np.exp(-(d**2) / 8), rtol=1e-14)


def test_products_count_in_float64():
    a = np.array([2**40], np.int64)
    found = tilefold.reduce("a_i*a_i", a=a)
    assert found.dtype == np.float64
    assert found[0] == 2.0**80


def test_results_beyond_int64_are_its_largest():
    a = np.array([2**64 - 1, 2**63, 2**63 - 1, 5], np.uint64)
    found = tilefold.reduce("a_i - 1", a=a)
    assert found.tolist() == [LARGEST, LARGEST, LARGEST - 1, 4]


def test_labels_are_exact_in_a_float32_maximum():
    labels = np.array([2**24 + 1, 2**40 + 3, 5], np.int64)
    x = np.array([0, 1, 2], np.float32)
    found = tilefold.reduce(
        "max_j where(|x_i - x_j| < 1.5, l_j, -1)", l=labels, x=x
    )
    assert found.tolist() == [2**40 + 3, 2**40 + 3, 2**40 + 3]


def test_a_number_of_the_text_beyond_2_53():
    with pytest.raises(tilefold.FormulaError) as caught:
        tilefold.reduce("any_i(a_i == 9007199254740993)", a=NUMBERS)
    assert caught.value.code == "WholeNumberTooLarge"
    assert str(caught.value) == (
        "the whole number 9007199254740993 beside integers is beyond 2^53: "
        "its last digits may be lost\n"
        "  any_i(a_i == 9007199254740993)\n"
        "        ^~~~~~~~~~~~~~~~~~~~~~~\n"
        "pass it as an argument, as in np.int64(…)"
    )
    with pytest.raises(tilefold.FormulaError, match="beyond 2"):
        tilefold.reduce("rand(9007199254740993, i, 0) + 0*a_i", a=NUMBERS)


DISTANCES = {
    "|x_i - y_j|²": lambda squares: squares,
    "sqdist(x_i, y_j)": lambda squares: squares,
    "(x_i - y_j)·(x_i - y_j)": lambda squares: squares,
    "(x_i[0] - y_j[0])² + (x_i[1] - y_j[1])²": lambda squares: squares,
    "|[x_i, x_i] - [y_j, y_j]|²": lambda squares: 2 * squares,
    "|x_i - y_j|": np.sqrt,
    "gaussian(x_i, y_j, 2)": lambda squares: np.exp(-squares / 8),
}


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_distances_are_of_exact_differences(dtype):
    """A difference is taken before anything is rounded."""
    start = 2**63 if dtype == "uint64" else 2**53
    x = np.array([[start + 1, 5], [start + 3, 2]], dtype)
    y = np.array([[start + 2, 5], [start, 2], [start + 9, 0]], dtype)
    d = x[:, None].astype(object) - y.astype(object)
    squares = (d * d).sum(-1).astype(float)
    for text, function in DISTANCES.items():
        found = tilefold.kernel(text, x=x, y=y).dense()
        np.testing.assert_allclose(
            found, function(squares), 1e-15, err_msg=text
        )
    nearest = tilefold.reduce("argkmin_j(|x_i - y_j|², 3)", x=x, y=y)
    np.testing.assert_array_equal(nearest, squares.argsort(1))
    near = tilefold.radius_neighbors(x, y, 3.0)
    np.testing.assert_array_equal(near.indices, np.nonzero(squares <= 9)[1])


@pytest.mark.parametrize(
    "number",
    [2**53 + 1, 2**63 - 1, 2**63 + 1, 2**64 - 1, -(2**63) + 1, 2**64, 2**70],
)
def test_a_python_integer_is_exact(number):
    """It is a float64 where that holds it, else an int64 or a uint64."""
    is_whole = -(2**63) <= number < 2**64
    dtype = "int64" if number < 2**63 else "uint64" if is_whole else "float64"
    x = np.array([number, number - 1 if is_whole else 0], dtype)
    assert tilefold.reduce("count_j (x_j == n)", x=x, n=number) == 1
    if is_whole:
        assert tilefold.reduce("max_j (n - x_j)", x=x, n=number) == 1
        kernel = tilefold.kernel("n - x_j + a_i", x=x, n=number, a=[0, 3])
        np.testing.assert_array_equal(kernel.dense(), [[0, 1], [3, 4]])


def test_a_python_integer_that_is_no_number_is_refused():
    for number in 3**50, -(2**63) - 1, 2**64 + 1:
        with pytest.raises(tilefold.DTypeError, match="beyond 64 bits"):
            tilefold.reduce("sum_j x_j*n", x=np.ones(3), n=number)
