# tests/python/test_reduce.py - formulas against NumPy in float64.
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import tilefold
from conftest import GAUSSIAN, Points, gaussian

TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 2e-3}


@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_gaussian_sum_in_each_float_type(dtype):
    p = Points(dtype)
    out = tilefold.reduce(GAUSSIAN, **p.arguments)
    expected = p.matrix @ p.b.astype(float)
    assert out.shape == (50,)
    scale = np.abs(expected).max()
    assert np.abs(out - expected).max() <= TOLERANCE[dtype] * scale


def test_result_has_the_promotion_of_the_arrays_only(points):
    x = points.x.astype(np.float32)
    y = points.y.astype(np.float32)
    b = points.b.astype(np.float32)
    length = np.float64(0.5)
    out = tilefold.reduce(GAUSSIAN, x=x, y=y, b=b, l=length)
    assert out.dtype == np.float32
    assert tilefold.reduce(GAUSSIAN, x=x, y=points.y, b=b, l=1).dtype == float


def test_vectors_of_values_keep_their_width(points):
    values = np.stack([points.b, 2 * points.b, points.b**2], 1)
    out = tilefold.reduce(GAUSSIAN, points.arguments | {"b": values})
    np.testing.assert_allclose(out, points.matrix @ values, rtol=1e-11)
    one = tilefold.reduce(GAUSSIAN, points.arguments | {"b": values[:, :1]})
    assert one.shape == (50, 1)


REDUCTIONS = {
    "sum": lambda k: k.sum(1),
    "mean": lambda k: k.mean(1),
    "max": lambda k: k.max(1),
    "min": lambda k: k.min(1),
    "argmin": lambda k: k.argmin(1),
    "argmax": lambda k: k.argmax(1),
    "logsumexp": lambda k: np.log(np.exp(k).sum(1)),
}


@pytest.mark.parametrize("name", list(REDUCTIONS))
def test_each_reduction(points, name):
    out = tilefold.reduce(
        f"{name}_j exp(-|x_i - y_j|²)", x=points.x, y=points.y
    )
    expected = REDUCTIONS[name](gaussian(points.x, points.y, np.sqrt(0.5)))
    np.testing.assert_allclose(out, expected, rtol=1e-11)
    if name.startswith("arg"):
        assert out.dtype == np.int64


def test_the_other_axis_and_both(points):
    pair = "exp(-|x_i - y_j|²/2l²)"
    arguments = {"x": points.x, "y": points.y, "l": points.l}
    k = points.matrix
    out = tilefold.reduce(f"sum_i {pair}", arguments)
    np.testing.assert_allclose(out, k.sum(0), rtol=1e-11)
    total = tilefold.reduce(f"sum_ij {pair}", arguments)
    assert isinstance(total, np.float64)
    np.testing.assert_allclose(total, k.sum(), rtol=1e-11)


def test_nearest_neighbours(points):
    out = tilefold.reduce("argkmin_j(|x_i - y_j|², 10)", x=points.x, y=points.y)
    squares = ((points.x[:, None] - points.y[None]) ** 2).sum(-1)
    expected = np.argsort(squares, axis=1, kind="stable")[:, :10]
    assert out.dtype == np.int64
    np.testing.assert_array_equal(out, expected)


def test_softmax_is_attention(points):
    out = tilefold.reduce(
        "softmax_j(q_i·k_j/√3, v_j)", q=points.x, k=points.y, v=points.y
    )
    weights = np.exp(points.x @ points.y.T / np.sqrt(3))
    expected = weights @ points.y / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(out, expected, rtol=1e-11)


def test_several_reductions_and_an_epilogue(points):
    text = (
        "c_i + (sum_j k(x_i,y_j) b_j) / (sum_j k(x_i,y_j)) "
        "with k(u,v) = exp(-|u-v|²/2s²)"
    )
    c = np.arange(50.0)
    out = tilefold.reduce(
        text, x=points.x, y=points.y, b=points.b, c=c, s=points.l
    )
    k = points.matrix
    np.testing.assert_allclose(out, c + k @ points.b / k.sum(1), rtol=1e-10)


def test_a_map_over_points():
    x = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(
        tilefold.reduce("sin(x_i)*1.1 + 2", x=x), np.sin(x) * 1.1 + 2
    )


def test_index_symbols_make_masks(points):
    q, k = points.x, points.y
    out = tilefold.reduce("sum_j where(j <= i, q_i·k_j, 0)", q=q, k=k)
    mask = np.arange(60)[None] <= np.arange(50)[:, None]
    np.testing.assert_allclose(out, np.where(mask, q @ k.T, 0).sum(1))


def test_batches_broadcast_as_in_numpy():
    random = np.random.default_rng(3)
    x = random.random((4, 1, 10, 2))
    y = random.random((3, 11, 2))
    b = random.random((1, 11, 5))
    out = tilefold.reduce(GAUSSIAN, x=x, y=y, b=b, l=0.7)
    assert out.shape == (4, 3, 10, 5)
    np.testing.assert_allclose(out, gaussian(x, y, 0.7) @ b, rtol=1e-11)


@pytest.mark.parametrize("n", [0, 1, 50])
@pytest.mark.parametrize(
    ("reduction", "empty"),
    [
        ("sum", 0),
        ("mean", np.nan),
        ("prod", 1),
        ("max", -np.inf),
        ("min", np.inf),
        ("logsumexp", -np.inf),
    ],
)
def test_no_columns_give_the_identity(n, reduction, empty):
    out = tilefold.reduce(f"{reduction}_j x_i y_j", x=np.ones(n), y=np.ones(0))
    np.testing.assert_array_equal(out, np.full(n, empty))


def test_no_rows_give_an_empty_result(points):
    out = tilefold.reduce(GAUSSIAN, points.arguments | {"x": points.x[:0]})
    assert out.shape == (0,)


def test_nan_and_infinity_pass_as_in_numpy():
    x = np.array([1.0, np.nan, -np.inf])
    y = np.array([2.0, 3.0])
    table = x[:, None] + y[None]
    for name in ("sum", "max", "min"):
        out = tilefold.reduce(f"{name}_j (x_i + y_j)", x=x, y=y)
        np.testing.assert_array_equal(out, getattr(np, name)(table, axis=1))


def test_a_row_of_minus_infinity_has_that_logarithm():
    g = np.full(5, -np.inf)
    out = tilefold.reduce("logsumexp_j (x_i + g_j)", x=np.zeros(2), g=g)
    np.testing.assert_array_equal(out, [-np.inf, -np.inf])


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ([1000, 0, -1], [0, 1, 2]),
        ([np.inf, 0, 1], [0, 1, 1]),
        ([np.nan, 0, 1], [0, 1, 1]),
        ([1, 2, 3], [0, 0, 0]),
        ([500, 2, 3], [0, -1, 3]),
        ([1, 2, 3], [1, np.nan, 0]),
        ([1, 2, 3], [1, -9, 1]),
        ([0, 0, -2000], [0, 0, 1]),
    ],
)
def test_scores_without_a_weight_count_for_nothing(scores, weights):
    """As SciPy has it, wherever the largest score is; so in derivatives."""
    s, w = np.array(scores, float), np.array(weights, float)
    f = tilefold.compile("logsumexp_j(s_j, w_j)")
    with np.errstate(all="ignore"):
        wanted = special.logsumexp(s, b=w)
    for dtype, rtol in ("float64", 1e-14), ("float32", 1e-6):
        found = f(s=s.astype(dtype), w=w.astype(dtype))
        np.testing.assert_allclose(found, wanted, rtol)
    by_score = f.grad("s")(s=s, w=w, grad=1.0)
    assert (by_score[w == 0] == 0).all()
    by_weight = f.grad("w")(s=s, w=w, grad=1.0)
    if np.isfinite(wanted):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(by_weight, np.exp(s - wanted), 1e-12)


def test_a_cross_is_a_cross_product(points):
    x, y = points.x, points.y
    wanted = np.cross(x[:, None], y).sum(1)
    for text in "sum_j x_i × y_j", "sum_j cross(x_i, y_j)":
        np.testing.assert_allclose(tilefold.reduce(text, x=x, y=y), wanted)
    volumes = tilefold.reduce("sum_j x_i × y_j·z_i", x=x, y=y, z=x + 1)
    np.testing.assert_allclose(volumes, (wanted * (x + 1)).sum(1))
    scaled = tilefold.reduce("sum_j c_i × y_j × 2", c=x[:, 0], y=y)
    np.testing.assert_allclose(scaled, 2 * np.outer(x[:, 0], y.sum(0)))
    with pytest.raises(tilefold.ShapeError, match="component by component"):
        tilefold.reduce("sum_j x_i × y_j", x=x[:, :2], y=y[:, :2])


def test_integers_compute_in_float_and_compare_exactly():
    large = np.array([2**53, 2**53 + 1])
    out = tilefold.reduce("sum_j where(a_i == c_j, 1, 0)", a=large, c=large)
    np.testing.assert_array_equal(out, [1, 1])
    small = np.array([100, 100], np.int8)
    assert tilefold.reduce("sum_j a_j", a=small) == 200


@st.composite
def layouts(draw):
    """An (n, 3) array of any strides, its values small numbers."""
    n = draw(st.integers(0, 40))
    base = np.arange(2 * max(n, 1) * 6, dtype=float).reshape(-1, 6) % 7 - 3
    rows = draw(st.sampled_from([slice(0, n), slice(None, None, -1)]))
    columns = draw(st.sampled_from([slice(0, 3), slice(5, None, -2)]))
    array = base[rows][:n][:, columns]
    kind = draw(st.sampled_from(["plain", "fortran", "repeated"]))
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind == "repeated":
        return np.broadcast_to(base[0, :3], (n, 3))
    return array


@given(x=layouts(), y=layouts(), single=st.booleans())
def test_any_strides(x, y, single):
    dtype = np.float32 if single else np.float64
    x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    out = tilefold.reduce("sum_j exp(-|x_i - y_j|²/2)", x=x, y=y)
    expected = gaussian(x, y, 1).sum(1)
    np.testing.assert_allclose(out, expected, rtol=1e-5 if single else 1e-11)


@given(
    batch=st.lists(st.sampled_from([0, 1, 2]), max_size=2),
    drop=st.integers(0, 2),
    d=st.integers(1, 5),
    e=st.integers(1, 4),
)
def test_any_batch(batch, drop, d, e):
    random = np.random.default_rng(1)
    x = random.random((*batch, 6, d))
    y = random.random((*batch[drop:], 7, d))
    b = random.random((7, e))
    out = tilefold.reduce(GAUSSIAN, x=x, y=y, b=b, l=0.9)
    np.testing.assert_allclose(out, gaussian(x, y, 0.9) @ b, rtol=1e-10)


def test_one_kernel_serves_all_sizes_widths_and_constants():
    session = tilefold.Session(tilefold.Options(cache_directory=""))
    random = np.random.default_rng(2)
    for width in range(1, 201):
        tilefold.reduce(
            f"sum_j exp(-|x_i - y_j|²*{width / 7}) b_j",
            x=random.random((width + 3, 2)),
            y=random.random((2 * width, 2)),
            b=random.random((2 * width, width)),
            session=session,
        )
    assert session.stats().compiles == 2  # one of them for one component


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_threads_do_not_change_bits(threads):
    random = np.random.default_rng(5)
    x = random.standard_normal((3000, 3)).astype(np.float32)
    b = random.standard_normal(3000).astype(np.float32)
    text = "sum_j exp(-|x_i - x_j|²/2) b_j"
    alone = tilefold.Session(tilefold.Options(threads=1))
    many = tilefold.Session(tilefold.Options(threads=threads))
    first = tilefold.reduce(text, x=x, b=b, session=alone)
    second = tilefold.reduce(text, x=x, b=b, session=many)
    assert first.tobytes() == second.tobytes()
