# tests/python/test_complex_reductions.py - products, variances and folds of
# complex values, against NumPy in complex128.
from __future__ import annotations

import functools

import numpy as np
import pytest

import tilefold

RANDOM = np.random.default_rng(7)
N, M = 70, 90


def array(*shape: int) -> np.ndarray:
    """Of sizes near 1, so that products stay in range."""
    angles = RANDOM.uniform(-np.pi, np.pi, shape)
    return RANDOM.uniform(0.9, 1.1, shape) * np.exp(1j * angles)


z, w = array(N), array(M)
Z, W = array(N, 3), array(M, 3)
r, s = RANDOM.normal(size=N), RANDOM.normal(size=M)
ARRAYS = {"z": z, "w": w, "Z": Z, "W": W, "r": r, "s": s, "c": 0.6 - 0.8j}
zi, wj = z[:, None], w[None]
P = zi * wj
S = np.where(s > 1.5, np.nan, 1) * wj + 0 * zi


def folded(function, terms, start):
    """The result of a fold over the last axis."""
    return functools.reduce(function, np.moveaxis(terms, -1, 0), start)


CASES = {
    "prod_j (z_i*w_j)": P.prod(1),
    "prod_i (z_i*w_j)": P.prod(0),
    "prod_ij (z_i*w_j)": P.prod(),
    "prod_j (im*w_j)": (1j * w).prod(),
    "prod_j exp(im*r_i*s_j)": np.exp(1j * r[:, None] * s).prod(1),
    "prod_j (Z_i*W_j)": (Z[:, None] * W).prod(1),
    "prod_j where(s_j > 0, z_i*w_j, 1)": np.where(s > 0, P, 1).prod(1),
    "r_i*(prod_j w_j) + (sum_j z_i*w_j)": r * w.prod() + P.sum(1),
    "prod_i prod_j (z_i*w_j)": P.prod(),
    "var_j (z_i*w_j)": P.var(1),
    "var_i (z_i + s_j)": (zi + s).var(0),
    "var_ij (z_i*w_j)": P.var(),
    "std_j (z_i*w_j)": P.std(1),
    "var_j (im*s_j)": (1j * s).var(),
    "var_j (s_j + im*r_i)": (s + 1j * r[:, None]).var(1),
    "std_j (Z_i*W_j)": (Z[:, None] * W).std(1),
    "nansum_j (where(s_j > 1.5, nan, 1)*w_j + 0*z_i)": np.nansum(S, 1),
    "nanmean_j (where(s_j > 1.5, nan, 1)*w_j + 0*z_i)": np.nanmean(S, 1),
    "nanvar_j (where(s_j > 1.5, nan, 1)*w_j + 0*z_i)": np.nanvar(S, 1),
    "nanstd_j (where(s_j > 1.5, nan, 1)*w_j + 0*z_i)": np.nanstd(S, 1),
    "fold_j(z_i*w_j, 1, times) with times(a, b) = a*b": P.prod(1),
    "fold_j(z_i*w_j, 0*im, plus) with plus(a, b) = a + b": P.sum(1),
    "fold_i(z_i*w_j, 0, plus) with plus(a, b) = a + b": P.sum(0),
    "fold_ij(z_i*w_j, 0, plus) with plus(a, b) = a + b": P.sum(),
    # A real state of complex terms, and a complex one of real terms.
    "fold_j(z_i*w_j, 0, add, join) with add(a, f) = a + |f|²,"
    " join(a, b) = a + b": (abs(P) ** 2).sum(1),
    "fold_j(s_j + 0*r_i, 0, add, join) with add(a, f) = a + exp(im*f),"
    " join(a, b) = a + b": np.full(N, np.exp(1j * s).sum()),
    # Sum and number of values, and what is made of them in the end.
    "fold_j(z_i*w_j, [0, 0], add, join, mean) with"
    " add(a, f) = [a[0] + 1, a[1] + f], join(a, b) = a + b,"
    " mean(a) = a[1]/a[0]": P.mean(1),
    "fold_j(z_i*w_j, 0, add, join) with add(a, f) = a + c*f,"
    " join(a, b) = a + b": (0.6 - 0.8j) * P.sum(1),
    "fold_j(Z_i*W_j, [1, 1, 1], times) with times(a, b) = a*b": (
        (Z[:, None] * W).prod(1)
    ),
}


def given(text: str) -> dict:
    return {name: ARRAYS[name] for name, _ in tilefold.compile(text).names}


@pytest.mark.parametrize("text", CASES)
def test_values(text: str) -> None:
    found = tilefold.reduce(text, given(text))
    assert np.iscomplexobj(found) == np.iscomplexobj(CASES[text])
    assert np.shape(found) == np.shape(CASES[text])
    np.testing.assert_allclose(found, CASES[text], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("text", CASES)
def test_values_of_single_precision(text: str) -> None:
    narrow = {
        name: value.astype(
            np.complex64 if np.iscomplexobj(value) else np.float32
        )
        if np.ndim(value)
        else value
        for name, value in given(text).items()
    }
    found = tilefold.reduce(text, narrow)
    wide = np.iscomplexobj(CASES[text])
    assert found.dtype == (np.complex64 if wide else np.float32)
    np.testing.assert_allclose(found, CASES[text], rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize(
    "text",
    [
        "prod_j (z_i*w_j)",
        "prod_i (z_i*w_j)",
        "var_j (z_i*w_j)",
        "std_i (z_i*w_j)",
        "fold_j(z_i*w_j, 1, times) with times(a, b) = a*b",
    ],
)
@pytest.mark.parametrize("rows", [1, 3, N])
def test_values_of_few_rows(text: str, rows: int) -> None:
    arguments = {"z": z[:rows], "w": w}
    terms, axis = zi[:rows] * wj, int("_j" in text.split(" ")[0])
    name = text.split("_")[0].replace("fold", "prod")
    wanted = getattr(terms, name)(axis=axis)
    for array_of in (np.ascontiguousarray, lambda a: np.repeat(a, 2)[::2]):
        found = tilefold.reduce(
            text, {key: array_of(value) for key, value in arguments.items()}
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_products_over_both_axes_of_one_row() -> None:
    found = tilefold.reduce("prod_ij (z_i*w_j)", z=z[:1], w=w[:1])
    np.testing.assert_allclose(found, z[0] * w[0], rtol=1e-14)


def test_no_terms() -> None:
    found = tilefold.reduce("prod_j (z_i*w_j)", z=z, w=w[:0])
    np.testing.assert_array_equal(found, np.ones(N, complex))
    found = tilefold.reduce("var_j (z_i*w_j)", z=z, w=w[:0])
    assert np.isnan(found).all()


def test_zeros_and_infinities_follow_numpy() -> None:
    for factors in ([1 + 2j, 0, 3j], [np.inf, 1j, 2], [np.nan, 0, 1]):
        u = np.array(factors, complex)
        with np.errstate(invalid="ignore"):
            wanted = u.prod()
        found = tilefold.reduce("prod_j u_j", u=u)
        np.testing.assert_array_equal(
            np.array([found.real, found.imag]),
            np.array([wanted.real, wanted.imag]),
        )


@pytest.mark.parametrize("text", ["prod_j (z_i*w_j)", "var_j (z_i*w_j)"])
def test_every_plan_gives_the_value(text: str) -> None:
    formula = tilefold.compile(text)
    name = text.split("_")[0]
    plans = formula.plans(z=z, w=w)
    assert plans
    for plan in plans:
        found = formula(z=z, w=w, options=tilefold.Options(plan=plan))
        np.testing.assert_allclose(found, getattr(P, name)(1), rtol=1e-11)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("prod_j (z_i*w_j)", lambda terms: terms.prod()),
        ("std_j (z_i*w_j)", lambda terms: terms.std()),
        (
            "fold_j(z_i*w_j, 1, times) with times(a, b) = a*b",
            lambda terms: terms.prod(),
        ),
    ],
)
def test_ranges_choose_pairs(text: str, wanted) -> None:
    ranges = tilefold.Ranges([0, 30, N], [0, 50, M], np.eye(2, dtype=bool))
    found = tilefold.reduce(text, z=z, w=w, ranges=ranges)
    rows = [P[i, :50] if i < 30 else P[i, 50:] for i in range(N)]
    np.testing.assert_allclose(found, [wanted(row) for row in rows], rtol=1e-11)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("prod_j (z_i*w_j)", P.prod(1)),
        ("fold_j(z_i*w_j, 1, times) with times(a, b) = a*b", P.prod(1)),
    ],
)
def test_parts_are_joined(text: str, wanted: np.ndarray) -> None:
    reduction = tilefold.Reduction(text)
    states = [
        reduction.partial(z=z, w=w[first:last], j=(first, M))
        for first, last in ((0, 40), (40, 41), (41, M))
    ]
    merged = functools.reduce(reduction.merge, states)
    found = reduction.finalise(merged, z=z)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_batches() -> None:
    batched = array(2, N, 1)
    found = tilefold.reduce("prod_j (z_i*w_j)", z=batched, w=w[:, None])
    wanted = (batched * w).prod(2)
    np.testing.assert_allclose(np.squeeze(found), wanted, rtol=1e-11)


def test_long_vectors_are_several_folds() -> None:
    long = array(M, 70)
    found = tilefold.reduce("prod_j (z_i*u_j)", z=z, u=long)
    wanted = (zi[..., None] * long).prod(1)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_kernels_reduce_complex_values() -> None:
    K = tilefold.kernel("z_i*w_j", z=z, w=w)
    np.testing.assert_allclose(K.prod(axis=1), P.prod(1), rtol=1e-11)
    np.testing.assert_allclose(K.var(axis=0), P.var(0), rtol=1e-11)
    np.testing.assert_allclose(K.std(axis=1, ddof=1), P.std(1, ddof=1))
    np.testing.assert_allclose(np.prod(K), P.prod(), rtol=1e-9)
    np.testing.assert_allclose(np.var(K, axis=(0, 1)), P.var(), rtol=1e-11)


def test_code_for_a_card() -> None:
    """The text of each kernel is CUDA C++, with both parts in the state."""
    for text in ("prod_j (z_i*w_j)", "var_j (z_i*w_j)"):
        told = tilefold.explain(text, z=z, w=w, gpu="sm_90")
        assert "__global__" in told


def test_a_broken_law_is_told_in_complex_numbers() -> None:
    text = "fold_j(z_j, 0*im, take) with take(a, b) = a + b + im*a*conj(b)"
    with pytest.raises(
        tilefold.FormulaError, match="not commutative"
    ) as caught:
        tilefold.reduce(text, z=z)
    assert "im and take(b, a) is" in str(caught.value)


def test_derivatives_of_a_product_are_refused_with_a_cure() -> None:
    formula = tilefold.compile("real(prod_j (z_i*w_j))")
    with pytest.raises(
        tilefold.FormulaError, match=r"exp\(sum_j log"
    ) as caught:
        formula.grad("z")(z=z, w=w, grad=np.ones(N))
    assert caught.value.code == "NoComplexDerivative"


def test_the_gradient_of_a_variance() -> None:
    """Against differences of the variance by both parts of each number."""
    formula = tilefold.compile("sum_i var_j (z_i*w_j)")
    found = formula.grad("z")(z=z, w=w, grad=np.array(1.0))
    wanted = 2 * z * w.var()
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_order_statistics_of_complex_values_stay_refused() -> None:
    for text in ("max_j (z_i*w_j)", "median_j (z_i*w_j)", "ptp_j (z_i*w_j)"):
        with pytest.raises(tilefold.Error, match="where a real one"):
            tilefold.reduce(text, z=z, w=w)
