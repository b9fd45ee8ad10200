# tests/python/test_unsigned.py - uint64 numbers, also beyond int64: compared
# exactly, and computed with in int64.
from __future__ import annotations

import numpy as np
import pytest

import fake_gpu
import tilefold
from instruction_sets import PORTABLE

LEAST, LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
U = np.array(
    [0, 1, 2, 7, 2**53 + 1, 2**62 + 5, LARGEST - 1, LARGEST, 2**63, 2**63 + 1,
     2**63 + 1025, 2**64 - 3, 2**64 - 1],
    np.uint64,
)  # fmt: skip
I = np.array(
    [LEAST, LEAST + 1, -(2**53) - 3, -1000, -3, -2, -1, 0, 1, 2, 3, 1000,
     2**53 + 1, 2**62 + 5, LARGEST - 1, LARGEST],
    np.int64,
)  # fmt: skip
SMALL = np.array([-128, -1, 0, 1, 3, 127], np.int8)


def limited(value: int) -> int:
    """Beyond int64, its end."""
    return min(max(value, LEAST), LARGEST)


COMPARISONS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
# What gives int64, limited, and what gives uint64 where the left is uint64.
ARITHMETIC = {
    "a_i + b_j": lambda a, b: a + b,
    "a_i - b_j": lambda a, b: a - b,
    "a_i mod b_j": lambda a, b: a % b if b else 0,
    "a_i // b_j": lambda a, b: a // b if b else 0,
    "min(a_i, b_j)": min,
    "max(a_i, b_j)": max,
}
PAIRS = {"uu": (U, U), "ui": (U, I), "iu": (I, U), "us": (U, SMALL)}


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("pair", PAIRS)
def test_comparisons_are_exact(pair, isa):
    a, b = PAIRS[pair]
    options = tilefold.Options(isa=isa)
    for sign, compare in COMPARISONS.items():
        kernel = tilefold.kernel(f"a_i {sign} b_j", a=a, b=b, options=options)
        wanted = [[compare(x, y) for y in b.tolist()] for x in a.tolist()]
        np.testing.assert_array_equal(kernel.dense(), wanted, sign)


@pytest.mark.parametrize("text", ARITHMETIC)
@pytest.mark.parametrize("pair", PAIRS)
def test_arithmetic_is_exact_and_never_wraps(pair, text):
    a, b = PAIRS[pair]
    found = tilefold.kernel(text, a=a, b=b).dense()
    meaning = ARITHMETIC[text]
    wanted = [[meaning(x, y) for y in b.tolist()] for x in a.tolist()]
    if found.dtype == np.int64:
        wanted = [[limited(v) for v in row] for row in wanted]
    assert found.tolist() == wanted
    natural = {
        "max(a_i, b_j)": ["uu", "ui", "iu", "us"],
        "min(a_i, b_j)": ["uu"],
        "a_i mod b_j": ["uu", "iu"],
    }
    kind = np.uint64 if pair in natural.get(text, []) else np.int64
    assert found.dtype == kind


def test_hashes_are_counted():
    rng = np.random.default_rng(0)
    h = rng.integers(2**63, 2**64, 1000, np.uint64, endpoint=False)
    assert tilefold.reduce("count_ij(h_i == h_j)", h=h) == 1000
    assert tilefold.reduce("sum_ij (h_i == g_j)", h=h, g=h[::-1]) == 1000
    assert tilefold.reduce("count_i(h_i == k)", h=h, k=h[3]) == 1
    assert tilefold.compile("count_j(h_i == h_j)").check(h=h) == 0


def test_numbers_of_the_text_and_of_the_call():
    for text, wanted in [
        ("a_i - 1", [limited(u - 1) for u in U.tolist()]),
        ("-a_i", [limited(-u) for u in U.tolist()]),
        ("abs(a_i)", U.tolist()),
        ("a_i == 7", [u == 7 for u in U.tolist()]),
        ("a_i > 7", [u > 7 for u in U.tolist()]),
        ("a_i", U.tolist()),
        ("a_i mod 1000", [u % 1000 for u in U.tolist()]),
        ("a_i // 1000", [u // 1000 for u in U.tolist()]),
        ("where(a_i > 7, a_i, 0)", [u if u > 7 else 0 for u in U.tolist()]),
        ("[a_i, 3]", [[u, 3] for u in U.tolist()]),
        ("[a_i, 3][1]", [3] * len(U)),
    ]:
        assert tilefold.reduce(text, a=U).tolist() == wanted, text
    found = tilefold.reduce("a_i == n", a=U, n=np.int64(-1))
    assert not found.any()
    with pytest.raises(tilefold.FormulaError, match="beyond 2"):
        tilefold.reduce("count_i(a_i == 9223372036854775808)", a=U)


def test_they_are_real_beside_real_numbers():
    real = U.astype(np.float64)
    for text, wanted in [
        ("a_i*0.5", real * 0.5),
        ("a_i*a_i", real * real),
        ("a_i²", real * real),
        ("a_i + 0.25", real + 0.25),
        ("sqrt(a_i)", np.sqrt(real)),
        ("a_i/3", real / 3),
        ("log1p(a_i)", np.log1p(real)),
        ("[a_i, 0.5][0]", real),
        ("real(a_i)", real),
    ]:
        found = tilefold.reduce(text, a=U)
        np.testing.assert_allclose(found, wanted, rtol=3e-16, err_msg=text)
    found = tilefold.reduce("a_i < x_i", a=U, x=np.full(U.size, 2.0**63))
    np.testing.assert_array_equal(found, real < 2.0**63)


@pytest.mark.parametrize("isa", PORTABLE)
def test_reductions(isa):
    options = tilefold.Options(isa=isa)
    rng = np.random.default_rng(1)
    h = rng.integers(2**62, 2**64, (500, 3), np.uint64, endpoint=False)
    for text, wanted in [
        ("max_j h_j", h.max(0)),
        ("min_j h_j", h.min(0)),
        ("max_j h_j[1]", h[:, 1].max()),
        ("max_j where(h_j[0] < h_j[1], h_j[0], h_j[1])",
         np.minimum(h[:, 0], h[:, 1]).max()),
        ("argmax_j h_j[2]", h[:, 2].argmax()),
        ("argmin_j h_j[2]", h[:, 2].argmin()),
        ("argkmin_j(h_j[2], 3)", h[:, 2].argsort()[:3]),
    ]:  # fmt: skip
        found = tilefold.reduce(text, h=h, options=options)
        np.testing.assert_array_equal(found, wanted, text)
        if text.startswith(("max", "min")):
            assert found.dtype == np.uint64
    found = tilefold.reduce("mean_j h_j[0]", h=h, options=options)
    np.testing.assert_allclose(found, h[:, 0].astype(float).mean())
    empty = np.zeros(0, np.uint64)
    assert tilefold.reduce("max_j h_j", h=empty) == 0
    assert tilefold.reduce("min_j h_j", h=empty) == 2**64 - 1
    assert tilefold.reduce("sum_j h_j", h=h[:1, 0] // 4) == h[0, 0] // 4
    assert tilefold.reduce("sum_j h_j", h=h[:, 0]) == LARGEST
    assert tilefold.compile("max_j h_j").check(h=h) == 0


def test_tables_and_their_indices():
    k = np.array([0, 3, 12, 8], np.uint64)
    found = tilefold.reduce("v[k_i]", v=U, k=k)
    np.testing.assert_array_equal(found, U[k.astype(int)].astype(float))
    table = np.stack([U, U[::-1]])
    found = tilefold.reduce("A[1, k_i]", A=table, k=k)
    np.testing.assert_array_equal(found, table[1, k.astype(int)].astype(float))
    found = tilefold.reduce("A[1][2] + 0*k_i", A=table, k=k)
    np.testing.assert_allclose(found, np.full(4, table[1, 2]), rtol=3e-16)
    with pytest.raises(tilefold.ArgumentError, match="index"):
        tilefold.reduce("v[k_i]", v=U, k=np.array([2**64 - 1], np.uint64))
    with pytest.raises(tilefold.Error) as caught:
        tilefold.reduce("A @ [k_i, k_i]", A=table.T[:2], k=k)
    assert caught.value.code == "UnsignedMatrix"
    found = tilefold.reduce("onehot(k_i, 5)[3]", k=k)
    np.testing.assert_array_equal(found, k == 3)
    found = tilefold.reduce("(rand(h_i, 1, 2) != rand(h_i - 1, 1, 2))", h=U)
    assert found[8:10].all()
    draws = tilefold.reduce("rand(7, h_i, 0)", h=U)
    assert len(np.unique(draws)) > U.size - 2
    found = tilefold.reduce("rand(7, h_i, 0)", h=np.int64(U[:8]))
    np.testing.assert_array_equal(draws[:8], found)


def test_what_no_integer_type_holds_is_refused():
    n = np.arange(U.size) - 3
    for text in "where(a_i > 3, a_i, n_i)", "[a_i, n_i]":
        with pytest.raises(tilefold.Error) as caught:
            tilefold.reduce(text, a=U, n=n)
        assert caught.value.code == "MixedIntegers"
        found = tilefold.reduce(text, a=U.astype(np.int64), n=n)
        assert found.dtype == np.int64
    out = np.zeros((), np.uint64)
    with pytest.raises(tilefold.ArgumentError, match="uint64"):
        tilefold.reduce("max_j a_j", a=U, out=out, accumulate=True)
    assert tilefold.reduce("max_j a_j", a=U, out=out) == 2**64 - 1
    with pytest.raises(tilefold.ArgumentError, match="uint64"):
        tilefold.reduce("max_j a_j", a=U[:, None, None], sum_batch=0)
    found = tilefold.reduce("max_j a_j", a=U[:, None, None])
    np.testing.assert_array_equal(found[:, 0], U)
    with pytest.raises(tilefold.Error, match=r"uint64|u64"):
        tilefold.reduce("grad(a_i*x_i, a_i)", a=U, x=np.ones(U.size))


@pytest.mark.sample(0.2)
@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "text",
    [*(f"a_i {sign} b_j" for sign in COMPARISONS), *ARITHMETIC, "a_i*b_j"],
)
def test_pairs_on_a_gpu(gpu_session, text, pair):
    a, b = PAIRS[pair]
    found = tilefold.kernel(
        text, a=fake_gpu.array(a), b=fake_gpu.array(b), session=gpu_session
    ).dense()
    wanted = tilefold.kernel(text, a=a, b=b).dense()
    np.testing.assert_array_equal(fake_gpu.numpy(found), wanted, text)


@pytest.mark.usefixtures("driver")
def test_reductions_on_a_gpu(gpu_session):
    for text in "max_j a_j", "count_ij(a_i == a_j)", "sum_j a_j", "-a_i":
        found = tilefold.reduce(text, a=fake_gpu.array(U), session=gpu_session)
        wanted = tilefold.reduce(text, a=U)
        assert fake_gpu.numpy(found).dtype == wanted.dtype
        np.testing.assert_array_equal(fake_gpu.numpy(found), wanted, text)
