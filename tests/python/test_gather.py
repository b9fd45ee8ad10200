# tests/python/test_gather.py - elements of tables, chosen by arrays and by
# what is computed: values, gradients, refusals.
from __future__ import annotations

import numpy as np
import pytest

import tilefold
from instruction_sets import PORTABLE

rng = np.random.default_rng(0)
TABLE = rng.normal(size=(5, 7))
VECTOR = rng.normal(size=9)
R = rng.integers(0, 5, 40)
C = rng.integers(0, 7, 33)
B = rng.normal(size=33)
INDICES = [
    np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64,
]  # fmt: skip
TABLES = [np.float32, np.float64, np.float16, np.int32, np.uint8, bool]


@pytest.mark.parametrize("dtype", INDICES)
def test_index_arrays_of_every_dtype(dtype):
    found = tilefold.kernel("A[r_i, c_j]", A=TABLE, r=R.astype(dtype), c=C)
    dense = found.dense()
    np.testing.assert_array_equal(dense, TABLE[R][:, C].astype(dense.dtype))
    v = tilefold.reduce("v[r_i]", v=VECTOR, r=R.astype(dtype))
    np.testing.assert_array_equal(v, VECTOR[R].astype(v.dtype))


@pytest.mark.parametrize("dtype", INDICES)
def test_subscripts_take_no_part_in_the_dtype_of_the_result(dtype):
    """Labels are int64, as torch makes them, and numbers float32."""
    r, c = R.astype(dtype), C.astype(dtype)
    single, double = TABLE.astype("f4"), B.astype("f4")
    f = tilefold.compile("sum_j A[r_i, c_j] b_j")
    assert f(A=TABLE, r=r, c=c, b=double).dtype == np.float32
    assert f(A=single, r=r, c=c, b=B).dtype == np.float64
    assert tilefold.reduce("sum_j A[r_j, 0]", A=single, r=r).dtype == np.float32
    assert tilefold.reduce("sum_j A[r_j, 0]", A=TABLE, r=r).dtype == np.float64


def test_a_subscript_in_single_precision_is_exact():
    table = np.zeros(2**24 + 4, np.float32)
    table[2**24 + 1], table[2**24 + 3] = 1, 2
    at = np.array([2**24 + 1, 2**24 + 3])
    found = tilefold.reduce("v[k_i]", v=table, k=at)
    assert found.dtype == np.float32
    assert found.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", TABLES)
def test_tables_of_every_dtype(dtype):
    table = (TABLE * 3).astype(dtype)
    found = tilefold.kernel("A[r_i, c_j]", A=table, r=R, c=C).dense()
    np.testing.assert_array_equal(found, table[R][:, C])
    found = tilefold.reduce("A[r_i]", A=table, r=R)
    np.testing.assert_array_equal(found, table[R])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("isa", PORTABLE)
def test_reductions_of_elements(dtype, isa):
    options = tilefold.Options(isa=isa)
    session = tilefold.Session(options)
    arguments = {"A": TABLE.astype(dtype), "b": B.astype(dtype), "r": R, "c": C}
    for text, expected in [
        ("sum_j A[r_i, c_j] b_j", TABLE[R][:, C] @ B),
        ("sum_i A[r_i, c_j]", TABLE[R][:, C].sum(0)),
        ("max_j A[r_i, c_j]*b_j", (TABLE[R][:, C] * B).max(1)),
        ("sum_ij A[r_i, c_j]", TABLE[R][:, C].sum()),
    ]:
        used = {k: v for k, v in arguments.items() if k != "b" or "b_j" in text}
        found = tilefold.reduce(text, used, session=session)
        scale = 1e-5 if dtype == np.float32 else 1e-13
        np.testing.assert_allclose(found, expected, atol=40 * scale)


def test_a_large_table():
    table = rng.normal(size=(400, 700))
    r, c = rng.integers(0, 400, 200), rng.integers(0, 700, 150)
    found = tilefold.kernel("A[r_i, c_j]", A=table, r=r, c=c)
    np.testing.assert_array_equal(found.dense(), table[np.ix_(r, c)])
    np.testing.assert_allclose(found.sum(1), table[np.ix_(r, c)].sum(1))


LARGE = rng.normal(size=(2, 160, 170))
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "with gaps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
}


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("stored", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_table_is_read_where_it_lies(layout, stored, dtype, isa):
    """But that of float16, which is copied: all dtypes are right."""
    tables = LAYOUTS[layout](LARGE.astype(stored))
    table, vector = tables[0], tables[0].reshape(-1)[:5000]
    every = tables.astype(np.float64)
    r, c = rng.integers(0, 160, 50), rng.integers(0, 170, 40)
    b, y = rng.normal(size=40), rng.normal(size=(40, 170))
    b, y = b.astype(dtype), y.astype(dtype)
    chosen = every[:, r][:, :, c]
    for text, given, expected in [
        ("sum_j A[r_i, c_j] b_j", {"A": table}, chosen[0] @ b),
        ("sum_j A[r_i, c_j] b_j", {"A": tables}, chosen @ b),
        ("sum_i A[r_i, c_j] b_j", {"A": table}, chosen[0].sum(0) * b),
        ("sum_j A[r_i]·y_j", {"A": table, "y": y}, every[0, r] @ y.sum(0)),
        ("v[29 c_j] b_j", {"v": vector}, vector[29 * c] * b),
        ("count_j(A[r_i, c_j + 169] > -9)", {"A": table}, (c == 0).sum()),
    ]:
        given |= {"r": r} if "r_i" in text else {}
        given |= {"c": c} if "c_j" in text else {}
        given |= {"b": b} if "b_j" in text else {}
        found = tilefold.reduce(text, given, options=tilefold.Options(isa=isa))
        scale = 4e-4 if dtype == np.float32 else 4e-12
        np.testing.assert_allclose(found, expected, rtol=0, atol=scale)


def test_a_gradient_by_too_large_a_table_is_refused_as_such():
    """Not as an array of N rows that was given to a parameter."""
    by_pairs = tilefold.compile("sum_j G[i, j] x_i b_j").grad("G")
    arguments = {"x": np.ones(160), "b": np.ones(170), "grad": np.ones(160)}
    with pytest.raises(tilefold.ShapeError, match="as the table"):
        by_pairs(arguments, G=LARGE[0])


def test_pairs_of_all_points_are_read_where_they_lie():
    """`G[i, j]`, a weight of each pair: nothing of its size is made."""
    x, y = rng.normal(size=(300, 3)), rng.normal(size=(200, 3))
    pairs = rng.normal(size=(300, 200))
    text = "sum_j G[i, j] exp(-|x_i - y_j|²)"
    given = {"x": x, "y": y, "G": pairs}
    squares = ((x[:, None] - y) ** 2).sum(-1)
    expected = (pairs * np.exp(-squares)).sum(1)
    for threads in (1, 3):
        options = tilefold.Options(threads=threads)
        found = tilefold.reduce(text, given, options=options)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert "are read in place" in tilefold.explain(text, given)


@pytest.mark.parametrize("shape", [(1, 7), (5, 1), (1, 1)])
def test_a_table_of_one_row_or_column_stays_a_table(shape):
    """What a family of models makes when it has one task or one state."""
    rows, columns = shape
    table = rng.normal(size=shape)
    r, c = rng.integers(0, rows, 40), rng.integers(0, columns, 33)
    expected = table[np.ix_(r, c)]
    # Labels of shape (N, 1), as libraries keep them, are labels too.
    for label in (c, c[:, None]):
        given = {"A": table, "r": r, "c": label}
        found = tilefold.kernel("A[r_i, c_j]", given)
        np.testing.assert_array_equal(found.dense(), expected)
    product = tilefold.compile("sum_j A[r_i, c_j] b_j")
    np.testing.assert_allclose(product(**given, b=B), expected @ B)
    gradient = product.grad("A")(**given, b=B, grad=np.ones(40))
    counts = np.zeros(shape)
    np.add.at(counts, (r[:, None], c[None, :]), np.ones((40, 1)) * B)
    np.testing.assert_allclose(np.reshape(gradient, shape), counts)
    moved = product.jvp("A")(**given, b=B, tangent=2 * table)
    np.testing.assert_allclose(moved, 2 * expected @ B)
    outside = tilefold.reduce("sum_j A[r_i, c_j + 9]", A=table, r=r, c=c)
    assert np.isnan(outside).all()


def test_a_vector_takes_one_subscript():
    with pytest.raises(tilefold.ShapeError, match="two numbers takes a matrix"):
        tilefold.reduce("sum_j A[r_i, c_j]", A=VECTOR, r=R, c=C)


def test_numbers_of_the_text():
    x = np.ones((4, 7))
    np.testing.assert_array_equal(
        tilefold.reduce("A[r_i, -1]", A=TABLE, r=R), TABLE[R, -1]
    )
    np.testing.assert_allclose(
        tilefold.reduce("A[2]·x_i", A=TABLE, x=x), x @ TABLE[2]
    )
    np.testing.assert_allclose(
        tilefold.reduce("A[-2]·x_i + A[0, 3]", A=TABLE, x=x),
        x @ TABLE[-2] + TABLE[0, 3],
    )


def test_what_is_computed():
    i, j = np.arange(40)[:, None], np.arange(33)[None, :]
    found = tilefold.kernel(
        "v[abs(i - j) mod 9]*b_j + 0*r_i", v=VECTOR, b=B, r=R
    )
    np.testing.assert_array_equal(found.dense(), VECTOR[abs(i - j) % 9] * B)
    x = rng.uniform(0, 5, 20)
    np.testing.assert_array_equal(
        tilefold.reduce("A[floor(x_i), 1]", A=TABLE, x=x),
        TABLE[x.astype(int), 1],
    )
    np.testing.assert_array_equal(
        tilefold.reduce("(2*v)[r_i]", v=VECTOR, r=R), 2 * VECTOR[R]
    )
    np.testing.assert_array_equal(
        tilefold.reduce("[5, 6, 7, 8, 9][r_i]", r=R), R + 5
    )


def test_a_table_of_tables():
    order = rng.permutation(5)
    found = tilefold.kernel("A[p[r_i], c_j]", A=TABLE, p=order, r=R, c=C)
    np.testing.assert_array_equal(found.dense(), TABLE[order[R]][:, C])


@pytest.mark.parametrize("components", [3, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_components_of_points(components, dtype):
    x = rng.normal(size=(40, components)).astype(dtype)
    c = rng.integers(0, components, 33)
    kernel = tilefold.kernel("x_i[c_j]", x=x, c=c)
    np.testing.assert_array_equal(kernel.dense(), x[:, c])
    np.testing.assert_array_equal(kernel.max(1), x[:, c].max(1))
    np.testing.assert_array_equal(kernel.T.max(1), x[:, c].max(0))


def test_labels_of_the_nearest():
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(9, 3))
    nearest = ((x[:, None] - y) ** 2).sum(-1).argmin(1)
    found = tilefold.reduce("v[argmin_j |x_i - y_j|²]", x=x, y=y, v=VECTOR)
    np.testing.assert_array_equal(found, VECTOR[nearest])


@pytest.mark.parametrize(
    "index", [-1.0, 9.0, 0.5, np.nan, np.inf, -np.inf, 2.0**60]
)
def test_no_element_gives_nan(index):
    x = np.array([0.0, index, 8.0])
    expected = [VECTOR[0], np.nan, VECTOR[8]]
    found = tilefold.reduce("v[x_i + 0]", v=VECTOR, x=x)
    np.testing.assert_array_equal(found, expected)
    f = tilefold.compile("v[x_i + 0]")
    assert f.check(v=VECTOR, x=x) == 0
    found = tilefold.reduce("A[0, 2*x_i]", A=TABLE, x=np.array([3.0, 3.5, 4.0]))
    np.testing.assert_array_equal(found, [TABLE[0, 6], np.nan, np.nan])


def check_gradient(text, name, arguments):
    f = tilefold.compile(text)
    value = np.asarray(f(arguments))
    g = rng.normal(size=value.shape)
    found = f.grad(name)(arguments, grad=g)
    expected = np.zeros(arguments[name].shape)
    for place in np.ndindex(expected.shape):
        ahead, behind = (arguments[name].copy() for _ in range(2))
        ahead[place] += 1e-6
        behind[place] -= 1e-6
        change = np.asarray(f({**arguments, name: ahead})) - np.asarray(
            f({**arguments, name: behind})
        )
        expected[place] = (change * g).sum() / 2e-6
    np.testing.assert_allclose(
        found.reshape(expected.shape), expected, atol=1e-6
    )


def test_gradients_scatter():
    x = rng.normal(size=(33, 7))
    check_gradient(
        "sum_j A[r_i, c_j] b_j", "A", {"A": TABLE, "r": R, "c": C, "b": B}
    )
    check_gradient(
        "sum_j A[r_i]·x_j b_j", "A", {"A": TABLE, "r": R, "x": x, "b": B}
    )
    check_gradient("sum_ij v[r_i]²*b_j", "v", {"v": VECTOR, "r": R, "b": B})
    check_gradient("v[r_i]*v[8 - r_i]", "v", {"v": VECTOR, "r": R})
    y = rng.normal(size=(40, 4))
    check_gradient("sum_j y_i[c_j mod 4]² b_j", "y", {"y": y, "c": C, "b": B})


def test_the_gradient_of_a_large_table_is_refused():
    table = rng.normal(size=(70, 60))
    f = tilefold.compile("sum_j A[r_i, c_j]").grad("A")
    with pytest.raises(tilefold.ShapeError) as caught:
        f(A=table, r=R, c=C, grad=1)
    assert str(caught.value) == (
        "a vector of 4200 components is written out here, where 1 to 4096 "
        "may be\n  sum_j A[r_i, c_j]\n        ^~~~~~~~~~~\n"
        "the gradient by a table has as many components as the table"
    )


REFUSALS = [
    ("v[r_i]", {"v": VECTOR, "r": np.array([0, 9])},
     "'r' holds the index 9, where 'v' has 9 components"),
    ("v[r_i]", {"v": VECTOR, "r": np.array([3, -1], np.int8)},
     "'r' holds the index -1, where 'v' has 9 components"),
    ("sum_j A[r_i, c_j]", {"A": TABLE, "r": R, "c": np.array([7])},
     "'c' holds the index 7, where 'A' has 7 columns"),
    ("sum_j A[r_i, c_j]", {"A": TABLE, "r": np.array([5.0]), "c": C},
     "'r' holds the index 5, where 'A' has 5 rows"),
    ("A[r_i]", {"A": TABLE, "r": np.array([0.5])},
     "'r' holds the index 0.5, where 'A' has 5 rows"),
    ("v[k] + 0*r_i", {"v": VECTOR, "k": 11, "r": R},
     "'k' holds the index 11, where 'v' has 9 components"),
    ("(2*v)[r_i]", {"v": VECTOR, "r": np.array([2**63], np.uint64)},
     "'r' holds the index 9223372036854775808, where 'the table' has 9 "
     "components"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "arguments", "message"), REFUSALS)
def test_an_index_outside_the_table(text, arguments, message):
    with pytest.raises(tilefold.ArgumentError) as caught:
        tilefold.reduce(text, arguments)
    assert caught.value.code == "IndexOutOfRange"
    assert str(caught.value) == (
        f"{message}\nindices count from 0; none is negative"
    )


def test_a_gradient_checks_indices_too():
    f = tilefold.compile("sum_j v[r_i]² b_j").grad("v")
    with pytest.raises(tilefold.ArgumentError, match="the index 9"):
        f(v=VECTOR, r=np.array([9]), b=B, grad=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A[r_i, 7]", "component 7 of a matrix of 5 × 7 components"),
        ("A[-6]·r_i", "component -6 of a matrix of 5 × 7 components"),
        ("r_i[r_i]", "a subscript takes a vector, not a scalar"),
        ("v[0 + r_i, 0]", "takes a matrix, not a vector of 9"),
        ("A[[r_i, r_i], 0]", "a scalar"),
    ],
)
def test_shapes_that_do_not_fit(text, message):
    arguments = {"A": TABLE, "v": VECTOR, "r": R}
    used = {k: v for k, v in arguments.items() if k in text}
    with pytest.raises(tilefold.ShapeError, match=message.replace("×", ".")):
        tilefold.reduce(text, used)


def test_onehot_and_positions():
    x = rng.normal(size=(40, 6))
    x[3] = x[3, 0]
    x[4, 2] = np.nan
    np.testing.assert_array_equal(
        tilefold.reduce("onehot(c_j, 7)", c=C), np.eye(7)[C]
    )
    np.testing.assert_array_equal(
        tilefold.reduce("onehot(c_j, n) with n = 3", c=C.astype(np.float32)),
        np.eye(7, 3)[C],
    )
    np.testing.assert_array_equal(
        tilefold.reduce("sum_j onehot(c_j, 7)", c=C),
        np.bincount(C, minlength=7),
    )
    np.testing.assert_array_equal(
        tilefold.reduce("argmax(x_i)", x=x), x.argmax(1)
    )
    np.testing.assert_array_equal(
        tilefold.reduce("argmin(x_i)", x=x), x.argmin(1)
    )
    np.testing.assert_array_equal(
        tilefold.reduce("arange(6)*x_i", x=x), np.arange(6) * x
    )


def test_histograms():
    x, w = rng.random(1000), rng.random(1000)
    found = tilefold.reduce("sum_j onehot(floor(10x_j), 10) w_j", x=x, w=w)
    expected = np.histogram(x, 10, (0, 1), weights=w)[0]
    np.testing.assert_allclose(found, expected)
    gradient = tilefold.compile("sum_j onehot(floor(10x_j), 10) w_j").grad("w")
    g = rng.normal(size=10)
    np.testing.assert_allclose(
        gradient(x=x, w=w, grad=g), g[(10 * x).astype(int)]
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_a_table_of_one_row_has_rows(dtype):
    """Of shape (1, C): what is chosen is a row, as of any other table."""
    table = np.arange(1, 4).reshape(1, 3).astype(dtype)
    c, x = np.zeros(5, int), np.ones((4, 3), dtype)
    rows = tilefold.reduce("A[c_j]", A=table, c=c)
    np.testing.assert_array_equal(rows, np.repeat(table, 5, 0))
    sums = tilefold.reduce("sum_j A[c_j]·x_i", A=table, c=c, x=x)
    np.testing.assert_array_equal(sums, np.full(4, 30))
    one = tilefold.reduce("sum_j A[c_j]", A=table[:, :1], c=c)
    np.testing.assert_array_equal(one, [5])
    if dtype != "int64":
        f = tilefold.compile("sum_j A[c_j]·x_i").grad("A")
        gradient = f(A=table, c=c, x=x, grad=np.ones(4, dtype))
        np.testing.assert_array_equal(gradient, [[20, 20, 20]])
    vector = tilefold.reduce("A[c_j]", A=table[0], c=c)
    np.testing.assert_array_equal(vector, np.full(5, table[0, 0]))


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("text", ["A @ x_i", "x_i @ A"])
def test_matrices_of_one_row_or_column_are_numpys(text, shape, components):
    rng = np.random.default_rng(3)
    a, x = rng.random(shape), rng.random((5, components))
    if (shape[1] if text[0] == "A" else shape[0]) != components:
        with pytest.raises(tilefold.ShapeError):
            tilefold.reduce(text, A=a, x=x)
        return
    wanted = x @ (a.T if text[0] == "A" else a)
    found = tilefold.reduce(text, A=a, x=x)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_one_component_has_a_covariance():
    x, y = np.arange(3.0)[:, None], np.arange(4.0)[:, None] ** 2
    found = tilefold.reduce(
        "sum_j mahalanobis(x_i, y_j, S)", x=x, y=y, S=np.array([[4.0]])
    )
    np.testing.assert_allclose(found, 2 * abs(x - y.T).sum(1))


def test_a_table_of_one_number():
    f = tilefold.compile("sum_j T[c_j]*y_j")
    c, y = np.zeros(4, int), np.arange(4.0)
    assert f(T=np.array([5.0]), c=c, y=y) == 30
    assert f.grad("T")(T=np.array([5.0]), c=c, y=y) == 6
    with pytest.raises(tilefold.ArgumentError, match="index 1"):
        f(T=np.array([5.0]), c=c + 1, y=y)


TRUTHS = {
    "sum_j where(A[i, j], x_i·y_j, 0)": lambda a, s: np.where(a, s, 0).sum(1),
    "sum_j where(not A[i, j], x_i·y_j, 0)": lambda a, s: (~a * s).sum(1),
    "any_j (A[i, j] and x_i·y_j > 2)": lambda a, s: (a & (s > 2)).any(1),
    "count_j (A[i, j] or x_i·y_j > 3)": lambda a, s: (a | (s > 3)).sum(1),
    "sum_j A[i, j]*(x_i·y_j)": lambda a, s: (a * s).sum(1),
}


@pytest.mark.parametrize("text", TRUTHS)
def test_tables_of_truth_values_hold_truth_values(text):
    a = np.random.default_rng(0).random((6, 4)) > 0.5
    x, y = np.ones((6, 1)), np.arange(1, 5.0)[:, None]
    found = tilefold.reduce(text, A=a, x=x, y=y)
    np.testing.assert_array_equal(found, TRUTHS[text](a, x @ y.T))
