# tests/python/test_jax_tiled.py - calls in tiles of jax.numpy, held against the
# library's kernels.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import tilefold.jax  # noqa: E402
from catalogue_references import PAIRS  # noqa: E402
from jax_cases import (  # noqa: E402
    assert_same,
    narrow,  # noqa: F401
    sine,
    squares,
    uniform,
    wide,  # noqa: F401
)
from tilefold.jax import tiled_sweep  # noqa: E402

ARRAYS = {
    "x": uniform(10, 3),
    "y": uniform(19, 3),
    "b": uniform(19),
    "v": uniform(19, 2),
    "l": 0.7,
    "A": uniform(2, 3),
    "c": uniform(10),
    "k": np.arange(19) % 5,
    "n": np.arange(10) + 3,
    "T": uniform(19, 1)[:, 0],
    "z": uniform(10) + 1j * uniform(10, 1)[:, 0],
    "w": uniform(19) + 1j,
    "m": uniform(19) > 0.5,
}
FORMULAS = [
    "sum_j exp(-|x_i - y_j|²/2l²) b_j",
    "sum_i exp(-|x_i - y_j|²) c_i",
    "sum_ij exp(-|x_i - y_j|²)",
    "softmax_j(x_i·y_j, v_j)",
    "logsumexp_ij(x_i·y_j)",
    "min_ij |x_i - y_j|",
    "argmax_ij |x_i - y_j|",
    "argkmin_ij(|x_i - y_j|, 7)",
    "kmin_j(|x_i - y_j|, 25)",
    "mean_ij (x_i·y_j)",
    "var_j |x_i - y_j|",
    "std_i |x_i - y_j|",
    "median_j |x_i - y_j|",
    "sum_j |A@(x_i - y_j)|",
    "sum_j k_j",
    "sum_j T[n_i] b_j",
    "sum_j T[k_j] x_i",
    "sum_j (i*b_j + j*c_i)",
    "sin(x_i)*l",
    "sum_j exp(-(z_i - w_j)²)",
    "sum_j rand(3, i, j)*c_i*b_j",
    "sum_j randn(-3, i, j)*c_i*b_j",
    "any_j (m_j and x_i[0] > y_j[0])",
    "sum_j x_i[1:3]·[b_j, y_j[0]]",
    "(sum_j exp(-|x_i - y_j|) b_j)/(sum_j exp(-|x_i - y_j|))",
    "sum_j exp(-|x_i - y_j|)/(sum_i exp(-|x_i - y_j|))",
    "sum_j |x_i × y_j|",
    "sum_j where(m_j, x_i*y_j, 0)",
]
NEARER = (
    "fold_j([|x_i - y_j|, j], [inf, inf], nearer) with"
    " nearer(a, b) = where(a[0] <= b[0], a, b)"
)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles that no axis is a multiple of."""
    monkeypatch.setattr(tiled_sweep, "TILE", (4, 8))


def given_to(text):
    names = [name for name, _ in tilefold.compile(text).names]
    return {name: ARRAYS[name] for name in names}


def check(text, arguments, tolerance=1e-12):
    found = tilefold.jax.reduce(text, arguments, backend="tiled")
    expected = jnp.asarray(tilefold.reduce(text, arguments))
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.sample(0.1)
@pytest.mark.parametrize("text", FORMULAS)
def test_values_and_gradients(text):
    arguments = given_to(text)
    check(text, arguments)
    moving = {
        name: jnp.asarray(value)
        for name, value in arguments.items()
        if np.asarray(value).dtype.kind in "fc"
    }
    if tilefold.reduce(text, arguments).dtype.kind not in "fc":
        return

    def gradient(backend):
        def total(moving):
            found = tilefold.jax.reduce(
                text, {**arguments, **moving}, backend=backend
            )
            return jnp.sin(jnp.abs(found)).sum()

        return jax.grad(total)(moving)

    assert_same(gradient("tiled"), gradient(""), 1e-11)


@pytest.mark.sample(0.05)
@pytest.mark.parametrize("name", PAIRS)
def test_formulas_of_the_catalogue(name):
    pair = PAIRS[name]
    x, y = (np.asarray(p)[:9] for p in pair.points(np.random.default_rng(3)))
    terms = ", ".join(["x_i", "y_j", *pair.parameters])
    text = f"sum_j {name}({terms})"
    check(text, {**pair.parameters, "x": x, "y": y}, 1e-9)


def test_folds_are_added_term_by_term():
    check(NEARER, given_to(NEARER))
    check(
        "fold_ij(x_i·y_j, 0, add) with add(a, b) = a + b",
        given_to("sum_ij x_i·y_j"),
    )


@pytest.mark.parametrize(("rows", "columns"), [(0, 5), (3, 0), (1, 1), (4, 8)])
def test_few_points_and_none(rows, columns):
    x, y = uniform(rows, 3), uniform(columns, 3)
    for text in (
        "sum_j |x_i - y_j|",
        "max_j |x_i - y_j|",
        "argmin_j |x_i - y_j|",
        "logsumexp_j(x_i·y_j)",
        "kmin_j(|x_i - y_j|, 2)",
        "sum_ij |x_i - y_j|",
    ):
        check(text, {"x": x, "y": y})


@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "i8", "u2"])
@pytest.mark.parametrize("count", [0, 3, 19])
def test_the_least_of_whole_numbers(dtype, count):
    """More of them than there are: the others are infinite."""
    held = {"b": (np.arange(count) % 4).astype(dtype), "c": ARRAYS["c"]}
    for text in ("kmin_j(b_j, 5)", "kmax_j(b_j, 5)", "argkmin_j(b_j, 5)"):
        check(text, {"b": held["b"]})
    check("kmin_j((c_i < 0.5) and (b_j < 2), 5)", held)


def test_nan_and_infinities():
    x = uniform(6, 1)
    y = np.array([[1.0], [np.nan], [np.inf], [0.5], [-np.inf], [np.nan]])
    for text in (
        "max_j (x_i[0] + y_j[0])",
        "kmin_j(x_i[0] + y_j[0], 5)",
        "argkmin_j(x_i[0] + y_j[0], 5)",
        "sum_j (x_i[0] + y_j[0])",
    ):
        found = tilefold.jax.reduce(text, x=x, y=y, backend="tiled")
        np.testing.assert_array_equal(found, tilefold.reduce(text, x=x, y=y))
    logarithms = np.array([[-np.inf], [0.5], [-np.inf]])
    check("logsumexp_j(x_i[0] + y_j[0])", {"x": x, "y": logarithms})


def test_batches():
    def both(backend):
        def call(x, b, l):
            return tilefold.jax.reduce(
                "sum_j exp(-|x_i - y_j|²/2l²) b_j",
                x=x, y=ARRAYS["y"], b=b, l=l, backend=backend,
            )  # fmt: skip

        x, b, l = uniform(10, 3), uniform(3, 19), np.array([0.4, 0.6, 0.8])
        mapped = jax.vmap(call, (None, 0, 0))
        value = mapped(x, b, l)
        total = jax.grad(lambda *v: jnp.sin(mapped(*v)).sum(), (0, 1, 2))
        return value, total(x, b, l)

    assert_same(both("tiled"), both(""))


@pytest.mark.usefixtures("narrow")
def test_sums_of_float32_are_compensated(monkeypatch):
    monkeypatch.setattr(tiled_sweep, "TILE", (4, 64))
    y = uniform(20000).astype(np.float32)
    x = uniform(2).astype(np.float32)
    found = tilefold.jax.reduce("sum_j (x_i + y_j)", x=x, y=y, backend="tiled")
    exact = x.astype(float) * len(y) + y.astype(float).sum()
    np.testing.assert_allclose(found, exact, rtol=2e-7)


def test_ranges_are_refused():
    ranges = tilefold.Ranges([0, 5, 10], [0, 9, 19], np.eye(2, dtype=bool))
    with pytest.raises(tilefold.ArgumentError, match="ranges"):
        tilefold.jax.reduce(
            "sum_j x_i·y_j",
            x=ARRAYS["x"], y=ARRAYS["y"], ranges=ranges, backend="tiled",
        )  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 7), (5, 1), (1, 1)])
def test_a_table_of_one_row_or_column(shape):
    random = np.random.default_rng(1)
    table = random.normal(size=shape)
    r, c = (
        random.integers(0, n, m) for n, m in zip(shape, (9, 8), strict=True)
    )
    b = random.normal(size=8)

    def product(a, backend="tiled"):
        return tilefold.jax.reduce(
            "sum_j A[r_i, c_j] b_j", A=a, r=r, c=c, b=b, backend=backend
        )

    expected = table[np.ix_(r, c)] @ b
    np.testing.assert_allclose(product(table), expected, rtol=1e-6)
    tiled, own = (
        jax.grad(lambda a, kind=kind: product(a, kind).sum())(
            jax.numpy.asarray(table)
        )
        for kind in ("tiled", "")
    )
    assert tiled.shape == shape
    np.testing.assert_allclose(tiled, own, rtol=1e-6, atol=1e-12)


def test_quantiles_of_products():
    """Their thresholds are the same in each place that computes them."""
    numbers = jnp.arange(1, 5, dtype=jnp.float32)
    found = tilefold.jax.reduce("median_j(n_i*n_j)", n=numbers, backend="tiled")
    exact = np.outer(np.arange(1.0, 5), np.arange(1.0, 5))
    np.testing.assert_allclose(found, np.median(exact, 1))


def test_searches_in_float64_need_it():
    numbers = jnp.arange(1, 5, dtype=jnp.int16)
    with (
        jax.enable_x64(False),
        pytest.raises(tilefold.ArgumentError, match="jax_enable_x64"),
    ):
        tilefold.jax.reduce("median_j(n_i*n_j)", n=numbers, backend="tiled")


TWICE = {
    "one array on both axes": (
        "sum_j A[r_i, s_j] exp(-|x_i - x_j|²) x_j",
        lambda x, A: (A[ROWS][:, COLUMNS] * jnp.exp(-squares(x, x))) @ x,
    ),
    "a table": (
        "sum_j exp(A[r_i, s_j]) |x_i - x_j|²",
        lambda x, A: (jnp.exp(A[ROWS][:, COLUMNS]) * squares(x, x)).sum(1),
    ),
    "rows of a table": (
        "sum_j sin(A[r_i]·A[s_j]) x_j[0]",
        lambda x, A: jnp.sin(A[ROWS] @ A[COLUMNS].T) @ x[:, 0],
    ),
}
ROWS, COLUMNS = np.array([0, 3, 4, 1]), np.array([1, 0, 3, 0])


def second(f):
    """The gradients of a function of the gradients of f."""

    def first(*values):
        found = jax.grad(sine(f), (0, 1))(*values)
        return sum(jnp.cos(each).sum() for each in found)

    return jax.grad(first, (0, 1))


@pytest.mark.parametrize("name", TWICE)
def test_second_gradients_under_jit_and_vmap(name):
    text, theirs = TWICE[name]

    def ours(x, A):
        return tilefold.jax.reduce(
            text, x=x, A=A, r=ROWS, s=COLUMNS, backend="tiled"
        )

    x, A = uniform(3, 4, 2), uniform(3, 5, 4)
    for axes in ((0, 0), (0, None), (None, 0)):
        given = (x if axes[0] == 0 else x[0], A if axes[1] == 0 else A[0])
        found = jax.jit(jax.vmap(second(ours), axes))(*given)
        assert_same(found, jax.vmap(second(theirs), axes)(*given), 1e-11)
