# tests/python/test_sums.py - sums are as exact as what they add up.
from __future__ import annotations

import numpy as np
import pytest

import fake_gpu
import tilefold
from instruction_sets import PORTABLE

LEAST, LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"]
MANY = 20_000_001


@pytest.mark.parametrize("dtype", [*INTEGERS, "uint64", "bool"])
def test_ones_are_counted(dtype):
    ones = np.ones(MANY, dtype)
    found = tilefold.reduce("sum_j n_j", n=ones)
    assert found.dtype == np.int64
    assert found == MANY
    assert tilefold.reduce("sum_ij (n_i*m_j)", n=ones, m=ones[:3]) == 3 * MANY
    assert tilefold.reduce("mean_j n_j", n=ones) == 1


COUNTS = {
    "sum_j sum(x_i == y_j)": 2 * MANY,
    "sum_j ((x_i[0] == y_j[0]) + (x_i[1] < y_j[1]))": MANY,
    "sum_j (x_i[0] == y_j[0])²": MANY,
    "sum_j abs(x_i[1] == y_j[1])": MANY,
    "sum_j -(x_i[1] == y_j[1])": -MANY,
    "mean_j sum(x_i == y_j)": 2,
}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("formula", COUNTS)
def test_truth_values_that_are_computed_with_are_counted(formula, dtype):
    y = np.zeros((MANY, 2), dtype)
    found = tilefold.reduce(formula, x=y[:2], y=y)
    np.testing.assert_array_equal(found, COUNTS[formula])


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_add_up_exactly(dtype, isa):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    n = rng.integers(info.min, info.max, (3000, 5), dtype, endpoint=True)
    n = n // 4096 if dtype == "int64" else n
    wanted = n.astype(np.int64).sum(0)
    given = {"n": n, "options": tilefold.Options(isa=isa)}
    found = tilefold.reduce("sum_j n_j", **given)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, wanted)
    found = tilefold.reduce("sum_j n_j[0]", **given)
    assert found == wanted[0]
    found = tilefold.reduce("sum_j where(n_j[1] > 7, n_j[0], n_j[1])", **given)
    assert found == np.where(n[:, 1] > 7, n[:, 0], n[:, 1]).astype(int).sum()
    wide = np.tile(n, 30)  # more components than registers
    found = tilefold.reduce("sum_j n_j", **{**given, "n": wide})
    np.testing.assert_array_equal(found, np.tile(wanted, 30))


def test_sums_of_integers_do_not_wrap():
    big = np.int64(2**62)
    for terms, wanted in [
        ([big, big, -big, 5], big + 5),  # on the way, beyond int64
        ([big, big, 5], LARGEST),
        ([-big, -big, -big], LEAST),
        ([LARGEST, 1], LARGEST),
        ([LARGEST, 0], LARGEST),
        ([LEAST, 0], LEAST),
        ([LEAST, -1, 1, 0], LEAST),
        ([big] * 64, LARGEST),
    ]:
        n = np.array(terms, np.int64)
        assert tilefold.reduce("sum_j n_j", n=n) == wanted
        assert tilefold.compile("sum_j n_j").check(n=n) == 0
    n = np.full(3, 2**63 + 5, np.uint64)
    assert tilefold.reduce("sum_j n_j", n=n) == LARGEST


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_conditions_are_counted(dtype):
    x = np.zeros((5000, 2), dtype)
    for text in "sum_ij (|x_i - x_j| < 1)", "count_ij(|x_i - x_j| < 1)":
        found = tilefold.reduce(text, x=x)
        assert found.dtype == np.int64
        assert found == 25_000_000


def test_numbers_of_the_text_count_in_float64():
    x = np.zeros((5000, 2), np.float32)
    found = tilefold.reduce("sum_ij where(|x_i - x_j| < 1, 1, 0)", x=x)
    assert found.dtype == np.float64
    assert found == 25_000_000
    found = tilefold.reduce("sum_j where(|x_j| < 1, 0.1, p)", x=x, p=0.2)
    np.testing.assert_allclose(found, 500, rtol=1e-12)
    labels = np.zeros(MANY, np.int8)
    found = tilefold.reduce("sum_j onehot(n_j, 3)", n=labels)
    assert found.tolist() == [MANY, 0, 0]
    # Beside float32 they are float32, as parameters are.
    found = tilefold.reduce("sum_j where(|x_j| < 1, 0.1, 0)*x_j", x=x)
    assert found.dtype == np.float32


@pytest.mark.parametrize("isa", PORTABLE)
def test_a_picked_number_is_the_number_that_was_written(isa):
    x = np.linspace(0, 1, 40, dtype=np.float32)
    options = tilefold.Options(isa=isa)
    found = tilefold.reduce(
        "where(x_i < 0.5, 0.1, p)", x=x, p=0.3, options=options
    )
    np.testing.assert_array_equal(found, np.where(x < 0.5, 0.1, 0.3))
    found = tilefold.reduce(
        "sum_j (where(x_j < 0.5, 0.1, 0.3) == 0.1)", x=x, options=options
    )
    assert found == 20


def test_index_arithmetic_adds_up_exactly():
    x = np.zeros(3000, np.float32)
    found = tilefold.reduce("sum_j (i - j + 0*floor(x_i + x_j))", x=x)
    assert found.dtype == np.float32
    found = tilefold.reduce("sum_j where(x_j == x_i, i*1000003 - j, 0)", x=x)
    j = np.arange(3000)
    wanted = (j[:, None] * 1000003 - j).sum(1)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_small_integers_in_means_and_products(dtype):
    n = np.arange(-3, 120, dtype=dtype)
    for text, wanted in [
        ("mean_j n_j", n.mean()),
        ("var_j n_j", n.var()),
        ("prod_j n_j[0]", np.prod(n[5:9].astype(float))),
        ("sum_j n_j*n_j", (n.astype(int) ** 2).sum()),
        ("sum(n_j[0:3])", n[5:8].astype(float).sum()),
    ]:
        given = n[5:9][:, None] if "prod" in text else n
        given = n[5:8][None] if "0:3" in text else given
        found = tilefold.reduce(text, n=given)
        assert found.dtype == np.float64, text
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_components_of_int16_add_up_exactly():
    n = np.full((2, 3001), 32767, np.int16)
    found = tilefold.reduce("sum(n_i)", n=n)
    np.testing.assert_array_equal(found, np.full(2, 3001 * 32767.0))


def test_sums_over_batches_are_exact():
    n = np.full((3, 2, 1), 2**53, np.int64)
    n[:, 0] += 1
    found = tilefold.reduce("sum_j n_j[0]", n=n, sum_batch=0)
    assert found.dtype == np.int64
    assert found == 3 * (2**54 + 1)
    n = np.full((4, 1, 1), 2**62, np.int64)
    assert tilefold.reduce("sum_j n_j[0]", n=n, sum_batch=0) == LARGEST
    n[3] = -(2**62)
    assert tilefold.reduce("sum_j n_j[0]", n=n[1:], sum_batch=0) == 2**62
    n[:] = [[[3]], [[2]], [[1]], [[1]]]
    assert tilefold.reduce("max_j n_j[0]", n=n, sum_batch=0) == 7


def test_sums_are_added_to_integers():
    out = np.array(2**53 + 1)
    n = np.ones(4, np.int8)
    tilefold.reduce("sum_j n_j", n=n, out=out, accumulate=True)
    assert out == 2**53 + 5
    out = np.array(LARGEST - 2)
    tilefold.reduce("sum_j n_j", n=n, out=out, accumulate=True)
    assert out == LARGEST


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "bool"])
def test_a_gpu_adds_them_up_alike(dtype, gpu_session):
    rng = np.random.default_rng(1)
    n = rng.integers(0, 2 if dtype == "bool" else 100, (700, 3)).astype(dtype)
    x = rng.normal(size=(700, 2)).astype(np.float32)
    for text in [
        "sum_j n_j",
        "sum_j (n_i[0] == n_j[1])",
        "mean_j n_j",
        "sum_j where(|x_i - x_j| < 1, 0.1, 0)",
        "sum_j where(|x_i - x_j| < 1, n_j[2], n_i[0])",
        "where(x_i[0] < 0.5, 0.1, 0)",
    ]:
        names = [name for name, _ in tilefold.compile(text).names]
        arrays = {k: v for k, v in {"n": n, "x": x}.items() if k in names}
        found = fake_gpu.numpy(
            tilefold.reduce(
                text,
                {k: fake_gpu.array(v) for k, v in arrays.items()},
                session=gpu_session,
            )
        )
        wanted = tilefold.reduce(text, arrays)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=0)


@pytest.mark.usefixtures("driver")
def test_a_gpu_does_not_wrap(gpu_session):
    big = 2**62
    for terms, wanted in [
        ([big, big, -big, 5], big + 5),
        ([big, big, 5], LARGEST),
        ([-big, -big, -big], LEAST),
    ]:
        n = fake_gpu.array(np.array(terms, np.int64))
        found = tilefold.reduce("sum_j n_j", n=n, session=gpu_session)
        assert fake_gpu.numpy(found) == wanted
    n = np.full((3, 2, 1), 2**53 + 1, np.int64)
    found = tilefold.reduce(
        "sum_j n_j[0]", n=fake_gpu.array(n), sum_batch=0, session=gpu_session
    )
    assert fake_gpu.numpy(found) == 6 * (2**53 + 1)
