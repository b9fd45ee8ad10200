# tests/python/test_long_chains.py - many functions of a vector, one after the
# other, whose loop over components is cut; and vectors of one component.
"""Long chains below every contraction, at the edges of a strip of 32."""

from __future__ import annotations

import numpy as np
import pytest

import tilefold
from conftest import gaussian

WITH = (
    "a = sin(x_i + 0.1), c = exp(0.5 cos(a)), d = tanh(c - a), "
    "e = sin(1.1 d + c) + a"
)


def chain(x: np.ndarray) -> dict[str, np.ndarray]:
    """a to e of WITH."""
    a = np.sin(x + 0.1)
    c = np.exp(0.5 * np.cos(a))
    d = np.tanh(c - a)
    return {"a": a, "c": c, "d": d, "e": np.sin(1.1 * d + c) + a}


CONTRACTIONS = {
    "sum(e)": lambda v: v["e"].sum(-1),
    "norm(e)": lambda v: np.linalg.norm(v["e"], axis=-1),
    "a·e": lambda v: (v["a"] * v["e"]).sum(-1),
    "|c - e|²": lambda v: ((v["c"] - v["e"]) ** 2).sum(-1),
    "max(e)": lambda v: v["e"].max(-1),
    "min(e*d)": lambda v: (v["e"] * v["d"]).min(-1),
    "sum(e sum(a))": lambda v: (v["e"] * v["a"].sum(-1)[..., None]).sum(-1),
}


@pytest.mark.parametrize("width", [6, 15, 16, 17, 31, 32, 33, 65])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("contraction", CONTRACTIONS)
def test_a_chain_below_a_contraction(
    contraction: str, dtype: str, width: int
) -> None:
    x = np.random.default_rng(width).standard_normal((21, width))
    x = x.astype(dtype)
    values = CONTRACTIONS[contraction](chain(x.astype(np.float64)))
    close = {"rtol": 3e-5 if dtype == "float32" else 1e-11, "atol": 1e-5}
    text = f"sum_i ({contraction}) with {WITH}"
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x), values.sum(), **close
    )
    text = f"max_i ({contraction}) with {WITH}"
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x), values.max(), **close
    )


@pytest.mark.parametrize("width", [7, 16, 35])
def test_a_chain_of_pairs(width: int) -> None:
    random = np.random.default_rng(width)
    x, y = random.standard_normal((2, 19, width))
    pairs = chain(x[:, None] - y)
    wanted = (pairs["e"] * pairs["a"]).sum(-1).sum(1)
    text = "sum_j (a·e) with " + WITH.replace("x_i", "(x_i - y_j)")
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x, y=y), wanted, rtol=1e-10, atol=1e-12
    )


def test_a_chain_below_a_product_with_a_matrix() -> None:
    random = np.random.default_rng(1)
    x, m = random.standard_normal((30, 18)), random.standard_normal((18, 4))
    text = f"sum_i (e @ m) with {WITH}"
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x, m=m), (chain(x)["e"] @ m).sum(0), rtol=1e-10
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_one_component_are_those_of_numbers(dtype: str) -> None:
    """Enough pairs for a kernel of their own."""
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, 2100, 3)).astype(dtype)
    b = random.standard_normal(2100).astype(dtype)
    formula = tilefold.compile("sum_j exp(-|x_i - y_j|²/2) b_j")
    numbers = formula(x=x, y=y, b=b)
    vectors = formula(x=x, y=y, b=b[:, None])
    assert vectors.shape == (2100, 1)
    np.testing.assert_array_equal(vectors[:, 0], numbers)
    pair = np.stack([b, b], 1)
    wide = formula(x=x, y=y, b=pair)
    rtol = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(wide[:, 1], numbers, rtol=rtol, atol=1e-4)
    exact = gaussian(x, y, 1.0) @ b.astype(np.float64)
    np.testing.assert_allclose(numbers, exact, rtol=rtol, atol=1e-4)
    weights = np.ones((2100, 1), dtype)
    gradient = formula.grad("b")(x=x, y=y, b=b[:, None], grad=weights)
    assert gradient.shape == (2100, 1)
    np.testing.assert_allclose(
        gradient[:, 0], gaussian(x, y, 1.0).sum(0), rtol=rtol
    )


@pytest.mark.parametrize("operation", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_nan_anywhere(operation: str, dtype: str) -> None:
    """In every column in turn, also of the last and incomplete tiles."""
    x = np.linspace(-1, 1, 37).astype(dtype)
    formula = tilefold.compile(f"{operation}_j (x_i y_j)")
    for place in range(23):
        y = np.cos(np.arange(23.0)).astype(dtype)
        y[place] = np.nan
        found = formula(x=x, y=y)
        with np.errstate(invalid="ignore"):
            wanted = getattr(np, operation)(np.outer(x, y), axis=1)
        np.testing.assert_array_equal(found, wanted)


SUM = "sum_j sum(sin(1.1*x_j + a) + exp(0.3*y_j))"


def flat_sum(x: np.ndarray, y: np.ndarray, a: float) -> np.ndarray:
    x, y = x.astype(np.float64), y.astype(np.float64)
    return (np.sin(1.1 * x + a) + np.exp(0.3 * y)).sum((-1, -2))


def copies(x: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers, in memory that adjoins and in memory that does not."""
    wide = np.zeros((*x.shape[:-1], x.shape[-1] + 3), x.dtype)
    wide[..., : x.shape[-1]] = x
    return {
        "adjoining": x,
        "by columns": np.asfortranarray(x),
        "with gaps": wide[..., : x.shape[-1]],
        "backwards": np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1],
        "rows backwards": np.ascontiguousarray(x[..., ::-1, :])[..., ::-1, :],
    }


@pytest.mark.parametrize("shape", [(0, 4), (1, 2), (7, 16), (300, 5), (40, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_components_are_points_where_nothing_tells_them_apart(
    shape: tuple[int, int], dtype: str
) -> None:
    """One compile for all sizes, and as many for those of other strides."""
    random = np.random.default_rng(shape[0])
    x, y = (random.uniform(-3, 3, (2, *shape))).astype(dtype)
    wanted = flat_sum(x, y, 0.5)
    tolerance = 1e-13 if dtype == "float64" else 3e-6
    size = np.prod(shape) + 1
    session = tilefold.Session()
    formula = tilefold.compile(SUM, session=session)
    for one in copies(x).values():
        for other in copies(y).values():
            found = formula(x=one, y=other, a=0.5)
            assert abs(found - wanted) <= tolerance * size
    assert session.stats().compiles + session.stats().disk_hits <= 2


def test_flat_points_of_batches_and_results_that_are_added() -> None:
    random = np.random.default_rng(1)
    x, y = random.standard_normal((2, 3, 9, 6))
    a = random.standard_normal((3, 1, 1))
    wanted = flat_sum(x, y, a)
    formula = tilefold.compile(SUM)
    np.testing.assert_allclose(formula(x=x, y=y, a=a), wanted, rtol=1e-12)
    out = np.ones(3)
    formula(x=x, y=y, a=a, out=out, accumulate=True)
    np.testing.assert_allclose(out, wanted + 1, rtol=1e-12)
    shared = formula(x=x, y=y[0], a=0.5)
    np.testing.assert_allclose(shared, flat_sum(x, y[:1], 0.5), rtol=1e-12)
    x[1, 2, 3], x[2, 0, 0] = np.nan, np.inf
    assert np.isnan(formula(x=x, y=y, a=a)[1:]).all()


def test_flat_points_know_how_many_points_there_are() -> None:
    x = np.random.default_rng(2).standard_normal((8, 3))
    found = tilefold.reduce("sum_j sum(x_j*M) with M = 2", x=x)
    np.testing.assert_allclose(found, 2 * x.sum(), rtol=1e-12)
    with pytest.raises(tilefold.ShapeError, match="has 9"):
        tilefold.reduce(SUM, x=x, y=np.zeros((9, 3)), a=1)
    with pytest.raises(tilefold.ShapeError, match="components"):
        tilefold.reduce(SUM, x=x, y=np.zeros((8, 4)), a=1)


@pytest.mark.parametrize(
    "points",
    [0, 1, 15, 16, 17, 63, 64, 65, 255, 256, 257, 512, 513, 1000, 2049],
)
def test_a_chain_of_points_in_strips_of_vectors(points: int) -> None:
    text = "sin(cos(sin(cos(sin(cos({}))))))"
    random = np.random.default_rng(points)
    x = random.standard_normal(points).astype("f4")
    y = random.standard_normal(37).astype("f4")

    def value(v: np.ndarray) -> np.ndarray:
        v = v.astype(np.float64)
        return np.sin(np.cos(np.sin(np.cos(np.sin(np.cos(v))))))

    both = f"{text.format('x_i')} * {text.format('y_j')}"
    pairs = value(x)[:, None] * value(y)
    for formula, wanted in (
        (f"sum_j {both}", pairs.sum(1)),
        (f"sum_i {both}", pairs.sum(0)),
        (f"sum_i {text.format('x_i')}", value(x).sum()),
    ):
        used = {"x": x, "y": y} if "y_j" in formula else {"x": x}
        found = tilefold.reduce(formula, **used)
        np.testing.assert_allclose(found, wanted, rtol=4e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_chain_of_points_hands_on_what_later_loops_read(dtype: str) -> None:
    """Sums of components, truths, and values that several loops read."""
    random = np.random.default_rng(4)
    x = random.standard_normal((300, 7)).astype(dtype)
    b = random.standard_normal(300).astype(dtype)
    text = (
        "sum_i (where(e > b_i, e*s, c) + where(a > 0, a, d)) with "
        "s = |x_i|², a = sin(s), c = exp(0.5 cos(a + b_i)), "
        "d = tanh(c - s), e = sin(1.1 d + c) + a"
    )
    x, b = x.astype(np.float64), b.astype(np.float64)
    s = (x**2).sum(-1)
    a = np.sin(s)
    c = np.exp(0.5 * np.cos(a + b))
    d = np.tanh(c - s)
    e = np.sin(1.1 * d + c) + a
    wanted = np.where(e > b, e * s, c) + np.where(a > 0, a, d)
    found = tilefold.reduce(text, x=x.astype(dtype), b=b.astype(dtype))
    rtol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, wanted.sum(), rtol=rtol)
    flags = f"any_i (e > 1.9 s) {text[text.index(' with') :]}"
    found = tilefold.reduce(flags, x=x.astype(dtype), b=b.astype(dtype))
    assert found == (e > 1.9 * s).any()


@pytest.mark.parametrize("points", [1, 16, 37, 512, 700])
@pytest.mark.parametrize("first", ["sin(0.5*x_i)", "cos(x_i + 1)"])
def test_a_sine_that_pairs_and_later_loops_read(
    first: str, points: int
) -> None:
    random = np.random.default_rng(points)
    x = random.standard_normal(points).astype("f4")
    y = random.standard_normal(37).astype("f4")
    text = (
        "sum_j |a - y_j| |c + y_j| |d - y_j| with "
        f"a = {first}, c = cos(sin(exp(a))), d = sin(c + a)"
    )
    wide = x.astype(np.float64)
    a = np.sin(0.5 * wide) if "sin" in first else np.cos(wide + 1)
    c = np.cos(np.sin(np.exp(a)))
    d = np.sin(c + a)
    a, c, d = a[:, None], c[:, None], d[:, None]
    wanted = (abs(a - y) * abs(c + y) * abs(d - y)).sum(1)
    found = tilefold.reduce(text, x=x, y=y)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_vectors_that_are_read_twice_at_every_step_take_no_longer() -> None:
    """Below a chain of numbers: 2⁶⁰ paths, 60 values."""
    steps = ", ".join(f"v{k + 1} = 0.5 v{k}*v{k} + 0.1 v{k}" for k in range(60))
    text = "sum_i sin(cos(sin(cos(sin(sum(v60)))))) with v0 = 1.0*x_i, " + steps
    v = x = np.random.default_rng(5).standard_normal((9, 6))
    for _ in range(60):
        v = 0.5 * v * v + 0.1 * v
    wanted = v.sum(-1)
    for function in (np.sin, np.cos, np.sin, np.cos, np.sin):
        wanted = function(wanted)
    np.testing.assert_allclose(
        tilefold.reduce(text, x=x), wanted.sum(), rtol=1e-10
    )


def test_explain_shows_what_such_a_call_runs() -> None:
    formula = tilefold.compile("sum_j sum(exp(0.3*y_j))")
    y = np.ones((8, 16), np.float32)
    assert "argument y : f32 {i}" in formula.explain(y=y)
    assert "argument y : f32 {i}" not in formula.explain(y=y[:, :7])
    few = tilefold.compile("sum_j exp(-|x_i - y_j|²)")
    text = few.explain(x=np.ones((1, 3)), y=np.ones((1 << 17, 3)))
    assert "argument x : f64[3] {}" in text
    wide = tilefold.compile("sum_j (x_i·y_j) b_j")
    x = np.ones((2048, 3))
    text = wide.explain(x=x, y=x, b=np.ones((2048, 1)))
    assert "argument b : f64[1] {j}" in text
    assert "argument b : f64[?] {j}" in wide.explain(x=x, y=x[:9], b=x[:9, :1])
