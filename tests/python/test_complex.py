# tests/python/test_complex.py - complex arrays: values, derivatives, refusals.
"""Complex formulas against NumPy and PyTorch in complex128."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tilefold

rng = np.random.default_rng(5)
N, M = 70, 90


def array(*shape: int, dtype=np.complex128):
    values = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return values.astype(dtype)


z, w, v = array(N), array(M), array(M, 3)
Z, W = array(N, 3), array(M, 3)
r, s = rng.normal(size=N), rng.normal(size=M)
ARRAYS = {"z": z, "w": w, "v": v, "Z": Z, "W": W, "r": r, "s": s, "c": 0.3 - 2j}
zi, wj = z[:, None], w[None]
D = Z[:, None] - W

CASES = {
    "sum_j z_i*w_j": (zi * wj).sum(1),
    "sum_j (z_i + w_j)": (zi + wj).sum(1),
    "sum_j (z_i - w_j)*s_j": ((zi - wj) * s).sum(1),
    "sum_j (r_i - w_j)*(z_i + s_j)": ((r[:, None] - wj) * (zi + s)).sum(1),
    "sum_j z_i/w_j": (zi / wj).sum(1),
    "sum_j r_i/w_j": (r[:, None] / wj).sum(1),
    "sum_j z_i/s_j": (zi / s).sum(1),
    "sum_j exp(z_i*w_j/3)": np.exp(zi * wj / 3).sum(1),
    "sum_j log(z_i + 2w_j)": np.log(zi + 2 * wj).sum(1),
    "sum_j sqrt(z_i*w_j)": np.sqrt(zi * wj).sum(1),
    "sum_j (sin(z_i)*cos(w_j))": (np.sin(zi) * np.cos(wj)).sum(1),
    "sum_j (sinh(z_i)*cosh(w_j))": (np.sinh(zi) * np.cosh(wj)).sum(1),
    "sum_j tanh(z_i + w_j)": np.tanh(zi + wj).sum(1),
    "sum_j sigmoid(z_i + w_j)": (1 / (1 + np.exp(-zi - wj))).sum(1),
    "sum_j |z_i - w_j|": abs(zi - wj).sum(1),
    "sum_j |z_i - w_j|²": (abs(zi - wj) ** 2).sum(1),
    "sum_j |Z_i - W_j|²": (abs(D) ** 2).sum((1, 2)),
    "sum_j exp(-|Z_i - W_j|) v_j": np.exp(-np.sqrt((abs(D) ** 2).sum(-1))) @ v,
    "sum_j Z_i·W_j": (Z @ W.T).sum(1),
    "sum_j conj(Z_i)·W_j": (Z.conj() @ W.T).sum(1),
    "sum_j (z_i - w_j)^3": ((zi - wj) ** 3).sum(1),
    "sum_j (z_i + w_j)^-2": ((zi + wj) ** -2.0).sum(1),
    "sum_j (z_i*w_j)^r_i": ((zi * wj) ** r[:, None]).sum(1),
    "sum_j real(z_i*w_j)": (zi * wj).real.sum(1),
    "sum_j (imag(z_i*w_j) + imag(s_j))": (zi * wj).imag.sum(1),
    "sum_j angle(z_i*conj(w_j))": np.angle(zi * wj.conj()).sum(1),
    "sum_j exp(im*r_i*s_j)*w_j": np.exp(1j * r[:, None] * s) @ w,
    "sum_j exp(im*3*s_j)/(1 + r_i²)": np.exp(3j * s).sum() / (1 + r**2),
    "sum_j im*(im*r_i)*w_j": -r * w.sum(),
    "sum_j (w_j*(im*r_i) - im*w_j)": 1j * r * w.sum() - 1j * w.sum(),
    "sum_j (im*r_i - im*s_j)*(im*s_j)": -((r[:, None] - s) * s).sum(1) + 0j,
    "sum_j (im*r_i + im*s_j)/(im*(1 + s_j²))": (
        (r[:, None] + s) / (1 + s**2)
    ).sum(1)
    + 0j,
    "sum_j -im^3*s_j*r_i": 1j * r * s.sum(),
    "r_i + im*abs(c)": r + 1j * abs(0.3 - 2j),
    "mean_j (r_i - im*s_j)": r - 1j * s.mean(),
    "mean_j (s_j + im*r_i)": s.mean() + 1j * r,
    "sum_j (c*z_i + im*w_j)": ((0.3 - 2j) * zi + 1j * wj).sum(1),
    "mean_j (z_i*w_j)": (zi * wj).mean(1),
    "softmax_j(-|z_i - w_j|, v_j)": (
        np.exp(-abs(zi - wj)) / np.exp(-abs(zi - wj)).sum(1, keepdims=True)
    )
    @ v,
    "sum_j where(s_j > 0, z_i, w_j)": np.where(s > 0, zi, wj).sum(1),
    "sum_j where(s_j > 0, z_i*w_j, 0)": np.where(s > 0, zi * wj, 0).sum(1),
    "count_j (z_i*w_j == w_j*z_i)": np.full(N, M),
    "sum_j [z_i, s_j, w_j*z_i]": np.stack(
        [zi + 0 * wj, s + 0 * zi, wj * zi], -1
    ).sum(1),
    "sum_j Z_i[1]*W_j[0:2]": (Z[:, None, 1:2] * W[None, :, :2]).sum(1),
    "sum_i z_i*w_j": (zi * wj).sum(0),
    "sum_ij z_i*w_j": (zi * wj).sum(),
    "r_i + (sum_j z_i*w_j) / (sum_j w_j)": r + (zi * wj).sum(1) / w.sum(),
    "im*z_i": 1j * z,
    "sum_j outer(Z_i, W_j)": np.einsum("ia,jb->iab", Z, W).reshape(N, 9),
    "sum_j sum(Z_i*W_j)": (Z @ W.T).sum(1),
}


def given(text: str) -> dict:
    return {name: ARRAYS[name] for name, _ in tilefold.compile(text).names}


@pytest.mark.parametrize("text", CASES)
def test_values(text: str) -> None:
    """In complex128, and in complex64 to single precision."""
    arrays = given(text)
    expected = CASES[text]
    found = tilefold.reduce(text, arrays)
    assert np.iscomplexobj(found) == np.iscomplexobj(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    single = {
        name: a.astype(np.complex64 if np.iscomplexobj(a) else np.float32)
        if np.ndim(a)
        else a
        for name, a in arrays.items()
    }
    found = tilefold.reduce(text, single)
    if np.iscomplexobj(expected):
        assert found.dtype == np.complex64
    scale = max(1.0, abs(expected).max())
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-4)


def test_what_has_no_real_part_has_no_exponential() -> None:
    """exp(im*x) is a cosine and a sine, whatever im is multiplied by."""
    for text in ("exp(im*k*r)", "exp(-im*r*k/2)", "exp(k*(im*r + im))"):
        formula = tilefold.compile(f"sum_j {text} with r = |x_i - y_j|")
        told = formula.explain(x=D[0].real, y=D[1].real, k=2.0)
        assert "= cos" in told
        assert "= exp" not in told


def test_a_number_without_a_real_part_keeps_none() -> None:
    """As in C's Annex G, infinity times im is no NaN."""
    found = tilefold.reduce("sum_j im*s_j", s=np.array([np.inf]))
    assert found.imag == np.inf
    assert found.real == 0


def test_any_layout() -> None:
    """Strides, views of parts, torch, numbers, and `out`."""
    text = "sum_j z_i*w_j*c"
    expected = (zi * wj * 2j).sum(1)
    wide = array(2 * N)
    wide[::2] = z
    wide = wide[::2]
    out = array(3 * N)[::3]
    back = tilefold.reduce(text, z=wide, w=w[::-1], c=2j, out=out)
    assert back is out
    np.testing.assert_allclose(out, expected)
    tilefold.reduce(text, z=z, w=w, c=2j, out=out, accumulate=True)
    np.testing.assert_allclose(out, 2 * expected)
    found = tilefold.reduce(
        text, z=torch.tensor(z), w=torch.tensor(w), c=np.complex64(2j)
    )
    assert found.dtype == torch.complex128
    np.testing.assert_allclose(found, expected)
    found = tilefold.reduce(text, z=list(z), w=w, c=np.array(2j))
    np.testing.assert_allclose(found, expected)
    batched = array(4, N, 1)
    found = tilefold.reduce(text, z=batched, w=w[:, None], c=2j)
    np.testing.assert_allclose(found, batched * w.sum() * 2j)


def test_kernels() -> None:
    """A complex kernel matrix: products, elements, slices."""
    K = tilefold.kernel("exp(im*z_i*w_j)", z=z, w=w)
    dense = np.exp(1j * zi * wj)
    np.testing.assert_allclose(K.dense(), dense)
    np.testing.assert_allclose(K @ v, dense @ v)
    np.testing.assert_allclose(K @ s, dense @ s)
    np.testing.assert_allclose(K.T @ Z, dense.T @ Z)
    np.testing.assert_allclose(K.sum(1), dense.sum(1))
    np.testing.assert_allclose(K[3, 5], dense[3, 5])
    square = tilefold.kernel("exp(im*z_i*z_j)", z=z)
    np.testing.assert_allclose(square.diag(), np.exp(1j * z * z))


def leaf(array):
    return torch.tensor(array, requires_grad=True)


GRADIENTS = {
    "sum_j exp(z_i*w_j/3)*s_j": lambda z, w, s: (
        torch.exp(z[:, None] * w / 3) * s
    ).sum(1),
    "sum_j |z_i - w_j|*s_j": lambda z, w, s: ((z[:, None] - w).abs() * s).sum(
        1
    ),
    "sum_j s_j/(z_i - w_j)": lambda z, w, s: (s / (z[:, None] - w)).sum(1),
    "sum_ij real(z_i*conj(w_j))*s_j": lambda z, w, s: (
        (z[:, None] * w.conj()).real * s
    ).sum(),
    "sum_j exp(im*s_j)*z_i*w_j": lambda z, w, s: (
        torch.exp(1j * s) * z[:, None] * w
    ).sum(1),
}


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients_follow_torch(text: str) -> None:
    """First and second order, in PyTorch's convention."""
    found, expected = [], []
    for results, evaluate in (
        (found, lambda z, w, s: tilefold.reduce(text, z=z, w=w, s=s)),
        (expected, GRADIENTS[text]),
    ):
        leaves = [leaf(z[:9]), leaf(w[:7]), leaf(s[:7])]
        value = evaluate(*leaves)
        weights = torch.linspace(1, 2, value.numel()).to(value.dtype)
        weights = weights * (1 - 0.5j) if value.is_complex() else weights
        loss = (value.reshape(-1) * weights).sum()
        loss = loss.real + 2 * loss.imag if loss.is_complex() else loss
        first = torch.autograd.grad(loss, leaves, create_graph=True)
        total = sum((g.abs() ** 2).sum() for g in first)
        second = torch.autograd.grad(total, leaves)
        results += [value, *first, *second]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_gradient_formulas() -> None:
    """`grad=` is complex where the result is, or real."""
    text = "sum_j exp(z_i*w_j/3)"
    g = array(N)
    f = tilefold.compile(text)
    slope = np.conj(wj / 3 * np.exp(zi * wj / 3)).sum(1)
    np.testing.assert_allclose(f.grad("z")(z=z, w=w, grad=g), g * slope)
    np.testing.assert_allclose(
        f.grad("z")(z=z, w=w, grad=g.real), g.real * slope
    )
    value, dz, _ = f.grad(["z", "w"], value=True)(z=z, w=w, grad=g)
    np.testing.assert_allclose(value, np.exp(zi * wj / 3).sum(1))
    np.testing.assert_allclose(dz, g * slope)
    t = array(N)
    np.testing.assert_allclose(
        f.jvp("z")(z=z, w=w, tangent=t),
        (t[:, None] * wj / 3 * np.exp(zi * wj / 3)).sum(1),
    )
    real = tilefold.compile("sum_j |z_i - w_j|²")
    with pytest.raises(tilefold.DTypeError, match="'grad' is complex"):
        real.grad("z")(z=z, w=w, grad=g)


def test_ranges_choose_pairs_of_complex_values() -> None:
    """Both parts are summed over the same pairs."""
    ranges = tilefold.Ranges([0, 30, N], [0, 50, M], np.eye(2, dtype=bool))
    found = tilefold.reduce("sum_j z_i*w_j", z=z, w=w, ranges=ranges)
    expected = (zi * wj * ranges.mask(N, M)).sum(1)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("text", "caret"),
    [
        ("max_j z_i*w_j", 0),
        ("sum_j min(z_i, w_j)", 6),
        ("sum_j where(z_i < w_j, 1, 0)", 12),
        ("argkmin_j(z_i*w_j, 3)", 0),
        ("logsumexp_j(z_i*w_j)", 0),
        ("sum_j floor(z_i*w_j)", 6),
        ("median_j (z_i*w_j)", 0),
        ("sum_j erf(z_i*w_j)", 6),
        ("softmax_j(z_i*w_j, w_j)", 0),
    ],
)
def test_where_a_real_value_is_needed(text: str, caret: int) -> None:
    """No order, no rounding: the message says what to take."""
    with pytest.raises(tilefold.Error, match="where a real one") as caught:
        tilefold.reduce(text, z=z, w=w)
    assert caught.value.code == "ComplexOperand"
    assert caught.value.span[0] == caret


def test_other_refusals() -> None:
    """Complex and real `out`; half-precision parts; `out` as a conjugate."""
    with pytest.raises(tilefold.DTypeError, match="complex"):
        tilefold.reduce("sum_j z_i*w_j", z=z, w=w, out=np.zeros(N))
    with pytest.raises(tilefold.DTypeError, match="real"):
        tilefold.reduce("sum_j |z_i*w_j|", z=z, w=w, out=array(N))
    with pytest.raises(tilefold.FormulaError, match="no reduction"):
        tilefold.reduce("z_i*w_j", z=z, w=w)
    given = {"z": torch.tensor(z), "w": torch.tensor(w)}
    with pytest.raises(tilefold.DTypeError, match="conj"):
        tilefold.reduce("sum_j z_i*w_j", given, out=torch.tensor(z).conj())
    conjugate = {"z": torch.tensor(z).conj(), "w": torch.tensor(w)}
    found = tilefold.reduce("sum_j z_i*w_j", conjugate)
    np.testing.assert_allclose(found, z.conj() * w.sum())


def test_infinite_parts_stay_apart() -> None:
    """No part is multiplied by the other's unit."""
    x, y = np.array([1.0, np.inf]), np.array([np.inf, 2.0])
    kernel = tilefold.kernel("x_i + im*y_j", x=x, y=y)
    dense = kernel.dense()
    assert dense.dtype == np.complex128
    np.testing.assert_array_equal(dense.real, [[1, 1], [np.inf, np.inf]])
    np.testing.assert_array_equal(dense.imag, [[np.inf, 2], [np.inf, 2]])
    for values in (kernel.diag(), kernel[[0, 1], [0, 1]]):
        np.testing.assert_array_equal(values.real, [1, np.inf])
        np.testing.assert_array_equal(values.imag, [np.inf, 2])
    tensor = torch.tensor(x, requires_grad=True)
    values = tilefold.kernel("x_i + im*y_j", x=tensor, y=torch.tensor(y))
    torch.testing.assert_close(values.dense().detach(), torch.tensor(dense))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "strict"])
def test_infinite_parts_in_other_libraries(library: str) -> None:
    """Also where the two parts are of different widths."""
    if library == "strict":
        make = pytest.importorskip("array_api_strict").asarray
    elif library == "jax":
        make = pytest.importorskip("jax.numpy").asarray
    else:
        make = {"numpy": np.asarray, "torch": torch.tensor}[library]
    x, y = np.array([1, np.inf], "f4"), np.array([np.inf, 2], "f4")
    kernel = tilefold.kernel("x_i + im*y_j", x=make(x), y=make(y))
    dense = np.asarray(kernel.dense())
    assert dense.dtype == np.complex64
    np.testing.assert_array_equal(dense.real, [[1, 1], [np.inf, np.inf]])
    np.testing.assert_array_equal(dense.imag, [[np.inf, 2], [np.inf, 2]])
    whole = make(np.array([[3], [5]], np.int8))
    mixed = tilefold.kernel("im*x_i[0] + y_j", x=whole, y=make(y))
    dense = np.asarray(mixed.dense())
    assert str(mixed.dtype).endswith(str(dense.dtype)) or library == "jax"
    np.testing.assert_array_equal(dense.real, [[np.inf, 2], [np.inf, 2]])
    np.testing.assert_array_equal(dense.imag, [[3, 3], [5, 5]])


def test_an_argument_may_be_called_im() -> None:
    """As pi may."""
    found = tilefold.reduce("sum_j im*s_j*r_i", im=3.0, s=s, r=r)
    np.testing.assert_allclose(found, 3 * s.sum() * r)


def test_gradients_in_batches() -> None:
    """A complex cotangent is shaped as the result is."""
    many, g = array(4, N, 1), array(4, N)
    f = tilefold.compile("sum_j exp(sum(z_i)*w_j/3)")
    found = f.grad("w")(z=many, w=w, grad=g)
    slope = np.conj(many / 3 * np.exp(many * w / 3))
    np.testing.assert_allclose(found, (g[:, :, None] * slope).sum((0, 1)))
    vectors = tilefold.compile("sum_j Z_i*w_j")
    h = array(N, 3)
    found = vectors.grad("w")(Z=Z, w=w, grad=h)
    np.testing.assert_allclose(found, np.full(M, (h * Z.conj()).sum()))
