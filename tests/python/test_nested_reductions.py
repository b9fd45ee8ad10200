# tests/python/test_nested_reductions.py - reductions of reductions: each one
# runs when what it needs is there.
"""Against NumPy, on the CPU and through the kernels for a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import fake_gpu
import tilefold
from instruction_sets import PORTABLE

rng = np.random.default_rng(0)
N, M = 37, 53
X, Y = rng.normal(size=(N, 3)), rng.normal(size=(M, 3))
B, C = rng.normal(size=M), rng.normal(size=N)
Z = B + 1j * rng.normal(size=M)
V = np.linspace(0, 1, M)
R = np.sqrt(((X[:, None] - Y) ** 2).sum(-1))
K = np.exp(-(R**2))
SOFT = K / K.sum(1, keepdims=True)
GIVEN = {"x": X, "y": Y, "b": B, "c": C, "z": Z, "v": V}

CASES = {
    "max_i min_j |x_i-y_j|": R.min(1).max(),
    "max(max_i min_j r, max_j min_i r) with r = |x_i-y_j|": max(
        R.min(1).max(), R.min(0).max()
    ),
    "argmax_i min_j |x_i-y_j|": R.min(1).argmax(),
    "argmin_i min_j |x_i-y_j|": R.min(1).argmin(),
    "kmin_i(min_j |x_i-y_j|, 4)": np.sort(R.min(1))[:4],
    "argkmin_j(min_i |x_i-y_j|, 4)": np.argsort(R.min(0))[:4],
    "sum_i (sum_j exp(-|x_i-y_j|²))²": (K.sum(1) ** 2).sum(),
    "mean_i log(sum_j exp(-|x_i-y_j|²))": np.log(K.sum(1)).mean(),
    "max_i sum_j exp(-|x_i-y_j|²)": K.sum(1).max(),
    "max_i √(sum_j exp(-|x_i-y_j|²))": np.sqrt(K.sum(1).max()),
    "max_i -min_j |x_i-y_j|": -R.min(1).min(),
    "prod_i (1 + sum_j exp(-|x_i-y_j|²)/100)": (1 + K.sum(1) / 100).prod(),
    "logsumexp_i(2*logsumexp_j(-|x_i-y_j|²))": np.log((K.sum(1) ** 2).sum()),
    "sum_i c_i*softmax_j(-|x_i-y_j|², y_j)": C @ SOFT @ Y,
    "sum_i |x_i - softmax_j(-|x_i-y_j|², y_j)|²": ((X - SOFT @ Y) ** 2).sum(),
    "softmax_i(min_j |x_i-y_j|, x_i)": np.exp(R.min(1))
    @ X
    / np.exp(R.min(1)).sum(),
    "var_i (sum_j exp(-|x_i-y_j|²))": K.sum(1).var(),
    "sum_i (var_j |x_i-y_j|)": R.var(1).sum(),
    "count_i any_j (|x_i-y_j| < 0.4)": (R < 0.4).any(1).sum(),
    "all_i any_j (|x_i-y_j| < 4)": True,
    "any_i all_j (|x_i-y_j| < 4)": (R < 4).all(1).any(),
    "max_i count_j(|x_i-y_j| < 1)": (R < 1).sum(1).max(),
    "sum_i argmin_j |x_i-y_j|": R.argmin(1).sum(),
    "max_i v[argmin_j |x_i-y_j|]": V[R.argmin(1)].max(),
    # On the axis of the inner one again.
    "sum_j k/(sum_i k)*b_j with k = exp(-|x_i-y_j|²)": (K / K.sum(0)) @ B,
    "sum_j (k/(sum_j k))*b_j with k = exp(-|x_i-y_j|²)": SOFT @ B,
    "sum_ij k/(sum_ij k) with k = exp(-|x_i-y_j|²)": 1.0,
    "mean_i |x_i - mean_i(x_i)|²": ((X - X.mean(0)) ** 2).sum(1).mean(),
    "sum_i c_i*(sum_i c_i)": C.sum() ** 2,
    # Of three.
    "max_j log(sum_i exp(min_j r)*exp(-r²)) with r = |x_i-y_j|": np.log(
        (np.exp(R.min(1))[:, None] * K).sum(0)
    ).max(),
    "sum_i (max_j k/(sum_i k)) with k = exp(-|x_i-y_j|²)": (K / K.sum(0))
    .max(1)
    .sum(),
    # What is left of several.
    "x_i - mean_i(x_i)": X - X.mean(0),
    "(sum_j k)/(max_i sum_j k) with k = exp(-|x_i-y_j|²)": K.sum(1)
    / K.sum(1).max(),
    "(sum_j k)/(sum_ij k) with k = exp(-|x_i-y_j|²)": K.sum(1) / K.sum(),
    "(sum_i c_i) + (sum_j b_j)": C.sum() + B.sum(),
    # Of complex numbers.
    "sum_i |sum_j exp(-|x_i-y_j|²)*z_j|²": (abs(K @ Z) ** 2).sum(),
    "sum_i (sum_j exp(-|x_i-y_j|²)*z_j)²": ((K @ Z) ** 2).sum(),
    # By functions of the formula.
    "fold_i(sum_j exp(-|x_i-y_j|²), 0, add) with add(a, b) = a + b": K.sum(),
    "sum_i fold_j(|x_i-y_j|, 0, add, add, end) with add(a, b) = a + b, "
    "end(s) = s²": (R.sum(1) ** 2).sum(),
    "f(k*f(k)) with f(a) = sum_j a, k = exp(-|x_i-y_j|²)": (
        K * K.sum(1, keepdims=True)
    ).sum(1),
    "far(near) with far(a) = max_i a, near = min_j |x_i-y_j|": R.min(1).max(),
}


def given(text):
    names = [name for name, _ in tilefold.compile(text).names]
    return {name: GIVEN[name] for name in names}


def agree(found, wanted, tolerance=1e-12):
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=tolerance)


@pytest.mark.parametrize("isa", PORTABLE)
@pytest.mark.parametrize("text", CASES)
def test_values(text, isa):
    found = tilefold.reduce(
        text, given(text), options=tilefold.Options(isa=isa)
    )
    agree(found, CASES[text])
    assert found.dtype.kind == np.asarray(CASES[text]).dtype.kind


def test_float32():
    for text, wanted in CASES.items():
        arrays = {
            name: array.astype("c8" if np.iscomplexobj(array) else "f4")
            for name, array in given(text).items()
        }
        found = tilefold.reduce(text, arrays)
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.sample(0.2)
@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("text", [text for text in CASES if "z_j" not in text])
def test_kernels_for_a_gpu(gpu_session, text):
    """Arrays of the card, and arrays of the host that it computes with."""
    here = tilefold.Session(fake_gpu.settings(devices="cuda:0"))
    arrays = given(text)
    there = {name: fake_gpu.array(array) for name, array in arrays.items()}
    found = tilefold.reduce(text, there, session=gpu_session)
    agree(fake_gpu.numpy(found), CASES[text])
    agree(tilefold.reduce(text, arrays, session=here), CASES[text])


# ---- batches ----------------------------------------------------------------

XS, YS = rng.normal(size=(4, 1, 30, 3)), rng.normal(size=(3, 20, 3))
RS = np.sqrt(((XS[..., :, None, :] - YS[..., None, :, :]) ** 2).sum(-1))
KS = np.exp(-(RS**2))
BATCHED = {
    "max_i min_j |x_i-y_j|": RS.min(-1).max(-1),
    "sum_i (sum_j exp(-|x_i-y_j|²))²": (KS.sum(-1) ** 2).sum(-1),
    "sum_j k/(sum_i k) with k = exp(-|x_i-y_j|²)": (
        KS / KS.sum(-2, keepdims=True)
    ).sum(-1),
    "var_j exp(-|x_i-y_j|²)": KS.var(-1),
    "sum_j exp(im*|x_i-y_j|)": np.exp(1j * RS).sum(-1),
    "count_i any_j (|x_i-y_j| < 0.5)": (RS < 0.5).any(-1).sum(-1),
}


@pytest.mark.parametrize("over", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("text", BATCHED)
def test_batches_and_their_sums(text, over):
    wanted = BATCHED[text]
    settings = {} if over is None else {"sum_batch": over}
    found = tilefold.reduce(text, x=XS, y=YS, **settings)
    agree(found, wanted if over is None else wanted.sum(over))
    if over is None:
        return
    out = np.ones(np.shape(found), found.dtype)
    tilefold.reduce(text, x=XS, y=YS, out=out, accumulate=True, **settings)
    agree(out, 1 + wanted.sum(over))


@pytest.mark.usefixtures("driver")
def test_sums_of_batches_on_a_gpu(gpu_session):
    x, y = fake_gpu.array(XS), fake_gpu.array(YS)
    for text, wanted in BATCHED.items():
        if "im" in text:
            continue
        found = tilefold.reduce(
            text, x=x, y=y, sum_batch=0, session=gpu_session
        )
        agree(fake_gpu.numpy(found), wanted.sum(0))


def test_what_has_no_sum_over_batches():
    text = "all_i any_j (|x_i-y_j| < 0.5)"
    with pytest.raises(tilefold.ArgumentError, match="true or false"):
        tilefold.reduce(text, x=XS, y=YS, sum_batch=0)
    with pytest.raises(tilefold.ArgumentError, match="2 batch dimensions"):
        tilefold.reduce("max_i min_j |x_i-y_j|", x=XS, y=YS, sum_batch=2)


# ---- chosen pairs -----------------------------------------------------------

VISIT = np.array([[1, 0], [1, 1], [0, 1]], bool)
RANGES = tilefold.Ranges([0, 10, 25, N], [0, 30, M], VISIT)
CHOSEN = np.repeat(np.repeat(VISIT, [10, 15, N - 25], 0), [30, M - 30], 1)
KC = K * CHOSEN
RANGED = {
    "max_i min_j |x_i-y_j|": np.where(CHOSEN, R, np.inf).min(1).max(),
    "sum_i (sum_j k)²": (KC.sum(1) ** 2).sum(),
    "mean_i sum_j k": KC.sum(1).mean(),
    "mean_i mean_j k": (KC.sum(1) / CHOSEN.sum(1)).mean(),
    "var_i (sum_j k)": KC.sum(1).var(),
    "sum_j (k/(sum_j k))*b_j": KC @ B / KC.sum(1),
    "sum_j (k/(sum_i k))*b_j": (KC / KC.sum(0)) @ B,
}


@pytest.mark.parametrize("text", RANGED)
def test_reductions_of_pairs_meet_those_chosen(text):
    """What is left on one axis is met whole."""
    text_of_all = text + " with k = exp(-|x_i-y_j|²)"
    used = text_of_all if "k" in text else text
    arrays = {"x": X, "y": Y} | ({"b": B} if "b_j" in text else {})
    agree(tilefold.reduce(used, arrays, ranges=RANGES), RANGED[text])


def test_gradients_of_chosen_pairs():
    torch = pytest.importorskip("torch")
    x = torch.tensor(X, requires_grad=True)
    k = torch.exp(-((x[:, None] - torch.tensor(Y)) ** 2).sum(-1))
    ((k * torch.tensor(CHOSEN)).sum(1) ** 2).sum().backward()
    f = tilefold.compile("sum_i (sum_j exp(-|x_i-y_j|²))²").grad("x")
    agree(f(x=X, y=Y, ranges=RANGES), x.grad.numpy(), 1e-11)


# ---- whole numbers ----------------------------------------------------------


def test_whole_numbers_stay_exact():
    n, m = rng.integers(-(2**60), 2**60, (2, 40))
    differences = n[:, None] - m
    cases = {
        "max_i min_j (n_i - m_j)": differences.min(1).max(),
        "min_j max_i (n_i - m_j)": differences.max(0).min(),
        "all_i any_j (n_i < m_j)": (n[:, None] < m).any(1).all(),
    }
    for text, wanted in cases.items():
        found = tilefold.reduce(text, n=n, m=m)
        assert found == wanted
        assert found.dtype == np.asarray(wanted).dtype


def test_a_sum_of_sums_is_one_sum():
    """It is limited once, after all is added up."""
    a, c = np.array([2**62, -(2**62)]), np.zeros(3, np.int64)
    assert tilefold.reduce("sum_j (a_i + c_j)", a=a, c=c)[0] == 2**63 - 1
    assert tilefold.reduce("sum_i sum_j (a_i + c_j)", a=a, c=c) == 0
    assert tilefold.reduce("sum_j sum_i (a_i + c_j)", a=a, c=c) == 0


def test_unsigned_numbers():
    h, g = rng.integers(2**63, 2**64, (2, 30), dtype=np.uint64)
    found = tilefold.reduce("max_i min_j max(h_i, g_j)", h=h, g=g)
    assert found.dtype == np.uint64
    assert found == np.maximum(h[:, None], g).min(1).max()
    found = tilefold.reduce("max_i count_j (h_i < g_j)", h=h, g=g)
    assert found == (h[:, None] < g).sum(1).max()


def test_numbers_between_sweeps_keep_their_dtype():
    """A mean of truth values is float64 beside integers, in float32, too."""
    c = rng.random(13) < 0.4
    h = rng.integers(0, 4, 8).astype(np.uint8)
    found = tilefold.reduce("var_i (mean_j(c_j) + h_i)", c=c, h=h)
    np.testing.assert_allclose(found, h.var(), rtol=1e-5)


# ---- calls ------------------------------------------------------------------


def test_empty_axes():
    none = np.zeros((0, 3))
    text = "max_i min_j |x_i-y_j|"
    assert tilefold.reduce(text, x=none, y=Y) == -np.inf
    assert tilefold.reduce(text, x=X, y=none) == np.inf
    assert tilefold.reduce("sum_i (sum_j |x_i-y_j|)²", x=none, y=none) == 0


def test_few_points_against_many():
    x, y = rng.normal(size=(2, 2)), rng.normal(size=(140_000, 2))
    r = np.sqrt(((x[:, None] - y) ** 2).sum(-1))
    agree(tilefold.reduce("max_i min_j |x_i-y_j|", x=x, y=y), r.min(1).max())
    agree(tilefold.reduce("max_j min_i |x_i-y_j|", x=x, y=y), r.min(0).max())


def test_bound_calls_and_threads():
    f = tilefold.compile("sum_j k/(sum_i k) with k = exp(-|x_i-y_j|²)")
    x = X.copy()
    again = f.bind(x=x, y=Y)
    wanted = f(x=x, y=Y)
    assert (again() == wanted).all()
    x += 0.1
    assert (again() == f(x=x, y=Y)).all()
    for threads in 2, 5:
        options = tilefold.Options(threads=threads)
        assert (f(x=X, y=Y, options=options) == wanted).all()


def test_a_table_that_is_too_short_gives_nan():
    found = tilefold.reduce(
        "sum_i v[argmin_j |x_i-y_j|]", x=X, y=Y, v=np.arange(5.0)
    )
    assert np.isnan(found)


def test_explain_shows_every_sweep():
    text = tilefold.compile("max_i min_j |x_i-y_j|").explain(x=X, y=Y)
    assert "sweep 1 of 2" in text
    assert "reduce min j" in text
    assert "reduce max" in text


# ---- refusals, with cures that work -----------------------------------------

REFUSED = {
    "sum_j exp(-(max_j x_i·y_j)²)": (
        "NestedReduction",
        "what 'sum_j' reduces is not on j any more after 'max_j'",
        ["exp(-(max_j x_i·y_j)²)", "sum_j (b_j*exp(-(max_j x_i·y_j)²))"],
    ),
    "max_ij √(min_j |x_i - y_j|)": (
        "NestedReduction",
        "what 'max_ij' reduces is not on j any more after 'min_j'",
        ["√(min_j |x_i - y_j|)", "max_i √(min_j |x_i - y_j|)"],
    ),
    "max_i c_i * min_j |x_i - y_j|": (
        "ReductionAfterReduction",
        "(max_i …)*(min_j …) or max_i (…*(min_j …))?",
        ["(max_i c_i)*(min_j |x_i-y_j|)", "max_i (c_i*(min_j |x_i-y_j|))"],
    ),
    "(sum_j k)*(max_i k) with k = |x_i - y_j|": (
        "MixedReductions",
        "'sum_j' and 'max_i' reduce over different axes",
        ["(sum_j k)*(max_j k) with k = |x_i - y_j|"],
    ),
    "b_j + sum_j x_i·y_j": (
        "AxisNotReduced",
        "the result still depends on j after 'sum_j'",
        ["sum_j (b_j + x_i·y_j)", "(sum_j b_j) + sum_j x_i·y_j"],
    ),
    "fold_j(b_j, 0, f) with f(s, t) = s + t*(mean_i c_i)": (
        "ReductionInside",
        "'mean_i' cannot stand in the functions or the initial state",
        ["fold_j(b_j*m, 0, f) with f(s, t) = s + t, m = mean_i c_i"],
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text):
    code, message, cures = REFUSED[text]
    with pytest.raises(tilefold.FormulaError) as caught:
        tilefold.reduce(text, given(cures[0]))
    assert caught.value.code == code
    assert message in str(caught.value)
    for cure in cures:
        tilefold.reduce(cure, given(cure))


def test_a_kernel_is_a_pair_term_still():
    with pytest.raises(tilefold.ArgumentError, match="reduces already"):
        tilefold.kernel("|x_i-y_j|/(max_j |x_i-y_j|)", x=X, y=Y)
